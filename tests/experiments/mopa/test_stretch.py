"""X3.1: stretch against the optimum."""

from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Run, Setting, Verdict
from berth.experiments.mopa.stretch import POLICIES, STRETCH
from berth.experiments.networks import SYNTHETIC

QUICK = Setting(quick=True, seed=3)
RUN = Run("synthetic/0", {"network": SYNTHETIC, "draw": 0, "graphs": 3})


def table_of(stretches: dict[str, list[float]], error_ms: float = 7.5) -> pd.DataFrame:
    """Two draws of nodes with the same stretches."""
    rows = [
        (SYNTHETIC, draw, graph, policy, value, False, error_ms)
        for policy, values in stretches.items()
        for draw in range(2)
        for graph, value in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=STRETCH.schema.names)


def verdicts(table: pd.DataFrame) -> dict[str, Verdict]:
    return {claim.text: claim.verdict for claim in STRETCH.claims(table, QUICK)}


def test_rows() -> None:
    """The optimum is never beaten, and the same seed gives the same rows."""
    rows = list(STRETCH.rows(RUN, QUICK))
    assert [row["policy"] for row in rows] == [*POLICIES] * 3
    assert all(set(row) == set(STRETCH.schema.names) for row in rows)
    assert all(row["stretch"] >= 1 - 1e-9 for row in rows if not row["failed"])
    assert rows == list(STRETCH.rows(RUN, QUICK))
    assert rows != list(STRETCH.rows(RUN, replace(QUICK, seed=4)))


def test_the_papers_number_of_graphs() -> None:
    runs = list(STRETCH.runs(Setting()))
    assert sum(run.parameters["graphs"] for run in runs if run.parameters["network"] == SYNTHETIC) == 1000
    assert len({run.key for run in runs}) == len(runs)


def test_claims_that_hold() -> None:
    """Seven of ten graphs below the paper's quantiles, with its means and worst cases."""
    table = table_of(
        {
            "MOPA": [1.0] * 11 + [1.09] * 3 + [1.11, 1.12, 1.13, 1.2, 1.2, 3.0],
            "SBON": [1.02] * 13 + [1.3] * 5 + [1.4, 5.5],
        }
    )
    found = verdicts(table)
    assert len(found) == 8
    assert set(found.values()) == {Verdict.REPRODUCED}


def test_claims_that_fail() -> None:
    """Values that are off but in order, and all in the wrong order."""
    off = verdicts(table_of({"MOPA": [1.5] * 10, "SBON": [1.9] * 9 + [20.0]}, error_ms=30.0))
    assert off.pop("Coordinates miss the measured delays by 15 ms on average") is Verdict.NOT_REPRODUCED
    assert set(off.values()) == {Verdict.ORDERING_ONLY}
    wrong = verdicts(table_of({"MOPA": [1.29] * 9 + [4.0], "SBON": [1.14] * 9 + [3.0]}))
    wrong.pop("Coordinates miss the measured delays by 15 ms on average")
    assert set(wrong.values()) == {Verdict.NOT_REPRODUCED}


def test_failures_are_told_and_left_out() -> None:
    table = table_of({"MOPA": [1.1] * 10, "SBON": [1.3] * 10})
    table.loc[0, ["stretch", "failed"]] = [None, True]
    table["failed"] = table["failed"].astype(bool)
    claim = STRETCH.claims(table, QUICK)[0]
    assert "19 graphs" in claim.ours
    assert "1 of 40 plans failed" in claim.reason
    assert "1 of 40 plans failed" in STRETCH.draw(table, Figure(), QUICK)
