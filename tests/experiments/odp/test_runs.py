"""One run of each experiment: its rows fit its schema, and follow from the seed."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from berth.experiments.experiment import Experiment, Setting
from berth.experiments.odp import solve_times
from berth.experiments.odp.best_fit import BEST_FIT
from berth.experiments.odp.decentralised import CONVERGING, SPRINGS
from berth.experiments.odp.solve_times import SOLVE_TIMES
from berth.experiments.odp.user_metrics import USER_METRICS

EXPERIMENTS = [USER_METRICS, SPRINGS, CONVERGING, BEST_FIT, SOLVE_TIMES]
SOME = 100
"""Rows, of the first method or two."""


def rows_of(experiment: Experiment, seed: int, most: int | None = None) -> list[dict[str, Any]]:
    setting = Setting(quick=True, seed=seed)
    run = next(iter(experiment.runs(setting)))
    rows = islice(experiment.rows(run, setting), most)
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: str(experiment.name))
def test_rows(experiment: Experiment) -> None:
    rows = rows_of(experiment, 1)
    assert all(set(row) == set(experiment.schema.fieldNames()) - {"seconds"} for row in rows)
    assert rows[:SOME] == rows_of(experiment, 1, SOME)
    assert rows[:SOME] != rows_of(experiment, 2, SOME)
    runs = [list(experiment.runs(Setting(quick=quick))) for quick in (True, False)]
    assert len(runs[0]) < len(runs[1])
    assert len({run.key for run in runs[1]}) == len(runs[1])


def test_the_program_agrees_with_berth() -> None:
    """Two models, two solvers, five goals: one optimum."""
    rows = rows_of(SOLVE_TIMES, 4)
    assert all(row["proved"] for row in rows)
    for goal in solve_times.GOALS:
        ours, theirs = (row["value"] for row in rows if row["goal"] == goal)
        assert ours == pytest.approx(theirs, rel=1e-6)


def test_the_fastest_plan_uses_eight_places_on_the_short_cut() -> None:
    rows = rows_of(USER_METRICS, 3)
    plans = {row["method"]: row for row in rows if row["sample"] is None}
    fastest, available = plans["S-ODP_R"], plans["S-ODP_A"]
    assert (fastest["on_unreliable"], available["on_unreliable"]) == (8, 0)
    assert fastest["availability"] == pytest.approx(0.99**8)
    assert available["availability"] == 1.0
    assert available["response_time_ms"] > fastest["response_time_ms"]
