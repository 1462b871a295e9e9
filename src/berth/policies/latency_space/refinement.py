"""Refinement after the mapping: near nodes are tried by measured delays, each probe a message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.model import Problem
from berth.policies.latency_space.graph import UnitGraph
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.refine_kernel import refine
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

LOOKED_AT = 32
"""As many of the nearest nodes are compared by their coordinates; the best of them are probed."""
LOOKED_AT_BY_COORDINATES = 12
"""The same where delays come from coordinates: these don't err, so the best node is a near one."""
PART = 24
"""As many units are refined at once; what is beyond waits where it is."""


@dataclass
class Refined:
    """What a refinement took."""

    probes: int = 0
    moves: int = 0


def refine_nodes(
    problem: Problem,
    graph: UnitGraph,
    hosts: Hosts,
    space: Space,
    positions: FloatArray,
    first: IndexArray,
    before: IndexArray | None,
    residuals: FloatArray,
    most_nodes: int,
    most_tries: int,
    squared: bool = False,
) -> Refined:
    """Move units to nodes where the measured usage of their streams is lower.

    Args:
        problem: what is placed.
        graph: its units.
        hosts: where they are; changed.
        space: the nodes' coordinates.
        positions: the units' virtual places.
        first: the units that try first.
        before: the units' nodes that run at present, between which delays are known; None: as mapped.
        residuals: what each node adds to its distances.
        most_nodes: nodes to probe in a try.
        most_tries: tries of a unit.
        squared: by squared delays.
    """
    done = Refined()
    if len(first) == 0:
        return done
    movable = graph.fixed < 0
    wanted = np.zeros(len(graph), dtype=bool)
    wanted[first] = True
    if before is None:
        before = hosts.node.copy()
    for part in _parts(graph, movable):
        starting = part[wanted[part]]
        if len(part) <= PART and len(starting) == 0:
            continue
        inside = np.zeros(len(graph), dtype=bool)
        inside[part] = True
        _refine_part(
            problem, graph, hosts, space, positions, starting, inside, before, residuals, most_nodes,
            most_tries, squared, done,
        )  # fmt: skip
    return done


def _parts(graph: UnitGraph, movable: BoolArray) -> Iterator[IndexArray]:
    """The movable units in parts of bounded size, neighbours in one part where possible."""
    units = np.flatnonzero(movable)
    if len(units) <= PART:
        yield units
        return
    left = movable.copy()
    part: list[int] = []
    waiting: list[int] = []
    for start in units.tolist():
        waiting.append(start)
        while waiting:
            unit = waiting.pop(0)
            if not left[unit]:
                continue
            left[unit] = False
            part.append(unit)
            if len(part) == PART:
                yield np.array(sorted(part), dtype=np.intp)
                part = []
            waiting += graph.neighbours[graph.offsets[unit] : graph.offsets[unit + 1]].tolist()
    if part:
        yield np.array(sorted(part), dtype=np.intp)


def _refine_part(
    problem: Problem,
    graph: UnitGraph,
    hosts: Hosts,
    space: Space,
    positions: FloatArray,
    first: IndexArray,
    inside: BoolArray,
    before: IndexArray,
    residuals: FloatArray,
    most_nodes: int,
    most_tries: int,
    squared: bool,
    done: Refined,
) -> None:
    units = np.flatnonzero(inside)
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.offsets))
    touching = graph.neighbours[inside[owner]]
    delays = problem.network.table.delay_ms
    count = LOOKED_AT if space.computed or isinstance(delays, np.ndarray) else LOOKED_AT_BY_COORDINATES
    near = _near(graph, hosts, space, positions, units, count)
    candidates = np.concatenate([near.ravel(), hosts.node[units], hosts.node[touching], before[units]])
    nodes = np.unique(candidates[candidates >= 0])
    local = np.full(len(graph), -1, dtype=np.intp)
    there = hosts.node >= 0
    local[there] = np.searchsorted(nodes, hosts.node[there])
    local_near = np.full((len(graph), near.shape[1] + 1), -1, dtype=np.intp)
    local_near[units, :-1] = np.where(near >= 0, np.searchsorted(nodes, near), -1)
    back = before[units] >= 0
    local_near[units[back], -1] = np.searchsorted(nodes, before[units[back]])
    known = np.eye(len(nodes), dtype=bool)
    ran = (before[owner] >= 0) & (before[graph.neighbours] >= 0) & inside[owner]
    ends = before[owner[ran]], before[graph.neighbours[ran]]
    spots = np.searchsorted(nodes, ends[0]), np.minimum(np.searchsorted(nodes, ends[1]), len(nodes) - 1)
    seen = nodes[spots[1]] == ends[1]
    known[spots[0][seen], spots[1][seen]] = True
    known |= known.T
    room = hosts.room[nodes]
    probes, moves, _ = refine(
        graph.offsets,
        graph.neighbours,
        graph.forward,
        graph.backward,
        graph.sends,
        graph.receives,
        inside,
        first,
        local,
        local_near,
        _may_host(graph, hosts, nodes, units),
        hosts.demand,
        room,
        space.coordinates.positions[nodes],
        residuals[nodes],
        np.ascontiguousarray(delays[nodes[:, None], nodes[None, :]]),
        known,
        most_nodes,
        most_tries,
        squared,
    )
    hosts.room[nodes] = room
    hosts.node[units] = nodes[local[units]]
    done.probes += int(probes)
    done.moves += int(moves)


def _near(
    graph: UnitGraph, hosts: Hosts, space: Space, positions: FloatArray, units: IndexArray, count: int
) -> IndexArray:
    """The nearest nodes to each unit's place, -1 behind the last."""
    if all(graph.allowed[unit] is None for unit in units.tolist()):
        return np.asarray(space.index.nearest_many(positions[units], count)[0], dtype=np.intp)
    near = np.full((len(units), count), -1, dtype=np.intp)
    for row, unit in enumerate(units.tolist()):
        found = hosts.near(unit, positions[unit], count)
        near[row, : len(found)] = found
    return near


def _may_host(graph: UnitGraph, hosts: Hosts, nodes: IndexArray, units: IndexArray) -> BoolArray:
    """Whether each unit may be on each of the nodes, whatever their room."""
    may = np.zeros((len(graph), len(nodes)), dtype=bool)
    may[units] = hosts.hosting[nodes]
    for unit in units.tolist():
        allowed = graph.allowed[unit]
        if allowed is not None:
            may[unit] &= np.isin(nodes, allowed)
    return may
