"""MOPA: graphs placed in a second, and how far its plans are from the optimum (paper 003, figure 2).

Speed: graphs of 12 operators on 226 nodes with measured delays and on 100,000 nodes with coordinates, through
`berth.solve` with the judge and without; against the same events in plain Python with scipy's minimiser for
every Weber point, in the same process.

Quality, on real delays: usage against the exhaustive optimum, for graphs of 6 and 12 and six slices of time.
Every mean has the number of plans behind it. `--quick` takes fewer graphs. The paper's own experiments are
`berth reproduce X3.1 X3.2 X3.3`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import berth
from berth.evaluation import Setting
from berth.experiments.mopa.graphs import operator_graph
from berth.experiments.networks import CLOUDS, FILES, is_there, measured
from berth.model import Network, Problem
from berth.policies.latency_space import MopaParameters, mopa_mapping
from berth.policies.latency_space.mopa import start_from_springs
from berth.policies.latency_space.units import UnitGraph, unit_graph
from berth.policies.latency_space.virtual import in_space
from berth.space import space_of
from tests.policies.latency_space.operator_graphs import (
    iot_lab,
    measured_network,
    noisy_network,
    planetlab,
    space_network,
)

FloatArray = NDArray[np.float64]

NODES, MANY_NODES = 226, 100_000
GRAPHS_PER_NETWORK = 50


def plain_events(graph: UnitGraph, positions: FloatArray, tolerance: float = 0.5) -> FloatArray:
    """MOPA's virtual placement, without clusters, as one would write it first."""
    waiting = np.flatnonzero(graph.fixed < 0).tolist()
    while waiting:
        unit = waiting.pop(0)
        span = slice(graph.offsets[unit], graph.offsets[unit + 1])
        points, weights = positions[graph.neighbours[span]], graph.weights[span]

        def usage(place: FloatArray, points: FloatArray = points, weights: FloatArray = weights) -> float:
            return float((weights * np.sqrt(((points - place) ** 2).sum(axis=1))).sum())

        place = min([minimize(usage, positions[unit], method="Nelder-Mead").x, *points], key=usage)
        if np.sqrt(((place - positions[unit]) ** 2).sum()) > tolerance:
            positions[unit] = place
            others = graph.neighbours[span]
            waiting += [k for k in others[graph.fixed[others] < 0].tolist() if k not in waiting]
    return positions


def rate(work: Callable[[Problem], object], problems: list[Problem]) -> float:
    """Problems done in a second of processor time, of this process: others share the machine."""
    start = time.process_time()
    for problem in problems:
        work(problem)
    return len(problems) / (time.process_time() - start)


def speed(network: Network, label: str, count: int) -> None:
    rng = np.random.default_rng(1)
    problems = [operator_graph(network, 12, rng) for _ in range(3 * count + 30)]
    space, parameters = space_of(network), MopaParameters()
    for problem in problems[:10]:
        berth.solve(problem, "mopa")
    whole = rate(lambda problem: berth.solve(problem, "mopa"), problems[10 : 10 + count])
    mapped = rate(
        lambda problem: mopa_mapping(Setting(problem), space, parameters),
        problems[10 + count : 10 + 2 * count],
    )

    def plain(problem: Problem) -> None:
        graph = unit_graph(problem)
        virtual = in_space(graph, space)
        start_from_springs(virtual, np.flatnonzero(virtual.free))
        plain_events(graph, virtual.positions)

    slow = rate(plain, problems[10 + 2 * count : 30 + 2 * count])
    print(
        f"{label:>8} nodes: {whole:7.0f} graphs/s solved and judged, {mapped:7.0f} placed; "
        f"plain Python, virtual places only: {slow:5.1f} ({mapped / slow:.0f} times)",
        flush=True,
    )


@dataclass
class Figures:
    """What one policy did on all graphs."""

    stretch: list[float] = field(default_factory=list)
    messages: list[int] = field(default_factory=list)
    failed: int = 0

    def line(self) -> str:
        """The figures for people."""
        values = np.array(self.stretch)
        messages = np.array(self.messages)
        return (
            f"stretch mean {values.mean():.3f}, 70 % below {np.quantile(values, 0.7):.3f}, "
            f"{(values < 1.1).mean():4.0%} below 1.1, max {values.max():.2f}; "
            f"messages mean {messages.mean():5.1f}, {messages.min()} to {messages.max()}; "
            f"{len(values)} plans, {self.failed} failed"
        )


POLICIES: dict[str, tuple[str, dict[str, object]]] = {
    "mopa, unrefined": ("mopa", {"refine": False}),
    "mopa": ("mopa", {}),
    "sbon": ("sbon", {}),
}


def quality(networks: Iterator[Network], size: int, graphs: int, seed: int) -> dict[str, Figures]:
    """X3.1: usage against the optimum."""
    rng = np.random.default_rng(seed)
    figures = {name: Figures() for name in POLICIES}
    for number in range(graphs):
        if number % GRAPHS_PER_NETWORK == 0:
            network = next(networks)
        problem = operator_graph(network, size, rng)
        best = berth.solve(problem, "mop-exhaustive")
        assert best.status == "optimal"
        assert best.objective is not None
        for name, (policy, parameters) in POLICIES.items():
            plan = berth.solve(problem, policy, **parameters)
            usage = plan.metrics.get("network_usage_bytes")
            if usage is None or plan.violations or best.objective == 0:
                figures[name].failed += 1
                continue
            figures[name].stretch.append(usage / best.objective)
            figures[name].messages.append(plan.trace["messages"])
    return figures


def clouds() -> FloatArray | None:
    data = Path(os.environ.get("BERTH_DATA", ""))
    return measured(data / FILES[CLOUDS]).delay_ms if is_there(data, CLOUDS) else None


def drawn(delays: FloatArray, seed: int) -> Iterator[Network]:
    rng = np.random.default_rng(seed)
    while True:
        yield measured_network(delays, NODES, rng)


def synthetic(seed: int) -> Iterator[Network]:
    rng = np.random.default_rng(seed)
    while True:
        yield noisy_network(NODES, rng)


def main() -> None:
    quick = "--quick" in sys.argv
    graphs = 100 if quick else 400
    print("speed, one core, 12-operator graphs (wanted: 500, and half of that with 100,000 nodes)")
    delays = planetlab(1)
    rng = np.random.default_rng(0)
    speed(
        noisy_network(NODES, rng) if delays is None else measured_network(delays, NODES, rng), "226", graphs
    )
    speed(space_network(MANY_NODES, rng), "100,000", graphs)
    sets: list[tuple[str, Iterator[Network]]] = [("synthetic", synthetic(1))]
    if delays is None:
        print("BERTH_DATA has no planetlab_490: only synthetic delays")
    else:
        sets = [
            (f"PlanetLab {part}", drawn(found, part))
            for part in range(1, 7)
            if (found := planetlab(part)) is not None
        ]
    for label, matrix in (("IoT lab", iot_lab()), ("clouds", clouds())):
        if matrix is not None:
            sets.append((label, drawn(matrix, 0)))
    for label, networks in sets:
        for size in (6, 12):
            print(f"{label}, graphs of {size} (paper 003: 1.14 for mopa, 1.29 for sbon)")
            for name, item in quality(networks, size, graphs, size).items():
                print(f"  {name:>16}: {item.line()}", flush=True)


if __name__ == "__main__":
    main()
