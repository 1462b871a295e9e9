"""Tag-and-Count on eight machines (paper 000, section 7.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.generators.generator import (
    MOST_NODES,
    About,
    Delays,
    Generator,
    in_a_row,
    setting,
    symmetric,
    uniform,
)
from berth.model import Application, Network, Node, Operator, Problem

STEPS = ("parse", "tag", "filter", "count", "rank")


@dataclass(frozen=True)
class TagAndCount(Generator):
    """Random draws of the set-up that examples/tag-and-count.yaml constructs."""

    about = About(
        name="tag-and-count",
        paper="000, section 7.1: Tag-and-Count on Storm",
        makes="a source, five operators in a row and a consumer; half of the nodes are up 99 % of the time",
    )
    counts_nodes = "nodes"

    nodes: int = setting(8, "nodes", 1, MOST_NODES)
    worker_slots: int = setting(2, "worker slots of a node", 1)
    executors_per_slot: int = setting(4, "executors that a slot holds", 1)
    unreliable: float = setting(0.5, "share of the nodes that are down at times, drawn", 0.0, 1.0)
    availability: float = setting(0.99, "availability of those", 0.0, 1.0)
    least_delay_ms: float = setting(12.0, "shortest mean delay between two nodes, ms")
    most_delay_ms: float = setting(32.0, "longest, ms")
    parallelism: int = setting(
        2, "executors of each of the five operators between source and consumer", 1, 1000
    )
    work_ms: float = setting(1.0, "work of an executor for a tuple, ms")
    tuples_per_s: float = setting(10.0, "tuples that the source sends in a second")
    tuple_bytes: float = setting(100.0, "bytes of a tuple (the paper doesn't say)")

    def network(self, rng: np.random.Generator, measured: Delays | None) -> Network:
        """Nodes with slots; the delay of a pair is the mean of what the paper's emulation adds to packets."""
        count = self.nodes
        if measured is None:
            drawn = uniform(rng, self.least_delay_ms, self.most_delay_ms, (count, count))
            measured = Delays(symmetric(drawn))
        unreliable = set(rng.permutation(count)[: round(self.unreliable * count)].tolist())
        slots = self.worker_slots * self.executors_per_slot
        nodes = tuple(
            Node(
                name,
                capacity={"slots": slots},
                availability=self.availability if number in unreliable else 1.0,
            )
            for number, name in enumerate(measured.names)
        )
        return Network(nodes, matrices=measured.matrices)

    def problem(self, rng: np.random.Generator, network: Network) -> Problem:
        """One application, its ends on two of the nodes that are always up where there are such (E0.7)."""
        source, consumer = _ends(network, rng)
        emits = self.tuples_per_s * self.tuple_bytes
        one, work = {"slots": 1}, self.work_ms
        operators = (
            Operator("source", candidates=(source,), demand=one, work_ms=work, emits_bytes_per_s=emits),
            *(Operator(name, demand=one, work_ms=work, parallelism=self.parallelism) for name in STEPS),
            Operator("consumer", candidates=(consumer,), demand=one, work_ms=work),
        )
        streams = in_a_row((operator.name for operator in operators), self.tuple_bytes or None)
        return Problem("tag-and-count", network, (Application("tag-and-count", operators, streams),))


def _ends(network: Network, rng: np.random.Generator) -> tuple[str, str]:
    reliable = network.hosting[network.availability[network.hosting] == 1.0]
    among = reliable if len(reliable) else network.hosting
    first, *rest = rng.permutation(among).tolist()
    return network.nodes[first].name, network.nodes[rest[0] if rest else first].name
