"""X0.1: the fastest placement against the most available one (paper 000, figure 4).

Tag-and-Count runs on eight nodes, half of which are up 99 % of the time. S-ODP_R places it for response
time, which leads over a node that fails at times; S-ODP_A places it for availability, which is slower. Both
run in the simulator while nodes fail and, with `--on-spark`, on a Spark cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql.types import DoubleType, IntegerType, StructField, StructType

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.odp import on_spark, setups, timeline
from berth.experiments.odp.figures import typical
from berth.experiments.odp.panels import BLUE, ORANGE, Panel, draw_panels
from berth.experiments.odp.rounds import Step
from berth.experiments.odp.user_claims import (
    FASTEST,
    FASTEST_TIED,
    MOST_AVAILABLE,
    MOST_AVAILABLE_TIED,
    ON_SPARK,
    user_claims,
    windows_of,
)
from berth.model import Plan, Problem
from berth.policies import solve

DURATION_S, REPAIR_S = 2000.0, 5.0
NOTHING = dict.fromkeys(timeline.SCHEMA.fieldNames())
"""Of a plan that wasn't simulated."""
SAMPLES = 10
"""Plans that are drawn among the equally good ones."""


class UserMetrics:
    """S-ODP_R and S-ODP_A on draws where a node of 99 % is a short-cut, with nodes that fail."""

    name = "X0.1"
    paper = "000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 4"
    title = "The fastest and the most available placement, over time"
    schema = StructType(
        [
            *timeline.SCHEMA.fields,
            StructField("sample", IntegerType()),
            StructField("response_time_ms", DoubleType()),
            StructField("availability", DoubleType()),
            StructField("on_unreliable", IntegerType()),
            StructField("drawn", IntegerType()),
        ]
    )
    """Rows with a `sample` are plans among equals, by the judge; `drawn`: networks until one was found."""
    calibrations = (
        *setups.CALIBRATIONS,
        *timeline.CALIBRATIONS[:1],
        Calibration(
            "networks",
            "searched: the way from source to consumer over one node of 99 % is the shortest, which about "
            "one draw in 25 has (E0.7)",
            "8 of 12 executors on nodes of 99 %",
        ),
        Calibration(
            "speed of nodes of 99 %",
            f"{setups.FASTER:g} (others: 1); else plans with 2 to 8 executors there are equally fast",
            "8 of 12 executors on nodes of 99 %, availability 92.27 %",
        ),
        Calibration(
            "outages", f"{REPAIR_S:g} s on average, 1 % of the time; tuples there are lost", "nothing"
        ),
        *on_spark.CALIBRATIONS,
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """Draws of networks that have such a short-cut; where asked for, the first of them on Spark, too."""
        yield from setups.instance_runs(setting, 8, 50)
        if setting.on_spark:
            batches = on_spark.QUICK_BATCHES if setting.quick else on_spark.BATCHES
            yield Run("on-spark", {"instance": 0, "batches": batches}, in_driver=True)

    def rows(self, run: Run, setting: Setting) -> Iterable[Row]:
        """Both wishes on one draw, and what else would have been as good."""
        number = int(run.parameters["instance"])
        problem, drawn = setups.short_cut(setting, number)
        common = {"instance": number, "drawn": drawn}
        if "batches" in run.parameters:
            yield from _really_run(problem, int(run.parameters["batches"]), setting.seed, common)
            return
        seed = setups.seed_of(setting, number)
        for method, plan in wished(problem).items():
            facts = {"method": method, "sample": None, **common, **_judged(problem, plan)}
            for row in timeline.windows(
                problem, [Step(0.0, plan)], "response_time_ms", DURATION_S, seed, REPAIR_S
            ):
                yield {**facts, **row}
        for method, sample, plan in _tied(problem):
            yield {**NOTHING, **common, "method": method, "sample": sample, **_judged(problem, plan)}

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Response times, availabilities, executors on nodes of 99 %, lost tuples."""
        return user_claims(table)

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """Latency and lost tuples of a typical draw."""
        both = {method: windows_of(table, method) for method in (FASTEST, MOST_AVAILABLE)}
        latency = {method: rows.groupby("instance")["latency_ms"].mean() for method, rows in both.items()}
        ratio = latency[MOST_AVAILABLE] / latency[FASTEST]
        chosen = typical(ratio)
        shown = pd.concat(both.values())
        shown = shown[shown["instance"] == chosen].assign(
            delivered=lambda rows: 100.0 * (1.0 - rows["lost_share"])
        )
        panels = (Panel("latency_ms", "latency (ms)"), Panel("delivered", "tuples not lost (%)"))
        draw_panels(figure, shown, panels, {FASTEST: BLUE, MOST_AVAILABLE: ORANGE}, {})
        return (
            f"The draw with the median ratio of latencies ({ratio[chosen]:.2f}; draw {chosen} of "
            f"{len(ratio)}), eight nodes with drawn delays, half of them up 99 % of the time, simulated "
            f"tuple by tuple. Below: what outages of {REPAIR_S:g} s on average leave, in windows of "
            f"{timeline.WINDOW_S:g} s."
        )


def _really_run(problem: Problem, batches: int, seed: int, common: Row) -> Iterator[Row]:
    """A row for each batch; `goal` is the model's word for its latency."""
    plans = wished(problem)
    for batch in on_spark.measured_on_spark(problem, plans, batches, seed):
        plan = plans[batch.method]
        measured = {"time_s": batch.time_s, "latency_ms": batch.latency_ms, "lost_share": batch.lost_share}
        facts = {"method": batch.method + ON_SPARK, "goal": on_spark.emulated_ms(problem, plan)}
        yield {**NOTHING, **common, "sample": None, **facts, **measured, **_judged(problem, plan)}


def wished(problem: Problem) -> dict[str, Plan]:
    """The plan of each wish, as the solver gives it."""
    wishes = {FASTEST: "response_time", MOST_AVAILABLE: "availability"}
    return {
        method: solve(replace(problem, objective={metric: 1.0}), "s-odp") for method, metric in wishes.items()
    }


def _tied(problem: Problem) -> Iterator[tuple[str, int, Plan]]:
    """Plans drawn among the most available ones, and, with equal speeds, among the fastest ones (E0.6)."""
    equal = replace(setups.with_speed(problem, 1.0), objective={"response_time": 1.0})
    for sample in range(SAMPLES):
        yield MOST_AVAILABLE_TIED, sample, solve(problem, "s-odp", first_run=True, seed=sample)
        yield FASTEST_TIED, sample, solve(equal, "s-odp", ties="random", seed=sample)


def _judged(problem: Problem, plan: Plan) -> dict[str, float | int]:
    up = problem.network.availability == 1.0
    nodes = [problem.network.index[name] for name in plan.assignment.values()]
    return {
        "response_time_ms": plan.metrics["response_time_ms"],
        "availability": plan.metrics["availability"],
        "on_unreliable": int((~up[nodes]).sum()),
    }


EXPERIMENT = UserMetrics()
