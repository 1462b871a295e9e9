"""Equal operators on equal nodes: in a row, or side by side (paper 000, section 7.3 and table 2)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from berth.generators.generator import (
    MOST_NODES,
    MOST_OPERATORS,
    About,
    Delays,
    Generator,
    in_a_row,
    normal_delays,
    setting,
    some_hosts,
    streams_along,
)
from berth.model import Application, Network, Node, Operator, Problem, Stream


@dataclass(frozen=True)
class Uniform(Generator):
    """A graph of equal operators on equal nodes."""

    counts_nodes = "nodes"

    operators: int = setting(20, "operators, ends included", 2, MOST_OPERATORS)
    nodes: int = setting(20, "nodes", 1, MOST_NODES)
    capacity: int = setting(4, "operators that a node has room for (C_u)", 1)
    candidates: float = setting(
        1.0, "share of the nodes that may host an operator, drawn for each", 1e-9, 1.0
    )
    work_ms: float = setting(1.0, "work of an operator for a data unit (R_i), ms")
    mean_delay_ms: float = setting(22.0, "mean delay between nodes, ms; none is below 1")
    delay_deviation_ms: float = setting(5.0, "standard deviation of delays, ms")
    emits_bytes_per_s: float = setting(100.0, "what the source sends, B/s")

    def network(self, rng: np.random.Generator, measured: Delays | None) -> Network:
        """Nodes of one capacity."""
        between = measured or normal_delays(self.nodes, self.mean_delay_ms, self.delay_deviation_ms, rng)
        nodes = tuple(Node(name, capacity={"cpu": self.capacity}) for name in between.names)
        return Network(nodes, matrices=between.matrices)

    def problem(self, rng: np.random.Generator, network: Network) -> Problem:
        """One application; wanted is the least response time."""
        names = [f"o{number}" for number in range(self.operators)]
        operators = tuple(
            Operator(
                name,
                candidates=some_hosts(network, self.candidates, rng),
                demand={"cpu": 1},
                work_ms=self.work_ms,
                emits_bytes_per_s=self.emits_bytes_per_s if name == names[0] else None,
            )
            for name in names
        )
        return Problem("uniform", network, (Application("a", operators, self.streams(names)),))

    @abstractmethod
    def streams(self, names: list[str]) -> tuple[Stream, ...]:
        """Who sends to whom."""


class Sequential(Uniform):
    """A pipeline."""

    about = About(
        name="sequential",
        paper="000, section 7.3: scalability, sequential applications",
        makes="equal operators in a row on equal nodes",
    )

    def streams(self, names: list[str]) -> tuple[Stream, ...]:
        """From each to the next."""
        return in_a_row(names)


class Fat(Uniform):
    """A fan out and in: figure 8 isn't legible, but the paper's numbers of variables tell (erratum E0.5)."""

    about = About(
        name="fat",
        paper="000, section 7.3: scalability, fat applications",
        makes="a source, equal operators side by side and a sink on equal nodes",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.operators < 3:
            raise ValueError(f"operators: {self.operators} is below 3: ends, and one between them")

    def streams(self, names: list[str]) -> tuple[Stream, ...]:
        """From the first to all between, and from these to the last."""
        source, *middle, sink = names
        return streams_along([(source, name) for name in middle] + [(name, sink) for name in middle])
