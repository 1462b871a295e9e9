"""Who may take a unit: nodes that host it, have room for it and reach its neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Occupied
from berth.model import Problem
from berth.policies.latency_space.graph import UnitGraph
from berth.policies.latency_space.needs import needs_of
from berth.policies.latency_space.network import NetworkFacts
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


class NoHostError(Exception):
    """A unit that no node can take; its text is the reason."""


class Hosts:
    """The nodes during one solve: where units are, and what room is left."""

    def __init__(
        self,
        problem: Problem,
        graph: UnitGraph,
        facts: NetworkFacts,
        space: Space,
        most: int | None = None,
        occupied: Occupied | None = None,
    ) -> None:
        self._problem = problem
        self._graph = graph
        self._space = space
        self._index = facts.index(space)
        self.hosting = facts.hosts
        self._hosting = facts.hosting
        self.middle = facts.middle(space)
        needs = needs_of(problem, graph, most)
        self.demand = needs.demand
        self.room = facts.room(*needs.room)
        if occupied is not None:
            self.room -= facts.occupied(occupied, *needs.room)
        """What is left at every node [nodes, resources]."""
        self.node = np.full(len(graph), -1, dtype=np.intp)
        """Where every unit is; -1: nowhere yet."""
        self.delays = None if facts.complete(problem.network, space) else problem.network.table.delay_ms
        """NaN where there is no link; None: every two nodes have one."""

    @property
    def linked(self) -> bool:
        """Whether every two nodes can exchange a stream."""
        return self.delays is None

    @property
    def unlimited(self) -> bool:
        """Whether every node that hosts takes everything."""
        return self.room.shape[1] == 0 and self.delays is None

    def put(self, unit: int, node: int) -> None:
        """Place a unit, or move it."""
        if self.node[unit] >= 0:
            self.take(unit)
        self.node[unit] = node
        self.room[node] -= self.demand[unit]

    def take(self, unit: int) -> None:
        """Take a unit off its node."""
        self.room[self.node[unit]] += self.demand[unit]
        self.node[unit] = -1

    def fits(self, unit: int, nodes: IndexArray) -> BoolArray:
        """Which nodes have room for a unit and may host it, streams aside."""
        fitting = self.hosting[nodes]
        allowed = self._graph.allowed[unit]
        if allowed is not None:
            fitting = fitting & np.isin(nodes, allowed)
        if self.room.shape[1]:
            fitting = fitting & (self.room[nodes] >= self.demand[unit]).all(axis=1)
        return np.asarray(fitting)

    def reaches(self, unit: int, nodes: IndexArray) -> BoolArray:
        """Which nodes can exchange the unit's streams with the neighbours that have a place already."""
        return self._reaches(unit, nodes, self.node)

    def _reaches(self, unit: int, nodes: IndexArray, node_of: IndexArray) -> BoolArray:
        reached = np.ones(len(nodes), dtype=bool)
        if self.delays is None:
            return reached
        graph = self._graph
        span = slice(graph.offsets[unit], graph.offsets[unit + 1])
        there = node_of[graph.neighbours[span]]
        placed = there >= 0
        sends, receives = graph.sends[span], graph.receives[span]
        for other in np.unique(there[placed & sends]).tolist():
            reached &= ~np.isnan(self.delays[nodes, other])
        for other in np.unique(there[placed & receives]).tolist():
            reached &= ~np.isnan(self.delays[other, nodes])
        return reached

    def near(self, units: IndexArray, places: FloatArray, count: int) -> IndexArray:
        """The nearest nodes to each unit's place that may host it and have room; -1 behind the last.

        They reach its pinned neighbours; whether they reach others, which may move, is not looked at.
        """
        allowed = [self._graph.allowed[unit] for unit in units.tolist()]
        if self.delays is not None:
            allowed = [self._hosting if nodes is None else nodes for nodes in allowed]
        found, _ = self._index.nearest_many(places, count, self.room, self.demand[units])
        near = np.asarray(found, dtype=np.intp)
        for row, unit in enumerate(units.tolist()):
            nodes = allowed[row]
            if nodes is not None:
                nodes = nodes[self.fits(unit, nodes) & self._reaches(unit, nodes, self._graph.fixed)]
                nodes = self._by_distance(nodes, places[row])[:count]
                near[row] = -1
                near[row, : len(nodes)] = nodes
        return near

    def least_loaded(self, unit: int, place: FloatArray, count: int) -> int:
        """Of the nearest nodes with room the one with the fewest units, the nearest of these; -1: none."""
        asked = count
        while True:
            near = self.near(np.array([unit]), place[None], asked)[0]
            nodes = near[near >= 0]
            reached = nodes[self.reaches(unit, nodes)][:count]
            if len(reached) == count or len(nodes) < asked:
                break
            asked *= 4
        loads = [int((self.node == node).sum()) for node in reached.tolist()]
        return int(reached[np.argmin(loads)]) if loads else -1

    def nearest(self, unit: int, place: FloatArray) -> int:
        """The nearest node that takes a unit; one that doesn't reach its neighbours only if no other does.

        Raises:
            NoHostError: no node that may host it has room.
        """
        for accepted in (
            lambda nodes: self.fits(unit, nodes) & self.reaches(unit, nodes),
            lambda nodes: self.fits(unit, nodes),
        ):
            found = self._nearest_where(unit, place, accepted)
            if found >= 0:
                return found
            if self.delays is None:
                break
        name = self._problem.instances.names[self._graph.first[unit]]
        raise NoHostError(f"stuck at {name}: no node that may host it has room")

    def _nearest_where(self, unit: int, place: FloatArray, accepted: object) -> int:
        allowed = self._graph.allowed[unit]
        if allowed is None:
            return self._index.nearest_where(place, accepted)  # type: ignore[arg-type]
        nodes = self._by_distance(allowed, place)
        fitting = np.flatnonzero(accepted(nodes))  # type: ignore[operator]
        return int(nodes[fitting[0]]) if len(fitting) else -1

    def _by_distance(self, nodes: IndexArray, place: FloatArray) -> IndexArray:
        coordinates = self._space.coordinates
        apart = np.sqrt(((coordinates.positions[nodes] - place) ** 2).sum(axis=1))
        return np.asarray(nodes[np.argsort(apart + coordinates.heights[nodes], kind="stable")])
