"""What `sequential` and `fat` share: equal operators and equal nodes (paper 000, table 2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from berth.generators.applications import some_hosts
from berth.generators.measured import Delays, normal_delays
from berth.generators.settings import MOST_NODES, MOST_OPERATORS, Settings, setting
from berth.model import Application, Network, Node, Operator, Problem, Stream


@dataclass(frozen=True)
class UniformParameters(Settings):
    """What users may set."""

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


class Uniform(ABC):
    """A graph of equal operators on equal nodes."""

    parameters: type = UniformParameters
    counts_nodes = "nodes"

    def network(self, parameters: Any, rng: np.random.Generator, measured: Delays | None) -> Network:
        """Nodes of one capacity."""
        between = measured or normal_delays(
            parameters.nodes, parameters.mean_delay_ms, parameters.delay_deviation_ms, rng
        )
        nodes = tuple(Node(name, capacity={"cpu": parameters.capacity}) for name in between.names)
        return Network(nodes, matrices=between.matrices)

    def problem(self, parameters: Any, rng: np.random.Generator, network: Network) -> Problem:
        """One application; wanted is the least response time."""
        names = [f"o{number}" for number in range(parameters.operators)]
        operators = tuple(
            Operator(
                name,
                candidates=some_hosts(network, parameters.candidates, rng),
                demand={"cpu": 1},
                work_ms=parameters.work_ms,
                emits_bytes_per_s=parameters.emits_bytes_per_s if name == names[0] else None,
            )
            for name in names
        )
        return Problem("uniform", network, (Application("a", operators, self.streams(names)),))

    @abstractmethod
    def streams(self, names: list[str]) -> tuple[Stream, ...]:
        """Who sends to whom."""
