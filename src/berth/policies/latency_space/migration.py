"""Leaving the nodes of a previous plan: whether it is worth it, and how often it happens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.model import Problem
from berth.policies.latency_space.adaptation import Prior
from berth.policies.latency_space.graph import UnitGraph
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.virtual import Virtual
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


def stay_if_little_gained(
    problem: Problem,
    graph: UnitGraph,
    hosts: Hosts,
    space: Space,
    prior: Prior,
    threshold: float,
    measured: bool,
    squared: bool,
) -> None:
    """Take units that hang together back to their old nodes where usage falls by no more than the threshold.

    Usage is by measured delays where these were probed, or else by coordinates. Who has no old node, or
    one that no longer takes it, goes where it is planned to be, and so does what hangs together with it.
    """
    moving = (graph.fixed < 0) & (hosts.node != prior.ran)
    if not moving.any():
        return
    part = _components(graph)
    for name in np.unique(part[moving]).tolist():
        units = np.flatnonzero((part == name) & (graph.fixed < 0))
        if not prior.stays[units].all():
            continue
        planned = hosts.node.copy()
        old = planned.copy()
        old[units] = prior.ran[units]
        now, before = (
            _usage(problem, graph, space, nodes, units, measured, squared) for nodes in (planned, old)
        )
        if now < before * (1.0 - threshold) * (1.0 - 1e-12):
            continue
        for unit in units.tolist():
            hosts.put(unit, int(prior.ran[unit]))
        if (hosts.room[prior.ran[units]] < 0.0).any():
            # What others took meanwhile is gone.
            for unit in units.tolist():
                hosts.put(unit, int(planned[unit]))


def _components(graph: UnitGraph) -> IndexArray:
    """Units that hang together over free ones, by the smallest of them."""
    label = np.arange(len(graph))
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.offsets))
    inner = (graph.fixed[owner] < 0) & (graph.fixed[graph.neighbours] < 0)
    sender, receiver = owner[inner], graph.neighbours[inner]
    while True:
        before = label.copy()
        np.minimum.at(label, sender, label[receiver])
        label = label[label]
        if (label == before).all():
            return label


def _usage(
    problem: Problem,
    graph: UnitGraph,
    space: Space,
    nodes: IndexArray,
    units: IndexArray,
    measured: bool,
    squared: bool,
) -> float:
    """The usage of all streams of some units; those within them count twice, as for both plans."""
    inside = np.zeros(len(graph), dtype=bool)
    inside[units] = True
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.offsets))
    touched = inside[owner]
    here, there = nodes[owner[touched]], nodes[graph.neighbours[touched]]
    if measured:
        delays = problem.network.table.delay_ms
        out, back = delays[here, there], delays[there, here]
    else:
        out = back = space.coordinates.distances(here, there)
    if squared:
        out, back = out**2, back**2
    missing = (np.isnan(out) & graph.sends[touched]) | (np.isnan(back) & graph.receives[touched])
    flows = graph.forward[touched] * np.nan_to_num(out) + graph.backward[touched] * np.nan_to_num(back)
    return float(np.where(missing, np.inf, flows).sum())


def eager_migrations(
    graph: UnitGraph, hosts: Hosts, virtual: Virtual, prior: Prior, mapped: IndexArray
) -> int:
    """How often units change their host if each follows its virtual place at once, up to the mapping."""
    present = prior.ran.copy()
    count = 0
    owner = virtual.log[:, 0].astype(np.intp)
    for unit in np.unique(owner).tolist():
        places = virtual.log[owner == unit, 1:]
        node = int(hosts.node[unit])
        hosts.take(unit)
        nodes = hosts.near(np.full(len(places), unit), places, 1)[:, 0]
        hosts.put(unit, node)
        # Where no node takes it, it stays.
        nodes = nodes[nodes >= 0]
        way = nodes if present[unit] < 0 else np.concatenate([present[unit : unit + 1], nodes])
        count += int((way[1:] != way[:-1]).sum())
        present[unit] = way[-1] if len(way) else -1
    free = (graph.fixed < 0) & (present >= 0)
    return count + int((mapped[free] != present[free]).sum())
