"""Matrices that are multiplied on their way from a source to a sink (paper 002, section V)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from berth.generators.generator import MOST_NODES, About, Delays, Generator, Space, any_host, setting, uniform
from berth.model import Application, Network, Node, Operator, Problem, Stream

SIZES = (50, 100, 200, 500)
ELEMENT_BYTES = 8.0


@dataclass(frozen=True)
class Matrices(Generator):
    """Source, two multiplications and sink, between pinned ends."""

    about = About(
        name="matrices",
        paper="002, section V: latency bounds under load",
        makes="pairs of matrix multiplications between pinned ends, on equal hosts",
    )
    counts_nodes = "hosts"

    hosts: int = setting(200, "hosts, all of 4,800 bogomips: speed 1", 1, MOST_NODES)
    places: int = setting(3, "operators that a host has room for (the paper doesn't say)", 1)
    card: float = setting(12.5, "network card of a host, MB/s (the paper doesn't say)", 1e-6)
    graphs: int = setting(120, "applications, each with two free operators", 1, 10_000)
    work_factor: float = setting(2e-5, "ms of work for n x n matrices: n^3 times this")
    least_period_s: float = setting(20.0, "shortest time between two tuples of a source, s", 1e-6)
    most_period_s: float = setting(120.0, "longest, s", 1e-6)

    def network(self, rng: np.random.Generator, measured: Delays | None) -> Network:
        """Equal hosts; where no delays are given, in the space of card X3.1."""
        between = measured or Space().delays(self.hosts, rng)
        card, places = self.card * 1e6, {"places": self.places}
        nodes = tuple(Node(name, nic_bytes_per_s=card, capacity=places) for name in between.names)
        return Network(nodes, matrices=between.matrices)

    def problem(self, rng: np.random.Generator, network: Network) -> Problem:
        """Applications; wanted is the least network usage, under a bound that the policy is given."""
        graphs = tuple(matrix_graph(f"g{number}", network, rng, self) for number in range(self.graphs))
        return Problem("matrices", network, graphs, objective={"network_usage": 1.0})


def matrix_graph(name: str, network: Network, rng: np.random.Generator, parameters: Matrices) -> Application:
    """Source, two multiplications, sink: a tuple of n^2 elements every now and then."""
    size = int(rng.choice(SIZES))
    tuple_bytes = ELEMENT_BYTES * size**2
    rate = tuple_bytes / float(uniform(rng, parameters.least_period_s, parameters.most_period_s))
    start, end = (any_host(network, rng) for _ in range(2))
    work_ms = parameters.work_factor * size**3
    operators = (
        Operator("source", candidates=(start,), output_bytes=tuple_bytes),
        Operator("first", work_ms=work_ms, output_bytes=tuple_bytes, demand={"places": 1}),
        Operator("second", work_ms=work_ms, output_bytes=tuple_bytes, demand={"places": 1}),
        Operator("sink", candidates=(end,)),
    )
    streams = tuple(Stream(here.name, there.name, bytes_per_s=rate) for here, there in pairwise(operators))
    return Application(name, operators, streams)
