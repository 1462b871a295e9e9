"""From virtual places to nodes: the nearest one that has room (paper 003, algorithm 1, line 2).

Where few nodes have links to each other, an operator can rarely leave its node alone: another node has no
link to where its neighbour is. Which links there are is known without a probe, and so are distances. So two
neighbours then look for the best two nodes at once, by estimates (`PairMoves`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.core import space as core
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.latency_space.hosts import Hosts, NoHostError

NEAR = 64
"""So many near nodes are looked at for links that are missing."""
ROUNDS = 5
"""So often all pairs are looked at, unless nothing moves before."""


def map_to_nodes(
    hosts: Hosts, positions: FloatArray, free: BoolArray, units: IndexArray, least_loaded_of: int = 1
) -> None:
    """Give units the nearest node with room, those with the least choice and the most traffic first.

    Units that hang together with nothing pinned (not `free`) have no place of their own: they go where
    their neighbours are, or else to the middle of the network.

    Args:
        hosts: where units are; changed.
        positions: the units' places; those of units that are not free are set.
        free: the units that have a place.
        units: those to map.
        least_loaded_of: of so many nearest nodes the one with the fewest units is taken.

    Raises:
        NoHostError: no node has room for a unit, in this order nor with the largest first.
    """
    graph = hosts.graph
    if len(units) == 0:
        return
    choices = [graph.allowed[unit] for unit in units.tolist()]
    if (
        hosts.unlimited
        and least_loaded_of == 1
        and free[units].all()
        and all(nodes is None for nodes in choices)
    ):
        # All have room on their nearest node.
        near = hosts.near(units, positions[units], 1)[:, 0]
        for unit, node in zip(units.tolist(), near.tolist(), strict=True):
            hosts.put(unit, node)
        return
    traffic = np.bincount(graph.owner, graph.weights, len(graph))
    choice = np.array([np.inf if nodes is None else len(nodes) for nodes in choices])
    by_traffic = units[np.lexsort((units, -traffic[units], choice, ~free[units]))]
    state = hosts.node.copy(), hosts.room.copy()
    try:
        _map_in_order(hosts, positions, free, by_traffic, least_loaded_of)
    except NoHostError:
        hosts.node[:], hosts.room = state
        by_size = units[np.lexsort((units, choice, -hosts.limits.sizes()[units]))]
        _map_in_order(hosts, positions, free, by_size, least_loaded_of)
    if hosts.delays is not None:
        _mend_links(hosts, positions, units)


def _map_in_order(
    hosts: Hosts, positions: FloatArray, free: BoolArray, order: IndexArray, least_loaded_of: int
) -> None:
    for unit in order[free[order]].tolist():
        near = hosts.nearest(unit, positions[unit], least_loaded_of)
        hosts.put(unit, int(near[np.argmin([(hosts.node == node).sum() for node in near])]))
    waiting = order[~free[order]].tolist()
    while waiting:
        # Next to a neighbour that has a node already, where there is one.
        unit = next((unit for unit in waiting if _placed_neighbour(hosts, unit) >= 0), waiting[0])
        waiting.remove(unit)
        neighbour = _placed_neighbour(hosts, unit)
        places = hosts.space.coordinates.positions
        positions[unit] = places[hosts.node[neighbour]] if neighbour >= 0 else hosts.space.middle
        hosts.put(unit, int(hosts.nearest(unit, positions[unit])[0]))


def _mend_links(hosts: Hosts, positions: FloatArray, units: IndexArray) -> None:
    """Let units without a link to a neighbour, which came later, look for nodes together with others."""
    broken = [unit for unit in units.tolist() if not hosts.reaches(unit, hosts.node[unit : unit + 1])[0]]
    if broken:
        near = hosts.near(units, positions[units], NEAR)
        pairs = PairMoves(hosts, hosts.space.coordinates.heights)
        pairs.run(units, near, np.array(broken, dtype=np.intp))


def _placed_neighbour(hosts: Hosts, unit: int) -> int:
    """The neighbour with a node that exchanges most with a unit; -1: none has one."""
    span = hosts.graph.entries(unit)
    neighbours = hosts.graph.neighbours[span]
    rates = np.where(hosts.node[neighbours] >= 0, hosts.graph.weights[span], -1.0)
    best = int(np.argmax(rates)) if len(rates) else -1
    return int(neighbours[best]) if best >= 0 and rates[best] >= 0 else -1


@dataclass(frozen=True, eq=False)
class PairMoves:
    """Units that move in pairs, by estimated usage."""

    hosts: Hosts
    """Where units are; changed."""
    residuals: FloatArray
    """What each node adds to its distances."""
    squared: bool = False

    def run(self, units: IndexArray, near: IndexArray, first: IndexArray) -> IndexArray:
        """Move units that are neighbours to the best of the nodes near them, as long as usage falls.

        Only pairs with one of the `first` units are looked at. Returns these and all that have moved.
        """
        graph, concerned = self.hosts.graph, set(first.tolist())
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
        hosts, other = self.hosts, int(self.hosts.graph.neighbours[at])
        before = int(hosts.node[unit]), int(hosts.node[other])
        hosts.take(unit)
        hosts.take(other)
        mine = self._choices(unit, before[0], near[row_of[unit]])
        its = self._choices(other, before[1], near[row_of[other]])
        usage = self._usage(unit, mine, other)[:, None] + self._usage(other, its, unit)[None, :]
        usage += self._cost(at, mine, its)
        usage[~hosts.room.fit_pairs(unit, other, mine, its)] = np.inf
        best = int(np.argmin(usage))
        # Choices begin with the nodes where both are.
        moves = bool(usage.flat[best] < usage[0, 0] * core.LESS)
        row, column = divmod(best if moves else 0, len(its))
        hosts.put(unit, int(mine[row]))
        hosts.put(other, int(its[column]))
        return moves

    def _choices(self, unit: int, present: int, near: IndexArray) -> IndexArray:
        nodes = near[(near >= 0) & (near != present)]
        return np.append(present, nodes[self.hosts.fits(unit, nodes)]).astype(np.intp)

    def _usage(self, unit: int, nodes: IndexArray, mate: int) -> FloatArray:
        """What a unit's streams cost on each of some nodes, but for those with its mate."""
        graph = self.hosts.graph
        total = np.zeros(len(nodes))
        for at in range(graph.offsets[unit], graph.offsets[unit + 1]):
            other = int(graph.neighbours[at])
            if other != mate and self.hosts.node[other] >= 0:
                total += self._cost(at, nodes, self.hosts.node[other : other + 1])[:, 0]
        return total

    def _cost(self, at: int, here: IndexArray, there: IndexArray) -> FloatArray:
        """What the streams of an entry of the graph cost between nodes [here, there], as estimated."""
        graph, places = self.hosts.graph, self.hosts.space.coordinates.positions
        rows, columns = here[:, None], there[None, :]
        apart = np.sqrt(((places[rows] - places[columns]) ** 2).sum(axis=2))
        apart = np.maximum(apart + self.residuals[rows] + self.residuals[columns], 0.0)
        cost = (graph.forward[at] + graph.backward[at]) * (apart**2 if self.squared else apart)
        cost[rows == columns] = 0.0
        delays = self.hosts.delays
        if delays is not None and graph.sends[at]:
            cost = np.where(np.isnan(delays[rows, columns]), core.NO_LINK, cost)
        if delays is not None and graph.receives[at]:
            cost = np.where(np.isnan(delays[columns, rows]), core.NO_LINK, cost)
        return np.asarray(cost)
