"""From virtual places to nodes: the nearest one that has room (paper 003, algorithm 1, line 2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.policies.latency_space.graph import UnitGraph
from berth.policies.latency_space.hosts import Hosts, NoHostError
from berth.policies.latency_space.pairs import PairMoves
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

NEAR = 64
"""So many near nodes are looked at for links that are missing."""


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
    traffic = np.bincount(np.repeat(np.arange(len(graph)), np.diff(graph.offsets)), graph.weights, len(graph))
    choices = [graph.allowed[unit] for unit in units.tolist()]
    choice = np.array([np.inf if nodes is None else len(nodes) for nodes in choices])
    by_traffic = units[np.lexsort((units, -traffic[units], choice, ~free[units]))]
    state = hosts.node.copy(), hosts.room.copy()
    try:
        _map_in_order(hosts, graph, space, positions, free, by_traffic, least_loaded_of)
    except NoHostError:
        hosts.node[:], hosts.room[:] = state
        there = hosts.room.max(axis=0, initial=0.0)
        size = (hosts.demand[units] / np.where(there > 0, there, 1.0)).max(axis=1, initial=0.0)
        by_size = units[np.lexsort((units, choice, -size))]
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
    span = slice(graph.offsets[unit], graph.offsets[unit + 1])
    neighbours = graph.neighbours[span]
    rates = np.where(hosts.node[neighbours] >= 0, graph.weights[span], -1.0)
    best = int(np.argmax(rates)) if len(rates) else -1
    return int(neighbours[best]) if best >= 0 and rates[best] >= 0 else -1
