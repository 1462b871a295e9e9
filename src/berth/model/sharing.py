"""Which operators compute the same thing (paper 004): equality classes over all applications."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.model.instances import InstanceGraph

IndexArray = NDArray[np.intp]


def computation_classes(graph: InstanceGraph) -> list[int]:
    """A class for every operator; equal operators have the same one.

    Operators with a type are equal when the type, the multiset of their inputs (recursively) and
    the set of objects that they read are equal. Without a type, or with neither inputs nor reads,
    an operator equals only itself.
    """
    classes: list[int] = [-1] * len(graph.operators)
    known: dict[object, int] = {}
    for number in graph.operator_order:
        operator = graph.operators[number].operator
        inputs = graph.inputs[number]
        key: object = ("alone", number)
        if _shareable(graph, number):
            objects = frozenset(read.object for read in operator.reads)
            key = (operator.type, tuple(sorted(classes[sender] for sender in inputs)), objects)
        classes[number] = known.setdefault(key, len(known))
    return classes


class SharingKeys:
    """Keys that are equal exactly for equal computations and equal results."""

    def __init__(self, graph: InstanceGraph, allowed: bool) -> None:
        self._graph = graph
        self._shareable = np.array([allowed and _shareable(graph, k) for k in range(len(graph.operators))])
        self.possible = bool(self._shareable.any())
        """Whether anything can count once for two users at all."""

    @cached_property
    def matters(self) -> bool:
        """Whether some plan's value depends on it: an equal operator, or a result with several users."""
        graph = self._graph
        shared = [k for k in range(len(graph.operators)) if self.possible and self._shareable[k]]
        if len({int(self.classes[k]) for k in shared}) < len(shared):
            return True
        several = [len(graph.consumers[k]) > 1 for k in shared]
        to_all = {
            int(sender)
            for stream, (sender, receiver) in zip(graph.streams, graph.stream_ends.tolist(), strict=True)
            if stream.grouping == "all" and self._parallelism[receiver] > 1
        }
        return any(several) or not to_all.isdisjoint(shared)

    @cached_property
    def classes(self) -> IndexArray:
        """The equality class of every operator."""
        return np.array(computation_classes(self._graph), dtype=np.intp)

    @cached_property
    def _parallelism(self) -> IndexArray:
        return np.array([item.operator.parallelism for item in self._graph.operators], dtype=np.intp)

    @cached_property
    def _instance_number(self) -> IndexArray:
        first = np.array([item.first for item in self._graph.operators], dtype=np.intp)
        return np.arange(len(self._graph)) - first[self._graph.operator_of]

    def computation_keys(self, instances: IndexArray) -> IndexArray:
        """A number for every instance; two of them compute the same if it is the same."""
        operator = self._graph.operator_of[instances]
        width = int(self._parallelism.max()) + 1
        key = (self.classes[operator] * width + self._parallelism[operator]) * width
        key = key + self._instance_number[instances]
        return np.where(self._shareable[operator], key, -1 - instances)

    def result_keys(self, senders: IndexArray, receivers: IndexArray, streams: IndexArray) -> IndexArray:
        """A number for what each pair transfers; the same for the same part of an equal result."""
        operator = self._graph.operator_of[receivers]
        split = np.array([stream.grouping == "shuffle" for stream in self._graph.streams], dtype=bool)[
            streams
        ]
        split &= self._parallelism[operator] > 1
        width = int(self._parallelism.max()) + 1
        part = self._parallelism[operator] * width + self._instance_number[receivers]
        computation = np.unique(self.computation_keys(senders), return_inverse=True)[1]
        key = computation * width * width + np.where(split, part, 0)
        shared = self._shareable[self._graph.operator_of[senders]]
        return np.where(shared, key, -1 - np.arange(len(senders)))


def _shareable(graph: InstanceGraph, operator: int) -> bool:
    """Whether a result may count once for several users: it has a type, and inputs or reads."""
    values = graph.operators[operator].operator
    return values.type is not None and bool(graph.inputs[operator] or values.reads)
