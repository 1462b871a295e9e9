"""X0.7: its runs, and claims that can fail."""

import numpy as np
import pandas as pd
import pytest

from berth.experiments.experiment import Run, Setting, Verdict
from berth.experiments.odp.candidates import CANDIDATES, CLOSING, SAMPLED, SHARES, near_after, with_share
from berth.experiments.odp.solving import KINDS, OURS, PROGRAM, by_berth, by_program, instance

SETTING = Setting(quick=True, seed=2)


def test_every_operator_has_its_share_of_candidates() -> None:
    problem = instance(SETTING, "fat", 5, 10, 2, 0)
    sampled = with_share(problem, 0.4, np.random.default_rng(1))
    assert {len(item.candidates or ()) for item in sampled.applications[0].operators} == {4}
    assert with_share(problem, 1.0, np.random.default_rng(1)) is problem
    ours, program = by_berth(sampled), by_program(sampled)
    assert ours.proved
    assert program.proved
    assert ours.value == pytest.approx(program.value, rel=1e-6)
    assert ours.value >= by_berth(problem).value - 1e-9  # type: ignore[operator]


def test_a_run_of_the_program_closes_its_gap() -> None:
    parameters = {"part": CLOSING, "solver": PROGRAM, "kind": "sequential", "draw": 0, "shares": [1.0]}
    rows = list(CANDIDATES.rows(Run("k", parameters), SETTING))
    assert rows[-1]["proved"]
    assert rows[-1]["gap"] == 0
    assert rows[0].keys() == set(CANDIDATES.schema.names)


def test_every_run_has_its_own_key() -> None:
    for quick in (True, False):
        keys = [run.key for run in CANDIDATES.runs(Setting(quick))]
        assert len(keys) == len(set(keys))


def table(sequential: float, fat: float, orders: float, fat_closes: float) -> pd.DataFrame:
    """Four draws: degradations with the fewest candidates, time saved, and when the gap closes."""
    rows: list[tuple[object, ...]] = []
    for kind, worst in zip(KINDS, (sequential, fat), strict=True):
        for draw in range(4):
            for share in SHARES:
                value = 10.0 * (worst if share == 0.2 else 1.0) * (1 + 1e-4 * draw)
                seconds = 10.0 ** (-orders) if share == 0.2 else 1.0
                for solver in (OURS, PROGRAM):
                    rows.append((SAMPLED, solver, kind, draw, share, None, seconds, True, value, 0.0))
            rows.append((CLOSING, OURS, kind, draw, 1.0, None, 0.1, True, 10.0, 0.0))
            until = fat_closes + 0.001 * draw if kind == "fat" else 0.1
            for branches, seconds, gap in ((1, 0.01, 0.9), (10, until, 0.5), (30, 1.0, 0.0)):
                rows.append((CLOSING, PROGRAM, kind, draw, 1.0, branches, seconds, gap == 0, 10.0, gap))
    return pd.DataFrame(rows, columns=CANDIDATES.schema.names)


def verdicts(found: pd.DataFrame) -> list[Verdict]:
    return [claim.verdict for claim in CANDIDATES.claims(found, SETTING)]


def test_claims_follow_the_table() -> None:
    found = table(3.0, 1.02, 5.0, 0.9)
    assert near_after(found, "fat").mean() == pytest.approx(0.9015)
    *others, in_time, late = verdicts(found)
    assert {*others, late} == {Verdict.REPRODUCED}
    assert in_time is Verdict.ORDERING_ONLY, "berth is no measure of the paper's program"
    partly = verdicts(table(2.0, 1.05, 2.0, 0.6))
    assert partly == [Verdict.ORDERING_ONLY] * 6


def test_claims_can_fail() -> None:
    found = table(1.0, 0.99, -1.0, 0.05)
    found.loc[(found["part"] == CLOSING) & (found["solver"] == OURS), ["proved", "gap"]] = False, 0.5
    assert set(verdicts(found)) == {Verdict.NOT_REPRODUCED}
