"""Who may take a unit: nodes that host it, have room for it and reach its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.core import space as core
from berth.evaluation import Setting
from berth.evaluation.limits import SAFE_TOLERANCE, place_limits
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.latency_space.units import UnitGraph
from berth.space.network_space import Space


@dataclass(frozen=True, eq=False)
class UnitLimits:
    """What units need of every limit, the place of every node, and what room there is at each place."""

    needed: FloatArray
    """[limits, units]."""
    place_of_node: list[IndexArray]
    there: list[FloatArray]

    def room(self) -> core.Room:
        """All of it, for one solve to take from."""
        return core.Room(self.needed, self.place_of_node, self.there)

    def sizes(self) -> FloatArray:
        """The largest share that each unit needs of the roomiest place, over all limits."""
        most = np.array([room.max(initial=0.0) for room in self.there])
        return np.asarray((self.needed / np.where(most > 0, most, 1.0)[:, None]).max(axis=0, initial=0.0))


def limits_of_units(setting: Setting, graph: UnitGraph, most: int | None = None) -> UnitLimits:
    """The limits of a problem's places by unit; `most` operators with a choice may share a node."""
    limits = [(limit.needed, limit.place_of, limit.room) for limit in place_limits(setting) if limit.matters]
    if most is not None:
        # Pinned ones run nothing in this model.
        counted = (graph.fixed[graph.unit_of] < 0).astype(np.float64)
        free = np.full(len(setting.problem.network.nodes), float(most))
        taken = 0.0 if setting.occupied is None else setting.occupied.operators
        limits.append((counted, np.arange(len(free)), free - taken))
    needed = [np.bincount(graph.unit_of, by_instance, len(graph)) for by_instance, _, _ in limits]
    return UnitLimits(
        np.array(needed, dtype=np.float64).reshape(len(limits), len(graph)),
        [place_of for _, place_of, _ in limits],
        [room + SAFE_TOLERANCE * np.abs(room) for _, _, room in limits],
    )


class NoHostError(Exception):
    """A unit that no node can take; its text is the reason."""


class Hosts:
    """The nodes during one solve: where units are, and what room is left."""

    def __init__(self, setting: Setting, graph: UnitGraph, space: Space, most: int | None = None) -> None:
        self.setting, self.graph, self.space = setting, graph, space
        self.limits = limits_of_units(setting, graph, most)
        self.room = self.limits.room()
        """What is left at every place."""
        self.node = np.full(len(graph), -1, dtype=np.intp)
        """Where every unit is; -1: nowhere yet."""
        self.delays = None if space.linked else space.table.delay_ms
        """NaN where there is no link; None: every two nodes have one."""
        # Whether there is room for those that have no choice is not ours to decide.
        for unit in np.flatnonzero(graph.fixed >= 0).tolist():
            self.put(unit, int(graph.fixed[unit]))

    @property
    def unlimited(self) -> bool:
        """Whether every node that hosts takes everything."""
        return self.room.limits == 0 and self.delays is None

    def put(self, unit: int, node: int) -> None:
        """Place a unit, or move it."""
        if self.node[unit] >= 0:
            self.take(unit)
        self.node[unit] = node
        self.room.put(unit, node)

    def take(self, unit: int) -> None:
        """Take a unit off its node."""
        self.room.take(unit, int(self.node[unit]))
        self.node[unit] = -1

    def fits(self, unit: int, nodes: IndexArray) -> BoolArray:
        """Which nodes have room for a unit and may host it, streams aside."""
        fitting = self.space.hosts[nodes]
        allowed = self.graph.allowed[unit]
        if allowed is not None:
            fitting = fitting & np.isin(nodes, allowed)
        if self.room.limits:
            fitting = fitting & self.room.fits(unit, nodes)
        return np.asarray(fitting)

    def reaches(self, unit: int, nodes: IndexArray) -> BoolArray:
        """Which nodes can exchange the unit's streams with the neighbours that have a place already."""
        return self._reaches(unit, nodes, self.node)

    def _reaches(self, unit: int, nodes: IndexArray, node_of: IndexArray) -> BoolArray:
        reached = np.ones(len(nodes), dtype=bool)
        if self.delays is None:
            return reached
        graph = self.graph
        span = graph.entries(unit)
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
        allowed = [self.graph.allowed[unit] for unit in units.tolist()]
        if self.delays is not None:
            allowed = [self.space.hosting if nodes is None else nodes for nodes in allowed]
        found, _ = self.space.host_index.nearest_many(places, count, self.room, units)
        near = np.asarray(found, dtype=np.intp)
        for row, unit in enumerate(units.tolist()):
            nodes = allowed[row]
            if nodes is not None:
                nodes = nodes[self.fits(unit, nodes) & self._reaches(unit, nodes, self.graph.fixed)]
                nodes = self._by_distance(nodes, places[row])[:count]
                near[row] = -1
                near[row, : len(nodes)] = nodes
        return near

    def nearest(self, unit: int, place: FloatArray, count: int = 1) -> IndexArray:
        """The nearest nodes that take a unit, at most so many and at least one.

        One that doesn't reach its neighbours is there only if no other does, and then alone.

        Raises:
            NoHostError: no node that may host it has room.
        """
        allowed = self.graph.allowed[unit]
        if allowed is None and self.delays is None:
            found = self.near(np.array([unit]), place[None], count)[0]
            found = found[found >= 0]
        else:
            nodes = self.space.hosting if allowed is None else allowed
            nodes = nodes[self.fits(unit, nodes)]
            reaching = nodes[self.reaches(unit, nodes)]
            if len(reaching):
                found = self._by_distance(reaching, place)[:count]
            else:
                found = self._by_distance(nodes, place)[:1]
        if len(found) == 0:
            raise NoHostError(f"stuck at {self.graph.names[unit]}: no node that may host it has room")
        return np.asarray(found)

    def _by_distance(self, nodes: IndexArray, place: FloatArray) -> IndexArray:
        away = self.space.coordinates.distances_from(place, nodes)
        return np.asarray(nodes[np.argsort(away, kind="stable")])
