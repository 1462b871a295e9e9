"""Layered random graphs on nodes that differ."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from berth.generators.generator import (
    MOST_NODES,
    MOST_OPERATORS,
    About,
    Delays,
    Generator,
    any_host,
    normal_delays,
    setting,
    some_hosts,
    streams_along,
    uniform,
)
from berth.model import Application, Network, Node, Operator, Problem


@dataclass(frozen=True)
class RandomGraph(Generator):
    """The general one: no paper's, but of the shapes that all of them have.

    A spread s means: between 1 - s and 1 + s times the value, evenly.
    """

    about = About(
        name="random-graph",
        paper="none: applications in layers, as in all of them",
        makes="layered random graphs of operators, replicated if asked for, on nodes that differ",
    )
    counts_nodes = "nodes"

    applications: int = setting(1, "applications", 1, 10_000)
    operators: int = setting(20, "operators of an application", 1, MOST_OPERATORS)
    width: int = setting(4, "most operators of a layer", 1, MOST_OPERATORS)
    degree: int = setting(2, "most operators of the layer above that one receives from", 1, MOST_OPERATORS)
    least_parallelism: int = setting(1, "fewest instances of an operator", 1, 1000)
    most_parallelism: int = setting(1, "most instances", 1, 1000)
    demand: float = setting(1.0, "cpu that an instance needs")
    demand_spread: float = setting(0.5, "spread of the demands", 0.0, 1.0)
    work_ms: float = setting(1.0, "work for a data unit, ms")
    work_spread: float = setting(0.5, "spread of the work", 0.0, 1.0)
    least_selectivity: float = setting(0.1, "smallest share of its input that an operator puts out", 0.0, 1e6)
    most_selectivity: float = setting(1.0, "largest share", 0.0, 1e6)
    emits_bytes_per_s: float = setting(1000.0, "what a source sends, B/s")
    tuple_bytes: float = setting(100.0, "bytes of a tuple", 1e-9)
    pinned_ends: bool = setting(
        True, "operators without inputs or outputs are pinned to nodes drawn for them"
    )
    candidates: float = setting(1.0, "share of the nodes that may host another operator, drawn", 1e-9, 1.0)
    nodes: int = setting(20, "nodes", 1, MOST_NODES)
    capacity: float = setting(8.0, "cpu of a node; it has as many cores, at least one")
    capacity_spread: float = setting(0.5, "spread of the capacities", 0.0, 1.0)
    speed_spread: float = setting(0.5, "spread of the speeds around 1", 0.0, 0.99)
    least_availability: float = setting(1.0, "worst availability of a node", 0.0, 1.0)
    mean_delay_ms: float = setting(22.0, "mean delay between nodes, ms; none is below 1")
    delay_deviation_ms: float = setting(5.0, "standard deviation of delays, ms")

    def network(self, rng: np.random.Generator, measured: Delays | None) -> Network:
        """Nodes of different capacity, speed and availability."""
        between = measured or normal_delays(self.nodes, self.mean_delay_ms, self.delay_deviation_ms, rng)
        count = len(between)
        drawn = zip(
            between.names,
            _spread(rng, self.capacity, self.capacity_spread, count),
            _spread(rng, 1.0, self.speed_spread, count),
            uniform(rng, self.least_availability, 1.0, count).tolist(),
            strict=True,
        )
        nodes = tuple(
            Node(
                name,
                capacity={"cpu": capacity},
                speed=speed,
                cores=max(1.0, float(int(capacity))),
                availability=availability,
            )
            for name, capacity, speed, availability in drawn
        )
        return Network(nodes, matrices=between.matrices)

    def problem(self, rng: np.random.Generator, network: Network) -> Problem:
        """Applications; wanted is the least response time."""
        names = [f"a{number}" for number in range(self.applications)]
        return Problem("random", network, tuple(_application(name, self, rng, network) for name in names))


def _application(
    name: str, parameters: RandomGraph, rng: np.random.Generator, network: Network
) -> Application:
    count = parameters.operators
    ends = layered(count, parameters.width, parameters.degree, rng)
    receives, sends = {receiver for _, receiver in ends}, {sender for sender, _ in ends}
    demands = _spread(rng, parameters.demand, parameters.demand_spread, count)
    works = _spread(rng, parameters.work_ms, parameters.work_spread, count)
    selectivities = uniform(rng, parameters.least_selectivity, parameters.most_selectivity, count).tolist()
    operators = []
    for number in range(count):
        source, sink = number not in receives, number not in sends
        pinned = parameters.pinned_ends and (source or sink)
        operators.append(
            Operator(
                f"o{number}",
                candidates=(any_host(network, rng),)
                if pinned
                else some_hosts(network, parameters.candidates, rng),
                demand={} if pinned else {"cpu": demands[number]},
                work_ms=works[number],
                parallelism=int(rng.integers(parameters.least_parallelism, parameters.most_parallelism + 1)),
                emits_bytes_per_s=parameters.emits_bytes_per_s if source else None,
                selectivity=1.0 if source else selectivities[number],
            )
        )
    names = ((f"o{sender}", f"o{receiver}") for sender, receiver in ends)
    streams = streams_along(names, parameters.tuple_bytes)
    return Application(name, tuple(operators), streams)


def layered(count: int, width: int, degree: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Streams between operators in layers of up to `width`, from a layer to the next.

    Each operator below the first layer receives from 1 to `degree` of the layer above; whoever would have no
    receiver, sends to one of the layer below.
    """
    layers: list[list[int]] = []
    first = 0
    while first < count:
        size = min(int(rng.integers(1, width + 1)), count - first)
        layers.append(list(range(first, first + size)))
        first += size
    ends: list[tuple[int, int]] = []
    for above, below in pairwise(layers):
        used = set()
        for operator in below:
            inputs = rng.permutation(above)[: int(rng.integers(1, min(degree, len(above)) + 1))]
            ends += [(sender, operator) for sender in sorted(inputs.tolist())]
            used.update(inputs.tolist())
        ends += [(sender, int(rng.choice(below))) for sender in above if sender not in used]
    return ends


def _spread(rng: np.random.Generator, value: float, spread: float, count: int) -> list[float]:
    drawn: list[float] = uniform(rng, value * (1.0 - spread), value * (1.0 + spread), count).tolist()
    return drawn
