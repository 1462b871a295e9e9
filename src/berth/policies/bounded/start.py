"""Where everything is before bounds are looked at: a previous plan's hosts, else MOPA's mapping."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.model import Problem
from berth.policies.latency_space import MopaParameters, Placed, mopa_mapping
from berth.policies.latency_space.graph import UnitGraph, unit_graph
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.network import facts_of
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Start:
    """The units on their hosts."""

    graph: UnitGraph
    hosts: Hosts
    places: FloatArray
    """x*, the virtual position of every unit."""
    running: BoolArray
    """The instances that run already, by the previous plan."""
    messages: int
    """What MOPA sent."""


def start(setting: Setting, space: Space, refine: bool, seed: int) -> Start:
    """Put every unit where it is before the first move.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: MOPA's search did not end.
        BadInput: a stream's rate is not known.
    """
    problem = setting.problem
    placed = _by_mopa(problem, space, MopaParameters(refine=refine), seed)
    facts = facts_of(problem.network)
    graph = unit_graph(problem, facts)
    hosts = Hosts(problem, graph, facts, space)
    before = _previous(setting, graph)
    pinned = np.flatnonzero(graph.fixed >= 0)
    for unit in pinned.tolist():
        hosts.put(unit, int(graph.fixed[unit]))
    waiting = []
    for unit in np.flatnonzero(graph.fixed < 0).tolist():
        node = int(before[unit])
        if node >= 0 and hosts.fits(unit, np.array([node]))[0]:
            hosts.put(unit, node)
        else:
            waiting.append(unit)
    for unit in waiting:
        node = int(placed.nodes[graph.first[unit]])
        if not hosts.fits(unit, np.array([node]))[0]:
            # A previous plan's operator has its room.
            node = hosts.nearest(unit, placed.positions[graph.first[unit]])
        hosts.put(unit, node)
    running = (before >= 0) & (before == hosts.node)
    return Start(
        graph, hosts, placed.positions[graph.first], running[graph.unit_of], placed.counters["messages"]
    )


def _by_mopa(problem: Problem, space: Space, parameters: MopaParameters, seed: int) -> Placed:
    """Each application as MOPA places it alone: they come one after the other, and each is on its own."""
    parts = [
        mopa_mapping(Setting(replace(problem, applications=(application,))), space, parameters, seed)
        for application in problem.applications
    ]
    messages = sum(int(part.counters.get("messages", 0)) for part in parts)
    nodes = np.concatenate([part.nodes for part in parts])
    return Placed(nodes, np.concatenate([part.positions for part in parts]), {"messages": messages})


def _previous(setting: Setting, graph: UnitGraph) -> IndexArray:
    """Where each unit was; -1: nowhere, on a machine that is gone, or on several."""
    if setting.previous_nodes is None:
        return np.full(len(graph), -1, dtype=np.intp)
    nodes = setting.previous_nodes
    before = nodes[graph.first]
    together = np.ones(len(graph), dtype=bool)
    np.logical_and.at(together, graph.unit_of, nodes == before[graph.unit_of])
    return np.where(together & (before < len(setting.problem.network.nodes)), before, -1)
