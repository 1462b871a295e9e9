"""X0.6: its runs, and claims that can fail."""

from itertools import product

import pandas as pd
import pytest

from berth.experiments.experiment import Run, Setting, Verdict
from berth.experiments.odp.resolution_time import AXES, PAPERS, RESOLUTION_TIME, SHRUNK
from berth.experiments.odp.solving import KINDS, OURS, PROGRAM

SETTING = Setting(quick=True, seed=3)


def one(solver: str, operators: int = 5, nodes: int = 4) -> dict[str, object]:
    sizes = {"operators": operators, "nodes": nodes, "capacity": 2}
    run = Run("k", {"solver": solver, "kind": "sequential", "axis": "nodes", **sizes, "draws": [1]})
    (row,) = RESOLUTION_TIME.rows(run, SETTING)
    return dict(row)


def test_both_solvers_agree_on_the_same_draw() -> None:
    ours, program = one(OURS), one(PROGRAM)
    assert ours["proved"]
    assert program["proved"]
    assert ours["response_time_ms"] == pytest.approx(program["response_time_ms"], rel=1e-6)
    assert ours["variables"] == 4 * 16
    assert set(RESOLUTION_TIME.schema.names) == ours.keys()
    assert one(OURS)["response_time_ms"] == ours["response_time_ms"]


def test_every_run_has_its_own_key() -> None:
    for quick in (True, False):
        keys = [run.key for run in RESOLUTION_TIME.runs(Setting(quick))]
        assert len(keys) == len(set(keys))


def table(exponent: float) -> pd.DataFrame:
    """Times that follow from the sizes: operators to a power, nodes, and the inverse of capacity."""
    rows = []
    for solver, kind in product((OURS, PROGRAM), KINDS):
        for axis, sizes in (PAPERS if solver == OURS else SHRUNK).items():
            for (operators, nodes, capacity), draw in product(sizes, range(4)):
                streams = operators - 1 if kind == "sequential" else 2 * (operators - 2)
                seconds = operators**exponent * nodes / capacity * (1 + 0.01 * draw)
                values = (operators, nodes, capacity, draw, streams * nodes**2, seconds, True, 1.0)
                rows.append((solver, kind, axis, *values))
    return pd.DataFrame(rows, columns=RESOLUTION_TIME.schema.names)


def verdicts(found: pd.DataFrame) -> dict[str, Verdict]:
    return {claim.text: claim.verdict for claim in RESOLUTION_TIME.claims(found, SETTING)}


def test_claims_follow_the_table() -> None:
    square = verdicts(table(2.0))
    assert len(square) == 5 + 2 * 5
    swapped = "sequential: 20 operators on 50 nodes take less time than 50 operators on 20 nodes"
    assert square.pop(swapped) is Verdict.REPRODUCED
    fat = "fat: 20 operators on 50 nodes take less time than 50 operators on 20 nodes"
    assert square.pop(fat) is Verdict.ORDERING_ONLY
    assert set(square.values()) == {Verdict.REPRODUCED}


def test_claims_can_fail() -> None:
    falling = verdicts(table(-1.0))
    assert falling["fat: the time grows with the number of operators"] is Verdict.NOT_REPRODUCED
    swapped = "fat: 20 operators on 50 nodes take less time than 50 operators on 20 nodes"
    assert falling[swapped] is Verdict.NOT_REPRODUCED
    sensitive = "fat: the time is more sensitive to the number of operators than to that of nodes"
    assert falling[sensitive] is Verdict.NOT_REPRODUCED
    other = table(2.0)
    other["variables"] += 1
    assert next(iter(verdicts(other).values())) is Verdict.NOT_REPRODUCED
    assert {"operators", "nodes", "capacity"} == set(AXES)
