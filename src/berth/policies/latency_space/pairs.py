"""Two neighbours that move at once, where links are missing.

Where few nodes have links to each other, an operator can rarely leave its node alone: another node has no
link to where its neighbour is. Which links there are is known without a probe, and so are distances. So two
neighbours look for the best two nodes, by estimates; nodes near these are measured by the refinement as ever.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.policies.latency_space.graph import UnitGraph
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.probing import NO_LINK
from berth.policies.latency_space.refine_kernel import LESS
from berth.space.coordinates import Coordinates

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

ROUNDS = 5
"""So often all pairs are looked at, unless nothing moves before."""


@dataclass(frozen=True, eq=False)
class PairMoves:
    """Units that move in pairs, by estimated usage."""

    graph: UnitGraph
    hosts: Hosts
    """Where units are; changed."""
    coordinates: Coordinates
    residuals: FloatArray
    """What each node adds to its distances."""
    squared: bool = False

    def run(self, units: IndexArray, near: IndexArray, first: IndexArray) -> IndexArray:
        """Move units that are neighbours to the best of the nodes near them, as long as usage falls.

        Only pairs with one of the `first` units are looked at. Returns these and all that have moved.
        """
        graph, concerned = self.graph, set(first.tolist())
        row_of = {unit: row for row, unit in enumerate(units.tolist())}
        entries = [
            (unit, at)
            for unit in units.tolist()
            for at in range(graph.offsets[unit], graph.offsets[unit + 1])
            if graph.neighbours[at] > unit
            and graph.neighbours[at] in row_of
            and (unit in concerned or graph.neighbours[at] in concerned)
        ]
        for _ in range(ROUNDS):
            moved = [
                (unit, int(graph.neighbours[at]))
                for unit, at in entries
                if self._move(unit, at, near, row_of)
            ]
            if not moved:
                break
            concerned.update(*moved)
        return np.array(sorted(concerned), dtype=np.intp)

    def _move(self, unit: int, at: int, near: IndexArray, row_of: dict[int, int]) -> bool:
        """Bring both ends of an entry of the graph to the best two nodes; whether they moved."""
        hosts, other = self.hosts, int(self.graph.neighbours[at])
        before = int(hosts.node[unit]), int(hosts.node[other])
        hosts.take(unit)
        hosts.take(other)
        mine = self._choices(unit, before[0], near[row_of[unit]])
        its = self._choices(other, before[1], near[row_of[other]])
        usage = self._usage(unit, mine, other)[:, None] + self._usage(other, its, unit)[None, :]
        usage += self._cost(at, mine, its)
        both = hosts.demand[unit] + hosts.demand[other]
        crowded = (hosts.room[mine] < both).any(axis=1)
        usage[crowded[:, None] & (mine[:, None] == its[None, :])] = np.inf
        best = int(np.argmin(usage))
        # Choices begin with the nodes where both are.
        moves = bool(usage.flat[best] < usage[0, 0] * LESS)
        row, column = divmod(best if moves else 0, len(its))
        hosts.put(unit, int(mine[row]))
        hosts.put(other, int(its[column]))
        return moves

    def _choices(self, unit: int, present: int, near: IndexArray) -> IndexArray:
        nodes = near[(near >= 0) & (near != present)]
        return np.append(present, nodes[self.hosts.fits(unit, nodes)]).astype(np.intp)

    def _usage(self, unit: int, nodes: IndexArray, mate: int) -> FloatArray:
        """What a unit's streams cost on each of some nodes, but for those with its mate."""
        graph = self.graph
        total = np.zeros(len(nodes))
        for at in range(graph.offsets[unit], graph.offsets[unit + 1]):
            other = int(graph.neighbours[at])
            if other != mate and self.hosts.node[other] >= 0:
                total += self._cost(at, nodes, self.hosts.node[other : other + 1])[:, 0]
        return total

    def _cost(self, at: int, here: IndexArray, there: IndexArray) -> FloatArray:
        """What the streams of an entry of the graph cost between nodes [here, there], as estimated."""
        graph, places = self.graph, self.coordinates.positions
        rows, columns = here[:, None], there[None, :]
        apart = np.sqrt(((places[rows] - places[columns]) ** 2).sum(axis=2))
        apart = np.maximum(apart + self.residuals[rows] + self.residuals[columns], 0.0)
        cost = (graph.forward[at] + graph.backward[at]) * (apart**2 if self.squared else apart)
        cost[rows == columns] = 0.0
        delays = self.hosts.delays
        if delays is not None and graph.sends[at]:
            cost = np.where(np.isnan(delays[rows, columns]), NO_LINK, cost)
        if delays is not None and graph.receives[at]:
            cost = np.where(np.isnan(delays[columns, rows]), NO_LINK, cost)
        return np.asarray(cost)
