"""What is left of nodes that many graphs share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Occupied
from berth.model import Network, Problem
from berth.space import space_of

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Part:
    """What one operator takes of one node."""

    operator: str
    chosen: bool
    """Whether it could go elsewhere, too."""
    single: bool
    """Whether all its instances are on this node."""
    node: int
    amounts: FloatArray
    """A number for each column of room."""


class SharedRoom:
    """What is taken of every node, in columns: resources, processor, places for operators with a choice."""

    def __init__(self, resources: Sequence[str], taken: FloatArray, most: float = np.inf) -> None:
        """Of which resources, what is taken [nodes, columns], and how many operators a node may have."""
        self.resources = tuple(resources)
        self.taken = taken
        self.most = most

    @staticmethod
    def of(network: Network, most: float) -> SharedRoom:
        """All of a network's nodes, with nothing taken."""
        names = sorted({name for node in network.nodes for name in node.capacity})
        return SharedRoom(names, np.zeros((len(network.nodes), len(names) + 2)), most)

    def occupied(self) -> Occupied:
        """As policies and the judge want it."""
        amounts = {name: self.taken[:, number] for number, name in enumerate(self.resources)}
        return Occupied(amounts, busy=self.taken[:, -2], operators=self.taken[:, -1])

    def left(self, network: Network, nodes: IndexArray) -> FloatArray:
        """What some nodes have left [nodes, columns]."""
        there = [network.capacity(name)[nodes] for name in self.resources]
        there += [np.ones(len(nodes)), np.full(len(nodes), self.most)]
        return np.maximum(np.stack(there, axis=1) - self.taken[nodes], 0.0)

    def take(self, parts: Sequence[Part]) -> None:
        """Take what operators need."""
        for part in parts:
            self.taken[part.node] += part.amounts

    @contextmanager
    def lent(self, parts: Sequence[Part]) -> Iterator[None]:
        """For a while without what a graph holds itself: policies count again what is pinned.

        But for the places of operators: those that are pinned need none.
        """
        before = [self.taken[part.node].copy() for part in parts]
        for part in parts:
            self.taken[part.node, :-1] -= part.amounts[:-1]
        try:
            yield
        finally:
            for part, row in zip(reversed(parts), reversed(before), strict=True):
                self.taken[part.node] = row

    def parts_of(self, problem: Problem, assignment: Mapping[str, str]) -> list[Part]:
        """What each operator takes of each of its nodes; those that have none are left out."""
        graph, network = problem.instances, problem.network
        demands = [graph.demand(name) for name in self.resources]
        work = np.nan_to_num(graph.throughput_share) * graph.work_ms / 1000.0
        parts = []
        for item in graph.operators:
            names = [graph.names[number] for number in item.instances]
            if not all(name in assignment for name in names):
                continue
            home = np.array([network.index[assignment[name]] for name in names])
            chosen = item.operator.candidates is None or len(item.operator.candidates) > 1
            for node in np.unique(home).tolist():
                here = np.array(item.instances)[home == node]
                amounts = [float(demand[here].sum()) for demand in demands]
                amounts += [float(work[here].sum() / network.speed[node]), float(len(here) if chosen else 0)]
                single = bool((home == node).all())
                parts.append(Part(item.operator.name, chosen, single, node, np.array(amounts)))
        return parts

    def without(self, crowded: Sequence[tuple[int, int]], network: Network, seed: int) -> SharedRoom:
        """The same without the nodes with room nearest to crowded ones, as many as others will fill first."""
        space = space_of(network, seed)
        places = space.coordinates.positions
        taken = self.taken.copy()
        for node, ahead in crowded:
            near, _ = space.index.nearest(places[node], min(2 * ahead + 16, len(places)))
            open_ones = near[(self.left(network, near) > 0.0).all(axis=1)]
            taken[open_ones[:ahead]] = np.inf
        return SharedRoom(self.resources, taken, self.most)
