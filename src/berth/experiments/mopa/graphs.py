"""What X3.1 to X3.3 share: operator graphs on drawn nodes, and their figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from berth.experiments.networks import some_delays
from berth.generators.stream_tree import BYTES_PER_KBIT, StreamTree, stream_tree
from berth.model import Network, Problem

NODES = 226
COLOURS = {"MOPA": "#0072b2", "MOPA, refined": "#009e73", "SBON": "#d55e00"}


def drawn_network(data: Path | None, network: str, rng: np.random.Generator) -> Network:
    """226 nodes of a network, or all of them where it has fewer."""
    return StreamTree().network(rng, some_delays(data, network, NODES, rng))


def operator_graph(network: Network, size: Literal[6, 12], rng: np.random.Generator) -> Problem:
    """A tree of 6 or 12 operators (erratum E3.9): pinned sources, 2 to 5 unpinned ones, a pinned sink."""
    application = stream_tree("app", network, rng, StreamTree(size=size))
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
    axes.set(title=title, xlabel=what, ylabel="share of graphs", ylim=(0, 1.02))
    axes.legend(loc=legend)
