"""A forest over the free units: the order in which least costs can be summed up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.policies.latency_space.graph import UnitGraph

IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Forest:
    """Units as trees; pinned ones are trees of their own."""

    parent: IndexArray
    """-1 for a root."""
    entry: IndexArray
    """The entry of the graph for the streams between a unit and its parent, the unit's own; -1 for a root."""
    order: IndexArray
    """Parents before children."""
    closing: IndexArray
    """Entries of streams that would close a circle, each once, those of the later unit in the order."""

    @property
    def complete(self) -> bool:
        """Whether all streams between free units are in the forest."""
        return len(self.closing) == 0


def spanning_forest(graph: UnitGraph) -> Forest:
    """A forest with the streams of the highest rates, so that what it leaves out matters least."""
    size = len(graph)
    owner = np.repeat(np.arange(size), np.diff(graph.offsets))
    free = graph.fixed < 0
    inner = np.flatnonzero(free[owner] & free[graph.neighbours] & (owner < graph.neighbours))
    inner = inner[np.argsort(-graph.weights[inner], kind="stable")]
    tree: list[list[int]] = [[] for _ in range(size)]
    label = np.arange(size)
    for at in inner.tolist():
        one, other = int(owner[at]), int(graph.neighbours[at])
        if label[one] != label[other]:
            label[label == label[other]] = label[one]
            tree[one].append(other)
            tree[other].append(one)
    parent, entry = np.full(size, -1, dtype=np.intp), np.full(size, -1, dtype=np.intp)
    order: list[int] = []
    reached = np.zeros(size, dtype=bool)
    for root in range(size):
        waiting = [] if reached[root] else [root]
        reached[root] = True
        while waiting:
            unit = waiting.pop()
            order.append(unit)
            for other in sorted(tree[unit], reverse=True):
                if not reached[other]:
                    reached[other] = True
                    parent[other], entry[other] = unit, entry_of(graph, other, unit)
                    waiting.append(other)
    return Forest(parent, entry, np.array(order, dtype=np.intp), _closing(graph, parent, order))


def _closing(graph: UnitGraph, parent: IndexArray, order: list[int]) -> IndexArray:
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.offsets))
    free = graph.fixed < 0
    inner = free[owner] & free[graph.neighbours] & (rank[owner] > rank[graph.neighbours])
    return np.flatnonzero(inner & (parent[owner] != graph.neighbours))


def entry_of(graph: UnitGraph, unit: int, neighbour: int) -> int:
    """The entry of the graph for the streams from a unit to its neighbour."""
    start, stop = graph.offsets[unit], graph.offsets[unit + 1]
    return int(start + np.searchsorted(graph.neighbours[start:stop], neighbour))
