"""What X3.1 to X3.3 share: operator graphs on drawn nodes, how they adapt to new rates, their figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

import berth
from berth.experiments.experiment import Calibration, Row, Run, Setting, named_generator
from berth.experiments.networks import papers_network, some_delays
from berth.generators.stream_tree import BYTES_PER_KBIT, StreamTree, StreamTreeParameters, stream_tree
from berth.model import Network, Plan, Problem

NODES = 226
SOURCES, SELECTIVITIES = "sources", "sources and selectivities"
CHANGES = (SOURCES, SELECTIVITIES)
"""What is drawn anew: what the paper's words say, and what its number of migrations suggests (E3.10)."""
CALIBRATIONS = (
    Calibration("draws of nodes", "40 times 226 of 490 nodes, 50 graphs each", "nothing"),
    Calibration("SBON's step", "0.1 x force / highest sum of rates", "64 to 365 messages"),
    Calibration("SBON at rest", "force / highest sum of rates below 0.5 ms", "64 to 365 messages"),
    Calibration("MOPA at rest", "steps shorter than 0.5 ms are not made", "nothing"),
    Calibration(
        "messages",
        "one for each unpinned neighbour outside the cluster of an operator that moved",
        "0 to 28 messages",
    ),
)
COLOURS = {"MOPA": "#0072b2", "MOPA, refined": "#009e73", "SBON": "#d55e00"}


def drawn_network(data: Path | None, network: str, rng: np.random.Generator) -> Network:
    """226 nodes of a network, or all of them where it has fewer."""
    return StreamTree().network(StreamTreeParameters(), rng, some_delays(data, network, NODES, rng))


def operator_graph(network: Network, size: Literal[6, 12], rng: np.random.Generator) -> Problem:
    """A tree of 6 or 12 operators (erratum E3.9): pinned sources, 2 to 5 unpinned ones, a pinned sink."""
    application = stream_tree("app", network, rng, StreamTreeParameters(size=size))
    return Problem("graph", network, (application,), objective={"network_usage": 1.0})


def redrawn(problem: Problem, rng: np.random.Generator, selectivity: bool = False) -> Problem:
    """The same graph with new rates of its sources and, if asked for, new selectivities."""
    application = problem.applications[0]
    operators = []
    for operator in application.operators:
        if operator.emits_bytes_per_s is not None:
            operator = replace(operator, emits_bytes_per_s=float(rng.uniform(100, 200)) * BYTES_PER_KBIT)
        elif selectivity and operator.candidates is None:
            operator = replace(operator, selectivity=float(rng.uniform(0, 1)))
        operators.append(operator)
    return replace(problem, applications=(replace(application, operators=tuple(operators)),))


def adapting_runs(setting: Setting) -> Iterable[Run]:
    """A run is a draw of nodes with some graphs."""
    network = papers_network(setting.data)
    for draw in range(8 if setting.quick else 40):
        yield Run(
            f"{network}/{draw}", {"network": network, "draw": draw, "graphs": 25 if setting.quick else 50}
        )


def adapted(
    run: Run, setting: Setting, methods: dict[str, tuple[str, dict[str, Any]]]
) -> Iterator[tuple[int, str, str, Plan]]:
    """Of every graph, change of rates and way to place: the plan after the change."""
    rng = named_generator(setting.seed, run.key)
    network = drawn_network(setting.data, run.parameters["network"], rng)
    for graph in range(run.parameters["graphs"]):
        problem = operator_graph(network, 12, rng)
        changed = {change: redrawn(problem, rng, change == SELECTIVITIES) for change in CHANGES}
        for name, (policy, parameters) in methods.items():
            before = berth.solve(problem, policy, **parameters)
            for change, problem_after in changed.items():
                yield graph, change, name, berth.solve(problem_after, policy, previous=before, **parameters)


def counted(
    run: Run, setting: Setting, methods: dict[str, tuple[str, dict[str, Any]]], count: str
) -> Iterator[Row]:
    """What the trace of each of these plans counts, as rows."""
    for graph, change, method, plan in adapted(run, setting, methods):
        yield {
            "network": run.parameters["network"],
            "draw": run.parameters["draw"],
            "graph": graph,
            "change": change,
            "policy": method,
            count: plan.trace.get(count),
            "failed": not plan.assignment,
        }


def cumulative(
    axes: Axes, values: ArrayLike, label: str, colour: str | None = None, style: str = "-"
) -> None:
    """The share of values that are no higher than x."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    shares = np.arange(1, len(ordered) + 1) / len(ordered)
    axes.step(ordered, shares, where="post", label=label, color=colour, linestyle=style, linewidth=1.6)


def finish(
    axes: Axes, title: str, what: str, legend: Literal["lower right", "center"] = "lower right"
) -> None:
    """Labels that all panels have."""
    axes.set_title(title)
    axes.set_xlabel(what)
    axes.set_ylabel("share of graphs")
    axes.set_ylim(0, 1.02)
    axes.legend(loc=legend)
