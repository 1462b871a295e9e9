"""X0.6: time to the optimal placement against operators, nodes and capacity (paper 000, figure 9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Experiment, Row, Run, Setting, Verdict, columns
from berth.experiments.judging import holds, mean_of, order_verdict, verdict
from berth.experiments.odp.solving import (
    CALIBRATIONS,
    KINDS,
    OURS,
    PROGRAM,
    SOLVERS,
    PaperProgram,
    instance,
)
from berth.experiments.odp.timeline import BLUE, ORANGE

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
FASTER = {"sequential": 2.0, "fat": 36.0}
FACTOR = 1.5
"""Ratios of times within this factor of each other are the same."""
VARIABLES = {"sequential": (19_600, 190_000), "fat": (38_400, 360_000)}
LARGER = 2.38


def runs(setting: Setting) -> Iterable[Run]:
    """For berth all draws of a size at once, for the paper's program one draw of a size."""
    draws = list(range(QUICK_DRAWS if setting.quick else DRAWS))
    for solver, sizes in ((OURS, PAPERS), (PROGRAM, TINY if setting.quick else SHRUNK)):
        parts = [draws] if solver == OURS else [[draw] for draw in draws]
        for kind, axis in product(KINDS, sizes):
            for size, part in product(sizes[axis], parts):
                name = "berth" if solver == OURS else f"program-{part[0]:02d}"
                about = {"solver": solver, "kind": kind, "axis": axis, **dict(zip(AXES, size, strict=True))}
                yield Run(f"{kind}-{axis}-{'x'.join(map(str, size))}-{name}", {**about, "draws": part})


def rows(run: Run, setting: Setting) -> Iterator[Row]:
    """Solve the draws of one size."""
    about = dict(run.parameters)
    for draw in about.pop("draws"):
        operators, nodes, capacity = (about[axis] for axis in AXES)
        problem = instance(setting, about["kind"], operators, nodes, capacity, draw)
        found = SOLVERS[about["solver"]](problem)
        yield {
            **about,
            "draw": draw,
            "variables": PaperProgram(problem).stream_variables,
            "seconds": found.seconds,
            "proved": found.proved,
            "response_time_ms": found.value,
        }


def claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """Numbers of variables, which way time goes, and the two scenarios."""
    return [*_on_variables(table), *(claim for kind in KINDS for claim in _on_times(table, kind))]


def draw(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
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


def _curves(axes: Axes, table: pd.DataFrame, axis: str) -> None:
    for kind, colour in zip(KINDS, (BLUE, ORANGE), strict=True):
        times = table[table["kind"] == kind].groupby(axis)["seconds"]
        middle = times.median()
        axes.plot(middle.index, middle, color=colour, marker="o", markersize=4, label=kind)
        axes.fill_between(middle.index, times.min(), times.max(), color=colour, alpha=0.2, linewidth=0)
    label = {"capacity": "capacity of a node (operators)"}.get(axis, f"number of {axis}")
    axes.set(yscale="log", xticks=sorted(table[axis].unique()), xlabel=label)


def _on_variables(table: pd.DataFrame) -> Iterator[Claim]:
    variables = table.groupby(["kind", "operators", "nodes"])["variables"].first()
    for kind, papers in VARIABLES.items():
        for (operators, nodes), paper in zip(((50, 20), (20, 100)), papers, strict=True):
            ours = int(variables[kind, operators, nodes])
            yield Claim(
                f"{kind}: {operators} operators on {nodes} nodes are {paper:,} variables for streams",
                f"{paper:,}",
                f"{ours:,}",
                holds(ours == paper),
                "rule: equal. What figure 8 shows was read off these numbers (E0.5)",
            )
    sequential, fat = (float(variables[kind, 20, 50] / variables[kind, 50, 20]) for kind in KINDS)
    mean = (sequential + fat) / 2
    yield Claim(
        "20 operators on 50 nodes have 2.38 times as many variables for streams as 50 operators on 20 nodes",
        f"{LARGER}",
        f"{mean:.3f}, the mean of {sequential:.2f} (sequential) and {fat:.2f} (fat)",
        holds(abs(mean - LARGER) < 0.005),
        "rule: equal in two decimals. The paper's number fits neither application, but their mean",
    )


class Factors:
    """How many times as long the largest size on an axis takes as the smallest, of a kind and a solver."""

    def __init__(self, table: pd.DataFrame, kind: str, axis: str, solver: str) -> None:
        chosen = table[(table["solver"] == solver) & (table["kind"] == kind) & (table["axis"] == axis)]
        column = "operators" if axis == "swapped" else axis
        times = np.log(chosen.pivot(index="draw", columns=column, values="seconds"))
        self.least, self.most = int(times.columns.min()), int(times.columns.max())
        self.logarithms: pd.Series[float] = times[self.most] - times[self.least]

    @property
    def powers(self) -> pd.Series[float]:
        """For each draw, the power of the size that the time grows by."""
        return self.logarithms / float(np.log(self.most / self.least))

    def text(self, sign: float = 1.0) -> str:
        """For people; with a sign of -1 how many times as long the smallest takes."""
        mean = mean_of(sign * self.logarithms)
        low, middle, high = np.exp([mean.value - mean.error, mean.value, mean.value + mean.error])
        return f"{middle:.2g} times (one standard error: {low:.2g} to {high:.2g}; {mean.draws} draws)"


def _on_times(table: pd.DataFrame, kind: str) -> Iterator[Claim]:
    axes = (*AXES, "swapped")
    program, ours = (
        {axis: Factors(table, kind, axis, solver) for axis in axes} for solver in (PROGRAM, OURS)
    )
    for axis, paper in (("operators", "10 to 50"), ("nodes", "10 to 100")):
        found = program[axis]
        yield Claim(
            f"{kind}: the time grows with the number of {axis}",
            f"- ({paper} {axis})",
            f"from {found.least} to {found.most} {axis}: {found.text()}; berth, {paper}: {ours[axis].text()}",
            order_verdict(found.logarithms),
            "rule: the paper's program takes longer at the largest size than at the smallest, by more than "
            "two standard errors of the logarithm; the curves of the figure are not in the text",
        )
    found = program["capacity"]
    yield Claim(
        f"{kind}: the time falls with the capacity of the nodes",
        "- (2 to 10)",
        f"capacity {found.least} against {found.most}: {found.text(-1.0)}; berth, 2 against 10: "
        f"{ours['capacity'].text(-1.0)}",
        order_verdict(-found.logarithms),
        "rule: the paper's program takes longer at the least capacity, by more than two standard errors of "
        "the logarithm. HiGHS is another solver than theirs, and sizes are smaller: with room for one "
        "operator a node it is a one-to-one assignment, which it does quickly",
    )

    def powers_text(solver: dict[str, Factors]) -> str:
        operators, nodes = (mean_of(solver[axis].powers) for axis in ("operators", "nodes"))
        return f"operators to the power of {operators.text(1)}, nodes to {nodes.text(1)}, {nodes.draws} draws"

    yield Claim(
        f"{kind}: the time is more sensitive to the number of operators than to that of nodes",
        "-",
        f"{powers_text(program)}; berth at the paper's sizes: {powers_text(ours)}",
        order_verdict(program["operators"].powers - program["nodes"].powers),
        "rule: the power of the paper's program's time, from the smallest to the largest size, is higher for "
        "operators by more than two standard errors. Sizes are smaller than the paper's, and the solver is "
        "another one; the paper itself finds 100 nodes the slowest of all (E0.12)",
    )
    found, paper_factor = program["swapped"], FASTER[kind]
    mean = mean_of(found.logarithms)
    outcome = verdict(bool(abs(np.log(paper_factor) - mean.value) <= np.log(FACTOR)), mean.surely_positive)
    why = ". Sizes are a fifth of the paper's or less, and the solver is another one"
    yield Claim(
        f"{kind}: 20 operators on 50 nodes take less time than 50 operators on 20 nodes",
        f"{paper_factor:g} times",
        f"{found.least} on {found.most} against {found.most} on {found.least}: {found.text()}; berth at the "
        f"paper's sizes: {ours['swapped'].text()}",
        outcome,
        f"rule: within a factor of {FACTOR}; the order: above 1 by more than two standard errors of the "
        f"logarithm{'' if outcome is Verdict.REPRODUCED else why}",
    )


RESOLUTION_TIME = Experiment(
    name="X0.6",
    paper="000, ODP (Cardellini, Grassi, Lo Presti, Nardelli 2016), figure 9",
    title="Time to the optimal placement against operators, nodes and capacity",
    about="Proving that a placement is the best one takes longer for more operators, more machines or less "
    "room on them. The time is measured for operators in a row and for a wide graph, by berth and by the "
    "paper's integer program.",
    schema=columns(
        "solver str, kind str, axis str, operators int, nodes int, capacity int, draw int, variables "
        "int, seconds float, proved bool, response_time_ms float"
    ),
    runs=runs,
    rows=rows,
    claims=claims,
    draw=draw,
    calibrations=(
        *CALIBRATIONS,
        Calibration(
            "sizes for the paper's program", "4 to 10 operators on 4 to 10 nodes: HiGHS can't do the paper's"
        ),
    ),
)
