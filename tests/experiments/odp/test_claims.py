"""Claims on tables made by hand: each can hold, half hold and fail."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

from berth.experiments.experiment import Experiment, Setting, Verdict
from berth.experiments.odp import best_fit, solve_times
from berth.experiments.odp import decentralised as turns
from berth.experiments.odp.claims import typical
from berth.experiments.odp.user_metrics import (
    FASTEST,
    FASTEST_TIED,
    MOST_AVAILABLE,
    MOST_AVAILABLE_TIED,
    USER_METRICS,
)

REPRODUCED, ORDERING, NOT = Verdict.REPRODUCED, Verdict.ORDERING_ONLY, Verdict.NOT_REPRODUCED
SETTING = Setting()


def table(
    methods: dict[str, tuple[float, list[float]]], until: float, draws: int = 4, **more: object
) -> pd.DataFrame:
    """Windows with the same value of everything: each method's, and when it reassigns."""
    rows = [
        {
            "instance": draw,
            "method": method,
            "time_s": float(end),
            "latency_ms": value + 0.001 * draw,
            "traffic_bytes_per_s": value + 0.001 * draw,
            "network_usage_bytes": value,
            "elastic_energy": value,
            "lost_share": 0.0,
            "reassignments": sum(end - 20 <= time < end for time in moved),
            "reassigned_at_s": next((time for time in moved if end - 20 <= time < end), None),
            "goal": value + 0.001 * draw,
            **more,
        }
        for draw in range(draws)
        for method, (value, moved) in methods.items()
        for end in range(20, int(until) + 1, 20)
    ]
    return pd.DataFrame(rows)


def verdicts(claims: object) -> list[Verdict]:
    return [claim.verdict for claim in claims]  # type: ignore[attr-defined]


def test_springs() -> None:
    moved = [100.0 + 130.0 * number for number in range(16)]
    names = turns.LEAST_ENERGY, turns.SBON, turns.STAYING
    as_there = table(dict(zip(names, [(1.0, [100.0]), (1.84, moved), (1.2, [])], strict=True)), 2400)
    as_there.loc[(as_there["method"] == names[1]), "latency_ms"] *= 1.15 / 1.84
    as_there.loc[as_there["reassignments"] > 0, "latency_ms"] *= 20
    assert verdicts(turns.SPRINGS.claims(as_there, SETTING)) == [REPRODUCED] * 6
    other = table(dict(zip(names, [(1.0, []), (1.5, moved[:8]), (1.2, [])], strict=True)), 2400)
    assert verdicts(turns.SPRINGS.claims(other, SETTING)) == [
        *(ORDERING, ORDERING, REPRODUCED, ORDERING, NOT, NOT)
    ]
    equal = table(dict(zip(names, [(1.0, []), (1.0, moved[:3]), (1.0, [])], strict=True)), 2400)
    assert verdicts(turns.SPRINGS.claims(equal, SETTING)) == [NOT] * 6


def test_converging() -> None:
    five = [100.0, 140.0, 180.0, 220.0, 260.0]
    many = [100.0 + 60.0 * number for number in range(15)]
    names = turns.LEAST_USAGE, turns.PRINTED, turns.PROBING, turns.SBON
    rows = table(dict(zip(names, [(1.0, [100.0]), (1.0, five), (1.3, many), (1.5, many)], strict=True)), 2000)
    # fewer in all draws, though not by the same number
    rows.loc[
        (rows["instance"] == 1) & (rows["method"] == names[3]) & (rows["time_s"] == 2000), "reassignments"
    ] = 1
    assert verdicts(turns.CONVERGING.claims(rows, SETTING)) == [*[REPRODUCED] * 4, *[NOT] * 4]


def test_best_fit() -> None:
    rows = table({best_fit.OPTIMAL: (1.0, [100.0]), best_fit.T_STORM: (1.0, [100.0])}, 2000)
    rows["there_and_back"] = False
    found = verdicts(best_fit.BEST_FIT.claims(rows, SETTING))
    assert found == [NOT, NOT, NOT]
    poor = (rows["method"] == best_fit.T_STORM) & (rows["time_s"] <= 760) & (rows["instance"] < 3)
    rows.loc[poor, "goal"] *= 2
    rows.loc[poor, "there_and_back"] = True
    assert verdicts(best_fit.BEST_FIT.claims(rows, SETTING)) == [REPRODUCED] * 3
    longer = (rows["method"] == best_fit.T_STORM) & (rows["instance"] < 2)
    rows.loc[longer, "goal"] = 2.0
    assert verdicts(best_fit.BEST_FIT.claims(rows, SETTING)) == [REPRODUCED, REPRODUCED, ORDERING]


def user_table(ratio: float, availability: float, executors: int, lost: float) -> pd.DataFrame:
    simulated = table({FASTEST: (30.0, []), MOST_AVAILABLE: (30.0 * ratio, [])}, 100)
    fast = simulated["method"] == FASTEST
    simulated["sample"] = None
    simulated["response_time_ms"] = simulated["latency_ms"]
    simulated["availability"] = 1.0
    simulated.loc[fast, "availability"] = availability
    simulated["on_unreliable"] = fast * executors
    simulated.loc[fast, "lost_share"] = lost * (1 + 0.001 * simulated["instance"])
    simulated["drawn"] = 25
    tied = simulated.groupby(["instance", "method"]).first().reset_index().assign(sample=0)
    tied["method"] = tied["method"].map({FASTEST: FASTEST_TIED, MOST_AVAILABLE: MOST_AVAILABLE_TIED})
    return pd.concat([simulated, tied], ignore_index=True)


def test_user_metrics() -> None:
    assert verdicts(USER_METRICS.claims(user_table(1.8, 0.99**8, 8, 0.0337), SETTING)) == [REPRODUCED] * 6
    assert verdicts(USER_METRICS.claims(user_table(3.0, 0.99**6, 6, 0.01), SETTING)) == [
        *(ORDERING, ORDERING, REPRODUCED, ORDERING, ORDERING, ORDERING)
    ]
    assert verdicts(USER_METRICS.claims(user_table(0.9, 1.0, 0, 0.0), SETTING)) == [
        NOT,
        NOT,
        REPRODUCED,
        NOT,
        NOT,
        NOT,
    ]


def test_solve_times() -> None:
    def times(ours: float, theirs: float, proved: bool) -> list[Verdict]:
        rows = pd.DataFrame(
            [
                {
                    "instance": 0,
                    "goal": goal,
                    "solver": solver,
                    "seconds": seconds,
                    "proved": proved,
                    "value": 1.0,
                }
                for goal in solve_times.GOALS
                for solver, seconds in ((solve_times.OURS, ours), (solve_times.PROGRAM, theirs))
            ]
        )
        return verdicts(solve_times.SOLVE_TIMES.claims(rows, SETTING))

    assert times(0.02, 0.5, True) == [REPRODUCED, NOT]
    assert times(0.02, 0.5, False) == [ORDERING, NOT]


def test_the_typical_draw_is_the_first_with_the_lower_median() -> None:
    assert typical(pd.Series({0: 9, 1: 5, 2: 7, 3: 5})) == 1
    assert typical(pd.Series({4: 1.0, 2: 3.0, 7: 2.0})) == 7


@pytest.mark.parametrize("experiment", [turns.SPRINGS, turns.CONVERGING])
def test_figures_name_their_draw_and_axes(experiment: Experiment) -> None:
    names = {turns.LEAST_ENERGY, turns.LEAST_USAGE, *turns.PLACES}
    figure = Figure()
    caption = experiment.draw(table({name: (1.0, [100.0]) for name in names}, 2400), figure, SETTING)
    assert "draw 0 of 4" in caption
    assert [axes.get_xlabel() for axes in figure.axes][-1] == "time (s)"
    assert all(axes.get_ylabel() for axes in figure.axes)
