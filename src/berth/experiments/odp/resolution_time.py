"""X0.6: time to the optimal placement against operators, nodes and capacity (paper 000, figure 9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pyspark.sql.types import BooleanType, DoubleType, IntegerType, StringType, StructField, StructType

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.odp.panels import BLUE, ORANGE
from berth.experiments.odp.program import PaperProgram
from berth.experiments.odp.resolution_claims import all_claims
from berth.experiments.odp.solving import (
    CALIBRATIONS,
    KINDS,
    OURS,
    PROGRAM,
    by_berth,
    by_program,
    instance,
)

Size = tuple[int, int, int]
"""Operators, nodes, capacity."""

AXES = ("operators", "nodes", "capacity")
PAPERS: dict[str, list[Size]] = {
    "operators": [(count, 20, 4) for count in (10, 20, 30, 40, 50)],
    "nodes": [(20, count, 4) for count in (10, 20, 40, 60, 80, 100)],
    "capacity": [(20, 20, capacity) for capacity in (2, 4, 6, 8, 10)],
    "swapped": [(50, 20, 4), (20, 50, 4)],
}
SHRUNK: dict[str, list[Size]] = {
    "operators": [(count, 6, 2) for count in (4, 5, 6, 7, 8)],
    "nodes": [(6, count, 2) for count in (4, 6, 8, 10)],
    "capacity": [(6, 6, capacity) for capacity in (1, 2, 3, 4)],
    "swapped": [(10, 5, 4), (5, 10, 4)],
}
TINY: dict[str, list[Size]] = {
    "operators": [(count, 5, 2) for count in (4, 5, 6)],
    "nodes": [(5, count, 2) for count in (4, 5, 6)],
    "capacity": [(5, 5, capacity) for capacity in (1, 2, 3)],
    "swapped": [(8, 4, 4), (4, 8, 4)],
}
DRAWS, QUICK_DRAWS = 10, 2


class ResolutionTime:
    """Every setting of figure 9 by berth, and smaller ones by the paper's program."""

    name = "X0.6"
    paper = "000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 9"
    title = "Time to the optimal placement against operators, nodes and capacity"
    schema = StructType(
        [
            StructField("solver", StringType()),
            StructField("kind", StringType()),
            StructField("axis", StringType()),
            StructField("operators", IntegerType()),
            StructField("nodes", IntegerType()),
            StructField("capacity", IntegerType()),
            StructField("draw", IntegerType()),
            StructField("variables", IntegerType()),
            StructField("seconds", DoubleType()),
            StructField("proved", BooleanType()),
            StructField("response_time_ms", DoubleType()),
        ]
    )
    calibrations = (
        *CALIBRATIONS,
        Calibration(
            "sizes for the paper's program",
            "4 to 10 operators on 4 to 10 nodes: HiGHS can't do the paper's",
            "nothing",
        ),
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """For berth all draws of a size at once, for the paper's program one draw of a size."""
        draws = QUICK_DRAWS if setting.quick else DRAWS
        for kind, axis, size in _sizes(PAPERS):
            yield _run(OURS, kind, axis, size, range(draws))
        for kind, axis, size in _sizes(TINY if setting.quick else SHRUNK):
            for draw in range(draws):
                yield _run(PROGRAM, kind, axis, size, [draw])

    def rows(self, run: Run, setting: Setting) -> Iterator[Row]:
        """Solve the draws of one size."""
        about = dict(run.parameters)
        for draw in about.pop("draws"):
            problem = instance(
                setting, about["kind"], about["operators"], about["nodes"], about["capacity"], draw
            )
            found = (by_berth if about["solver"] == OURS else by_program)(problem)
            yield {
                **about,
                "draw": draw,
                "variables": PaperProgram(problem).stream_variables,
                "seconds": found.seconds,
                "proved": found.proved,
                "response_time_ms": found.value,
            }

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Numbers of variables, which way time goes, and the two scenarios."""
        return all_claims(table)

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """Three panels as in the paper for berth, and three for the paper's program."""
        figure.set_size_inches(10, 6.5)
        grid = figure.subplots(2, 3, sharey="row")
        for solver, panels in zip((OURS, PROGRAM), grid, strict=True):
            for axis, axes in zip(AXES, panels, strict=True):
                _curves(axes, table[(table["solver"] == solver) & (table["axis"] == axis)], axis)
            panels[0].set_ylabel(f"{solver}\nprocessor time (s)")
        grid[0][0].legend()
        late = table[~table["proved"]]
        return (
            "Processor time to the proved optimum of the response time; medians, and from the least to the "
            f"most, of {table['draw'].nunique()} drawn instances each, delays max(N(22, 5), 1) ms "
            "(synthetic, as the paper's). Above: berth at the paper's sizes. Below: the paper's integer "
            "program on HiGHS, at sizes that it can do: the shapes count. "
            f"{len(late)} of {len(table)} solves ended without a proof, at the limit of a minute on the "
            "clock; they count with the time until then. Axes of time are logarithmic."
        )


def _sizes(grid: dict[str, list[Size]]) -> Iterator[tuple[str, str, Size]]:
    for kind in KINDS:
        for axis, sizes in grid.items():
            for size in sizes:
                yield kind, axis, size


def _run(solver: str, kind: str, axis: str, size: Size, draws: Iterable[int]) -> Run:
    listed = list(draws)
    where = f"{axis}-{'x'.join(map(str, size))}"
    name = "berth" if solver == OURS else f"program-{listed[0]:02d}"
    sizes = dict(zip(AXES, size, strict=True))
    return Run(
        f"{kind}-{where}-{name}", {"solver": solver, "kind": kind, "axis": axis, **sizes, "draws": listed}
    )


def _curves(axes: Axes, table: pd.DataFrame, axis: str) -> None:
    for kind, colour in zip(KINDS, (BLUE, ORANGE), strict=True):
        times = table[table["kind"] == kind].groupby(axis)["seconds"]
        middle = times.median()
        axes.plot(middle.index, middle, color=colour, marker="o", markersize=4, label=kind)
        axes.fill_between(middle.index, times.min(), times.max(), color=colour, alpha=0.2, linewidth=0)
    axes.set_yscale("log")
    axes.set_xticks(sorted(table[axis].unique()))
    axes.set_xlabel({"capacity": "capacity of a node (operators)"}.get(axis, f"number of {axis}"))


EXPERIMENT = ResolutionTime()
