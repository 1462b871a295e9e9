"""X0.1: the fastest placement against the most available one (paper 000, figure 4)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql.types import StructType

from berth.experiments.experiment import Calibration, Claim, Experiment, Row, Run, Setting, columns
from berth.experiments.judging import SURE, holds, mean_of, verdict, within
from berth.experiments.odp import on_spark, setups, timeline
from berth.experiments.odp.claims import CLOSE, ratio_claim, typical
from berth.experiments.odp.rounds import Step
from berth.experiments.odp.timeline import BLUE, ORANGE, Panel, draw_panels
from berth.model import Plan, Problem
from berth.policies import solve

DURATION_S, REPAIR_S = 2000.0, 5.0
NOTHING = dict.fromkeys(timeline.SCHEMA.fieldNames())
"""Of a plan that wasn't simulated."""
OF_PLANS = columns("sample int, response_time_ms float, availability float, on_unreliable int, drawn int")
SAMPLES = 10
"""Plans that are drawn among the equally good ones."""
FASTEST, MOST_AVAILABLE = "S-ODP_R", "S-ODP_A"
ON_SPARK = " on Spark"
"""Behind the name of a method that was really run."""
FASTEST_TIED, MOST_AVAILABLE_TIED = "S-ODP_R, equal speeds, tied", "S-ODP_A, tied"
PAPER_RATIO, PAPER_AVAILABILITY, PAPER_EXECUTORS, PAPER_LOSS = 1.8, 0.9227, 8, 0.0337
CLOSE_ON_SPARK = 0.25
"""Some batches on a machine that others use, too."""
SAME_SHARE = 5e-5
"""Half of the last digit that the paper prints of a percentage."""


def runs(setting: Setting) -> Iterable[Run]:
    """Draws of networks that have such a short-cut; where asked for, the first of them on Spark, too."""
    yield from setups.instance_runs(setting, 8, 50)
    if setting.on_spark:
        batches = on_spark.QUICK_BATCHES if setting.quick else on_spark.BATCHES
        yield Run("on-spark", {"instance": 0, "batches": batches}, in_driver=True)


def rows(run: Run, setting: Setting) -> Iterable[Row]:
    """Both wishes on one draw, and what else would have been as good."""
    number = int(run.parameters["instance"])
    problem, drawn = setups.short_cut(setting, number)
    common = {"instance": number, "drawn": drawn}
    if "batches" in run.parameters:
        yield from _really_run(problem, int(run.parameters["batches"]), setting.seed, common)
        return
    seed = setups.seed_of(setting, number)
    for method, plan in plans_of(problem).items():
        facts = {"method": method, "sample": None, **common, **_judged(problem, plan)}
        for row in timeline.windows(
            problem, [Step(0.0, plan)], "response_time_ms", DURATION_S, seed, REPAIR_S
        ):
            yield {**facts, **row}
    for method, sample, plan in _equally_good(problem):
        yield {**NOTHING, **common, "method": method, "sample": sample, **_judged(problem, plan)}


def draw(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """Latency and lost tuples of a typical draw."""
    latency, longer = _simulated(table, "latency_ms")
    ratio = longer / latency
    chosen = typical(ratio)
    shown = table[(table["instance"] == chosen) & table["sample"].isna()]
    shown = shown.assign(delivered=100.0 * (1.0 - shown["lost_share"]))
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
    plans = plans_of(problem)
    for method, measured in on_spark.measured_on_spark(problem, plans, batches, seed):
        plan = plans[method]
        facts = {"method": method + ON_SPARK, "goal": on_spark.emulated_ms(problem, plan)}
        yield {**NOTHING, **common, "sample": None, **facts, **measured, **_judged(problem, plan)}


def plans_of(problem: Problem) -> dict[str, Plan]:
    """The plan of each wish, as the solver gives it."""
    metrics = {FASTEST: "response_time", MOST_AVAILABLE: "availability"}
    return {
        method: solve(replace(problem, objective={metric: 1.0}), "s-odp")
        for method, metric in metrics.items()
    }


def _equally_good(problem: Problem) -> Iterator[tuple[str, int, Plan]]:
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


def claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """All of them; those of runs on Spark where there are any."""
    found = list(_of_both(table))
    return [*found, *spark_claims(table)] if len(windows_of(table, FASTEST + ON_SPARK)) else found


def windows_of(table: pd.DataFrame, method: str) -> pd.DataFrame:
    """What was simulated of a method."""
    return table[(table["method"] == method) & table["sample"].isna()]


def _simulated(table: pd.DataFrame, column: str) -> list[pd.Series[float]]:
    """The mean of what was simulated, for each draw: of the fastest and of the most available plan."""
    both = (windows_of(table, method) for method in (FASTEST, MOST_AVAILABLE))
    return [windows.groupby("instance")[column].mean() for windows in both]


def _of_both(table: pd.DataFrame) -> Iterator[Claim]:
    """Response times, availabilities, executors on nodes of 99 %, lost tuples."""
    # what the judge says of a plan is the same in all of its windows
    fast, available = (
        windows_of(table, method).groupby("instance").first() for method in (FASTEST, MOST_AVAILABLE)
    )
    fast_tied, available_tied = (
        table[(table["method"] == method) & table["sample"].notna()].set_index("instance")
        for method in (FASTEST_TIED, MOST_AVAILABLE_TIED)
    )
    tied = available_tied["response_time_ms"] / fast["response_time_ms"]
    latency, longer = _simulated(table, "latency_ms")
    for what, ratio in (
        ("response time R of the model", available["response_time_ms"] / fast["response_time_ms"]),
        ("mean latency, simulated", longer / latency),
    ):
        yield ratio_claim(
            f"The most available placement is slower: {what}",
            PAPER_RATIO,
            ratio,
            "All placements on nodes of 100 % are equally available, and S-ODP_A's response time is that of "
            f"whichever the solver returns (E0.6). Drawn among them: {tied.min():.1f} to {tied.max():.1f} x, "
            f"mean {tied.mean():.1f}",
        )

    def percentages(values: pd.Series[float]) -> str:
        return f"{100 * values.min():.2f} to {100 * values.max():.2f} %"

    yield Claim(
        "S-ODP_A puts all executors on the most available nodes",
        "100 %",
        f"{percentages(available['availability'])}, {len(available)} draws",
        holds(bool((available["availability"] == 1.0).all())),
        "rule: 100 % in every draw. Source and consumer are on nodes of 100 %",
    )
    yield Claim(
        "S-ODP_R pays for its speed with availability",
        "92.27 %",
        f"{percentages(fast['availability'])}, {len(fast)} draws",
        verdict(
            bool((abs(fast["availability"] - PAPER_AVAILABILITY) <= SAME_SHARE).all()),
            mean_of(available["availability"] - fast["availability"]).surely_positive,
        ),
        "rule: all digits, in every draw; the order: below S-ODP_A. Networks are searched and speeds chosen "
        f"for it (E0.7); with equal speeds equally fast plans have {percentages(fast_tied['availability'])}",
    )
    executors, tied = fast["on_unreliable"], fast_tied["on_unreliable"]
    yield Claim(
        "S-ODP_R places 8 of 12 executors on nodes of 99 %",
        "8 of 12",
        f"{executors.min():.0f} to {executors.max():.0f}, {len(executors)} draws",
        verdict(bool((executors == PAPER_EXECUTORS).all()), bool((executors > 0).all())),
        "rule: 8 in every draw; the order: some in every draw. It depends on searched networks, "
        f"{fast['drawn'].mean():.0f} drawn for each on average (E0.7), and on their speeds; with equal "
        f"speeds equally fast plans have {tied.min():.0f} to {tied.max():.0f} there",
    )
    lost, safe = _simulated(table, "lost_share")
    mean = mean_of(lost)
    yield Claim(
        "S-ODP_R loses more tuples",
        "3.37 %",
        f"{100 * mean.value:.2f} ± {100 * mean.error:.2f} % simulated, S-ODP_A {100 * safe.mean():.2f} %, "
        f"{mean.draws} draws",
        verdict(within(mean.value, PAPER_LOSS, CLOSE), mean_of(lost - safe).surely_positive),
        f"rule: within {CLOSE:.0%}; the order: more than S-ODP_A by more than two standard errors. The "
        "paper's is of one run on its test-bed. Its model counts 99 % once for each executor; simulated, "
        "all eight are on one node and down together, 1 % of the time. Were each down by itself, a tuple, "
        f"which passes four of them, would be lost in {100 * (1 - 0.99**4):.2f} %",
    )


def spark_claims(table: pd.DataFrame) -> Sequence[Claim]:
    """What was measured on Spark, beside the model's word for it."""
    fast, available = (windows_of(table, method + ON_SPARK) for method in (FASTEST, MOST_AVAILABLE))
    latency, slower = mean_of(fast["latency_ms"] / 1000.0), mean_of(available["latency_ms"] / 1000.0)
    expected, longer = (float(rows["goal"].iloc[0]) / 1000.0 for rows in (fast, available))
    ratio = slower.value / latency.value
    difference, modelled = slower.value - latency.value, longer - expected
    error = math.hypot(latency.error, slower.error)
    lost, safe = mean_of(fast["lost_share"]), mean_of(available["lost_share"])
    path = 1.0 - math.sqrt(float(fast["availability"].iloc[0]))
    emulated = "delays are emulated, many times as long (calibrations)"
    return [
        Claim(
            "On Spark: the most available placement is slower",
            f"{PAPER_RATIO:g} x",
            f"{ratio:.2f} x: {slower.text()} s and {latency.text()} s a batch, {slower.draws} and "
            f"{latency.draws} batches; the model, without Spark's own time: {longer / expected:.2f} x",
            verdict(within(ratio, PAPER_RATIO, CLOSE), difference > SURE * error),
            f"rule: within {CLOSE:.0%}; the order: slower by more than two standard errors; one draw. "
            f"{emulated}; Spark's own time for a batch is the same for both and brings the ratio nearer to 1",
        ),
        Claim(
            "On Spark: it is slower by as much as the model says",
            f"{modelled:.2f} s (the model)",
            f"{difference:.2f} ± {error:.2f} s a batch",
            verdict(within(difference, modelled, CLOSE_ON_SPARK), difference > SURE * error),
            f"rule: within {CLOSE_ON_SPARK:.0%}; the order: above 0 by more than two standard errors; "
            f"{emulated}",
        ),
        Claim(
            "On Spark: S-ODP_R loses more tuples",
            "3.37 %",
            f"{100 * lost.value:.2f} ± {100 * lost.error:.2f} %, S-ODP_A {100 * safe.value:.2f} %, "
            f"{lost.draws} batches",
            verdict(
                within(lost.value, PAPER_LOSS, CLOSE_ON_SPARK), lost.value > safe.value + SURE * lost.error
            ),
            f"rule: within {CLOSE_ON_SPARK:.0%}; the order: more by more than two standard errors. Outages "
            "are emulated: an executor loses rows by chance, each by itself. A tuple passes half of the "
            f"executors, so the model's word is {100 * path:.2f} %",
        ),
    ]


USER_METRICS = Experiment(
    name="X0.1",
    paper="000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 4",
    title="The fastest and the most available placement, over time",
    about="An application that counts words runs on eight machines, half of which are down 1 % of the time. "
    "Placed for the shortest response time it is fast but loses data; placed for availability it loses "
    "none and is slower.",
    # rows with a `sample` are plans among equals, by the judge; `drawn`: networks until one was found
    schema=StructType([*timeline.SCHEMA.fields, *OF_PLANS.fields]),
    runs=runs,
    rows=rows,
    claims=claims,
    draw=draw,
    calibrations=(
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
        Calibration("outages", f"{REPAIR_S:g} s on average, 1 % of the time; tuples there are lost"),
        *on_spark.CALIBRATIONS,
    ),
)
