"""X0.5: how long the optimal placements of X0.1 to X0.4 take (paper 000, end of section 7.2)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Claim, Experiment, Row, Run, Setting, columns
from berth.experiments.judging import verdict
from berth.experiments.odp import setups
from berth.experiments.odp.solving import MEASURING, OURS, PROGRAM, PaperProgram, by_berth
from berth.experiments.odp.timeline import BLUE, ORANGE
from berth.model import Problem

GOALS = {
    "R": "response_time",
    "A": "availability",
    "T": "traffic",
    "N": "network_usage",
    "EE": "elastic_energy",
}
PAPER_S = 0.42
AGREEMENT = 1e-4


def rows(run: Run, setting: Setting) -> Iterable[Row]:
    """Every goal, after one that is not counted: it loads and compiles."""
    number = int(run.parameters["instance"])
    for _, problem in _problems(setting, number + 1_000_000):
        by_berth(problem)
    for goal, problem in _problems(setting, number):
        program = PaperProgram(problem).solve(GOALS[goal])
        if goal == "A" and program.value is not None:
            program = replace(program, value=math.exp(-program.value))
        for solver, found in ((OURS, by_berth(problem)), (PROGRAM, program)):
            yield {
                "instance": number,
                "goal": goal,
                "solver": solver,
                "seconds": found.seconds,
                "proved": found.proved,
                "value": found.value,
            }


def claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """Below 420 ms, each solver by itself."""
    return [_claim(table, solver) for solver in (OURS, PROGRAM)]


def draw(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """The times of all draws, by goal."""
    figure.set_size_inches(9, 4.5)
    axes = figure.subplots()
    for solver, shift, colour in ((OURS, -0.17, BLUE), (PROGRAM, 0.17, ORANGE)):
        times = table[table["solver"] == solver].groupby("goal")["seconds"].apply(list)
        boxes = axes.boxplot(
            [[1000.0 * second for second in times[goal]] for goal in GOALS],
            positions=[place + shift for place in range(len(GOALS))],
            widths=0.28,
            whis=(0, 100),
            patch_artist=True,
            medianprops={"color": "black"},
        )
        for box in boxes["boxes"]:
            box.set_facecolor(colour)
        boxes["boxes"][0].set_label(solver)
    axes.axhline(1000.0 * PAPER_S, color="#333333", linestyle="--", label="the paper's bound: 420 ms")
    axes.set(yscale="log", ylabel="processor time to the proof (ms)")
    axes.set_xticks(range(len(GOALS)), [f"S-ODP_{goal}" for goal in GOALS])
    axes.set_ylim(top=1000.0)
    axes.legend(loc="upper left", ncols=3)
    draws = table["instance"].nunique()
    return (
        f"Processor time of the proved optimum on {draws} draws of Tag-and-Count (12 executors, 8 "
        "nodes) for each goal: boxes are quartiles, whiskers the shortest and the longest."
    )


def _problems(setting: Setting, number: int) -> Iterator[tuple[str, Problem]]:
    """A problem for each goal: draws of X0.1 for R and A, of X0.2 to X0.4 for the others."""
    with_outages, _ = setups.short_cut(setting, number)
    without = setups.always_up(setting, number)
    for goal, metric in GOALS.items():
        yield goal, replace(with_outages if goal in "RA" else without, objective={metric: 1.0})


def _claim(table: pd.DataFrame, solver: str) -> Claim:
    chosen = table[table["solver"] == solver]
    proved = chosen[chosen["proved"].astype(bool)]
    longest = proved.groupby("goal")["seconds"].max()
    values = table.pivot(index=["instance", "goal"], columns="solver", values="value")
    agree = (values[OURS] - values[PROGRAM]).abs() <= AGREEMENT * values[OURS].abs()
    missing = len(chosen) - len(proved)
    below = bool((chosen["seconds"] < PAPER_S).mean() >= 0.5)
    return Claim(
        f"The optimum of all these takes less than 420 ms: {solver}",
        "< 420 ms",
        f"longest {1000 * proved['seconds'].max():.0f} ms, median {1000 * proved['seconds'].median():.0f} "
        f"ms, {len(proved)} solved, {missing} not proved; longest by goal: "
        + ", ".join(f"{goal} {1000 * longest[goal]:.0f} ms" for goal in GOALS if goal in longest),
        verdict(missing == 0 and bool(proved["seconds"].max() < PAPER_S), below),
        "rule: the longest is below 420 ms and all are proved; ordering only: most are. Other machine and "
        f"solver than the paper's; berth and the program agree on {int(agree.sum())} of {len(agree)} optima",
    )


SOLVE_TIMES = Experiment(
    name="X0.5",
    paper="000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), section 7.2",
    title="Time to the optimal placement of Tag-and-Count",
    about="The placements that are proved best in X0.1 to X0.4 have to be computed first. Here it is "
    "measured how long that takes.",
    schema=columns("instance int, goal str, solver str, seconds float, proved bool, value float"),
    runs=partial(setups.instance_runs, quick=8, full=50),
    rows=rows,
    claims=claims,
    draw=draw,
    calibrations=(*setups.CALIBRATIONS, *MEASURING),
)
