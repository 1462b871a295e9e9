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
from berth.policies.latency_space.units import UnitGraph
from berth.space.coordinates import Coordinates
from berth.space.network_space import Space

NEAR = 64
"""So many near nodes are looked at for links that are missing."""
ROUNDS = 5
"""So often all pairs are looked at, unless nothing moves before."""


def put_pinned(hosts: Hosts, graph: UnitGraph) -> None:
    """Place the units that have no choice; whether there is room for them is not ours to decide."""
    for unit in np.flatnonzero(graph.fixed >= 0).tolist():
        hosts.put(unit, int(graph.fixed[unit]))


def map_to_nodes(
    hosts: Hosts,
    graph: UnitGraph,
    space: Space,
    positions: FloatArray,
    free: BoolArray,
    units: IndexArray,
    least_loaded_of: int = 1,
) -> None:
    """Give units the nearest node with room, those with the least choice and the most traffic first.

    Units that hang together with nothing pinned (not `free`) have no place of their own: they go where
    their neighbours are, or else to the middle of the network.

    Raises:
        NoHostError: no node has room for a unit, in this order nor with the largest first.
    """
    if len(units) == 0:
        return
    simple = hosts.unlimited and least_loaded_of == 1
    if simple and free[units].all() and all(graph.allowed[unit] is None for unit in units.tolist()):
        _map_at_once(hosts, positions, units)
        return
    traffic = np.bincount(graph.owner, graph.weights, len(graph))
    choices = [graph.allowed[unit] for unit in units.tolist()]
    choice = np.array([np.inf if nodes is None else len(nodes) for nodes in choices])
    by_traffic = units[np.lexsort((units, -traffic[units], choice, ~free[units]))]
    state = hosts.node.copy(), hosts.room.copy()
    try:
        _map_in_order(hosts, graph, space, positions, free, by_traffic, least_loaded_of)
    except NoHostError:
        hosts.node[:], hosts.room = state
        by_size = units[np.lexsort((units, choice, -hosts.limits.sizes()[units]))]
        _map_in_order(hosts, graph, space, positions, free, by_size, least_loaded_of)
    if not hosts.linked:
        _mend_links(hosts, graph, space, positions, units)


def _map_at_once(hosts: Hosts, positions: FloatArray, units: IndexArray) -> None:
    """The nearest node that hosts, for each unit; all have room."""
    near = hosts.near(units, positions[units], 1)[:, 0]
    for unit, node in zip(units.tolist(), near.tolist(), strict=True):
        hosts.put(unit, node)


def _map_in_order(
    hosts: Hosts,
    graph: UnitGraph,
    space: Space,
    positions: FloatArray,
    free: BoolArray,
    order: IndexArray,
    least_loaded_of: int,
) -> None:
    waiting = [int(unit) for unit in order if not free[unit]]
    for unit in order[free[order]].tolist():
        node = hosts.least_loaded(unit, positions[unit], least_loaded_of) if least_loaded_of > 1 else -1
        hosts.put(unit, node if node >= 0 else hosts.nearest(unit, positions[unit]))
    while waiting:
        # Next to a neighbour that has a node already, where there is one.
        unit = next((unit for unit in waiting if _placed_neighbour(hosts, graph, unit) >= 0), waiting[0])
        waiting.remove(unit)
        neighbour = _placed_neighbour(hosts, graph, unit)
        places = space.coordinates.positions
        place = places[hosts.node[neighbour]] if neighbour >= 0 else hosts.middle
        positions[unit] = place
        hosts.put(unit, hosts.nearest(unit, place))


def _mend_links(
    hosts: Hosts, graph: UnitGraph, space: Space, positions: FloatArray, units: IndexArray
) -> None:
    """Let units without a link to a neighbour, which came later, look for nodes together with others."""
    broken = [unit for unit in units.tolist() if not hosts.reaches(unit, hosts.node[unit : unit + 1])[0]]
    if broken:
        near = hosts.near(units, positions[units], NEAR)
        pairs = PairMoves(graph, hosts, space.coordinates, space.coordinates.heights)
        pairs.run(units, near, np.array(broken, dtype=np.intp))


def _placed_neighbour(hosts: Hosts, graph: UnitGraph, unit: int) -> int:
    """The neighbour with a node that exchanges most with a unit; -1: none has one."""
    span = graph.entries(unit)
    neighbours = graph.neighbours[span]
    rates = np.where(hosts.node[neighbours] >= 0, graph.weights[span], -1.0)
    best = int(np.argmax(rates)) if len(rates) else -1
    return int(neighbours[best]) if best >= 0 and rates[best] >= 0 else -1


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
            cost = np.where(np.isnan(delays[rows, columns]), core.NO_LINK, cost)
        if delays is not None and graph.receives[at]:
            cost = np.where(np.isnan(delays[columns, rows]), core.NO_LINK, cost)
        return np.asarray(cost)
