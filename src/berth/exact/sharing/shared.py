"""What can be shared in a problem: who may take whose result, and what taking it asks for."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.evaluation.reuse import lifted_rates

FloatArray = NDArray[np.float64]


class Shared:
    """A problem as the model of sharing sees it."""

    def __init__(self, setting: Setting, reuse: bool) -> None:
        self.setting = setting
        self.problem = setting.problem
        self.graph = setting.graph
        self.network = setting.problem.network
        self.keys = self.problem.sharing_keys
        self.reuse = reuse and self.problem.sharing
        """Whether a result may be taken from an equal operator elsewhere."""
        plain = lifted_rates(self.problem, {})
        self.throughput = plain.throughput
        """Of every operator, nothing lifted; NaN where its application asks for none."""
        self.reads = plain.reads
        """For every operator, per_s of each object that it reads."""

    @cached_property
    def equal(self) -> list[list[int]]:
        """For every operator, those that compute the same, itself included."""
        members: dict[int, list[int]] = {}
        for operator, number in enumerate(self.keys.classes.tolist()):
            members.setdefault(number, []).append(operator)
        return [members[number] for number in self.keys.classes.tolist()]

    def others(self, operator: int) -> list[int]:
        """The operators whose result an operator may take."""
        return [other for other in self.equal[operator] if other != operator] if self.reuse else []

    def sources(self, operator: int) -> list[int]:
        """The operators that may compute an operator's result: itself first."""
        return [operator, *self.others(operator)]

    def allowed(self, operator: int) -> list[int]:
        """The nodes that may host an operator."""
        nodes: list[int] = self.graph.allowed_nodes[operator].tolist()
        return nodes

    def parallelism(self, operator: int) -> int:
        """How many instances an operator has."""
        return self.graph.operators[operator].operator.parallelism

    def name(self, operator: int) -> str:
        """An operator as `application/operator`."""
        return self.graph.operators[operator].name

    def node(self, number: int) -> str:
        """A node's name."""
        return self.network.nodes[number].name

    def input_pairs(self, taker: int, giver: int) -> list[tuple[int, int]]:
        """Equal inputs of two equal operators: what is asked of the giver is asked of its inputs."""
        classes = self.keys.classes
        return [
            (above_taker, above_giver)
            for above_taker in self.graph.inputs[taker]
            for above_giver in self.graph.inputs[giver]
            if classes[above_taker] == classes[above_giver]
        ]

    @property
    def size(self) -> int:
        """About how many entries a model has: every stream and object between every two nodes."""
        nodes = len(self.network.nodes)
        streams = sum(
            len(self.graph.operators[sender].instances)
            * len(self.graph.operators[receiver].instances)
            * len(self.sources(sender))
            for sender, receiver in self.graph.stream_ends.tolist()
        )
        reads = sum(len(reads) * len(self.sources(k)) for k, reads in enumerate(self.reads))
        return (streams + reads) * nodes * nodes
