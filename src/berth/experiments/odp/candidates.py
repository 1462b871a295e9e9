"""X0.7: fewer candidates and less time (paper 000, figure 10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pyspark.sql.types import BooleanType, DoubleType, IntegerType, StringType, StructField, StructType

from berth.experiments.draws import named_generator
from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.odp.candidate_claims import CLOSING, SAMPLED, all_claims, degradations, sampled
from berth.experiments.odp.panels import BLUE, ORANGE
from berth.experiments.odp.solving import (
    CALIBRATIONS,
    KINDS,
    OURS,
    PROGRAM,
    Measured,
    by_berth,
    by_program,
    instance,
)
from berth.model import Problem

SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
PAPERS = dict.fromkeys(KINDS, (50, 20, 4))
SHRUNK = {"sequential": (8, 10, 2), "fat": (6, 10, 2)}
TINY = {"sequential": (6, 8, 2), "fat": (5, 7, 2)}
"""Operators, nodes and capacity: for berth, and for the paper's program."""
BRANCHES = (1, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)
"""Limits of the search, each of them a solve of its own: how the gap closes."""
DRAWS, PROGRAM_DRAWS = (50, 5), (10, 2)
"""In full and quick runs: of berth's instances, and of the paper's program's."""


class Candidates:
    """Candidates drawn at random, by berth and by the paper's program, and how the program's gap closes."""

    name = "X0.7"
    paper = "000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 10"
    title = "Fewer candidates or less time: what they save and what they cost"
    schema = StructType(
        [
            StructField("part", StringType()),
            StructField("solver", StringType()),
            StructField("kind", StringType()),
            StructField("draw", IntegerType()),
            StructField("share", DoubleType()),
            StructField("branches", IntegerType()),
            StructField("seconds", DoubleType()),
            StructField("proved", BooleanType()),
            StructField("response_time_ms", DoubleType()),
            StructField("gap", DoubleType()),
        ]
    )
    calibrations = (
        *CALIBRATIONS,
        Calibration(
            "sizes for the paper's program",
            "sequential 8 operators, fat 6, on 10 nodes with room for 2: HiGHS can't do the paper's",
            "nothing",
        ),
        Calibration("gap over time", "solves that end after 1 to 30,000 branches", "nothing"),
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """A run for each draw and kind; for the program's candidates, for each share of them."""
        quick = int(setting.quick)
        for kind in KINDS:
            for draw in range(DRAWS[quick]):
                yield _run(SAMPLED, OURS, kind, draw, SHARES)
            for draw in range(PROGRAM_DRAWS[quick]):
                for share in SHARES:
                    yield _run(SAMPLED, PROGRAM, kind, draw, [share])
                yield _run(CLOSING, PROGRAM, kind, draw, [1.0])
                yield _run(CLOSING, OURS, kind, draw, [1.0])

    def rows(self, run: Run, setting: Setting) -> Iterator[Row]:
        """Solve one draw."""
        part, solver, kind, draw, shares = (
            run.parameters[name] for name in ("part", "solver", "kind", "draw", "shares")
        )
        found: list[tuple[float, int | None, Measured]] = []
        if part == CLOSING and solver == OURS:
            found = [(1.0, None, by_berth(instance(setting, kind, 20, 100, 4, draw)))]
        elif part == CLOSING:
            found = [(1.0, most, one) for most, one in _closing(_instance(setting, kind, solver, draw))]
        else:
            whole = _instance(setting, kind, solver, draw)
            for share in shares:
                chance = named_generator(setting.seed, f"{solver}, {kind}, {draw}: {share}")
                problem = with_share(whole, share, chance)
                found.append((share, None, (by_berth if solver == OURS else by_program)(problem)))
        for share, branches, one in found:
            yield {
                "part": part,
                "solver": solver,
                "kind": kind,
                "draw": draw,
                "share": share,
                "branches": branches,
                "seconds": one.seconds,
                "proved": one.proved,
                "response_time_ms": one.value,
                "gap": one.gap,
            }

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Degradation, times and gaps."""
        return all_claims(table)

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """Three panels as in the paper: time and degradation against candidates, gap over time."""
        figure.set_size_inches(11, 4.2)
        times, degradation, gaps = figure.subplots(1, 3)
        for kind, colour in zip(KINDS, (BLUE, ORANGE), strict=True):
            for solver, style in ((PROGRAM, "-"), (OURS, ":")):
                middle = sampled(table, solver, kind).groupby("share")["seconds"].median()
                label = f"{kind}, {'HiGHS' if solver == PROGRAM else 'berth'}"
                times.plot(
                    middle.index * 100, middle, style, color=colour, marker="o", markersize=4, label=label
                )
            ratios = degradations(table, kind)
            degradation.errorbar(
                ratios.columns * 100, ratios.mean(), ratios.std(), color=colour, marker="o", markersize=4,
                capsize=3, label=kind,
            )  # fmt: skip
            _gap_curves(gaps, table, kind, colour)
        times.set_yscale("log")
        times.set_ylabel("processor time (s)")
        degradation.set_ylabel("response time / optimum")
        for axes in (times, degradation):
            axes.set_xlabel("candidates of each operator (%)")
            axes.legend(fontsize="small")
        gaps.set_xlabel("processor time (s)")
        gaps.set_xscale("log")
        gaps.set_ylabel("gap (%)")
        gaps.set_ylim(bottom=-2)
        gaps.legend(fontsize="small")
        ours = sampled(table, OURS)
        failed = int(ours["response_time_ms"].isna().sum())
        return (
            "Left: processor time to the proof against the share of candidates; the paper's program on HiGHS "
            "(a size that it can do) and berth (50 on 20, as in the paper), medians. Middle: degradation by "
            f"berth, means and standard deviations over {ours['draw'].nunique()} draws; {failed} of "
            f"{len(ours)} draws of candidates had no plan and are left out. Right: how the gap of the "
            "paper's program closes on HiGHS, a line for each draw (a dot: it was proved at once), on a "
            "logarithmic "
            "axis of time. Synthetic delays, max(N(22, 5), 1) ms."
        )


def with_share(problem: Problem, share: float, chance: np.random.Generator) -> Problem:
    """The problem with a random part of the nodes as candidates of each operator."""
    names = [node.name for node in problem.network.nodes]
    size = max(1, round(share * len(names)))
    if size == len(names):
        return problem
    application = problem.applications[0]
    operators = tuple(
        replace(
            item, candidates=tuple(names[k] for k in sorted(chance.choice(len(names), size, replace=False)))
        )
        for item in application.operators
    )
    return replace(problem, applications=(replace(application, operators=operators),))


def _run(part: str, solver: str, kind: str, draw: int, shares: Iterable[float]) -> Run:
    listed = list(shares)
    share = f"-{listed[0]:.0%}" if part == SAMPLED and len(listed) == 1 else ""
    name = "berth" if solver == OURS else "program"
    parameters = {"part": part, "solver": solver, "kind": kind, "draw": draw, "shares": listed}
    return Run(f"{part}-{kind}-{name}-{draw:03d}{share}", parameters)


def _instance(setting: Setting, kind: str, solver: str, draw: int) -> Problem:
    sizes = PAPERS if solver == OURS else TINY if setting.quick else SHRUNK
    return instance(setting, kind, *sizes[kind], draw)


def _closing(problem: Problem) -> Iterator[tuple[int, Measured]]:
    for most in BRANCHES:
        found = by_program(problem, most)
        yield most, found
        if found.proved:
            return


def _gap_curves(axes: Axes, table: pd.DataFrame, kind: str, colour: str) -> None:
    closing = table[(table["part"] == CLOSING) & (table["solver"] == PROGRAM) & (table["kind"] == kind)]
    for number, (_, curve) in enumerate(closing.groupby("draw")):
        ordered = curve.sort_values("seconds")
        label = f"{kind}, HiGHS" if number == 0 else None
        axes.plot(
            ordered["seconds"], ordered["gap"] * 100, color=colour, marker=".", markersize=5, linewidth=1.0,
            alpha=0.7, label=label,
        )  # fmt: skip


EXPERIMENT = Candidates()
