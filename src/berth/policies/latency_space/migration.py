"""Leaving the nodes of a previous plan: whether it is worth it, and how often it happens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
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
        (broken, now), (broken_before, before) = (
            _usage(problem, graph, space, nodes, units, measured, squared) for nodes in (planned, old)
        )
        better = now < before * (1.0 - threshold) * (1.0 - 1e-12)
        if broken < broken_before or (broken == broken_before and better):
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
) -> tuple[int, float]:
    """Streams of some units that have no link, and the usage of the others; those within count twice."""
    inside = np.zeros(len(graph), dtype=bool)
    inside[units] = True
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.offsets))
    touched = inside[owner]
    here, there = nodes[owner[touched]], nodes[graph.neighbours[touched]]
    # Whether there is a link needs no probe, so that is looked at in any case.
    delays = problem.network.table.delay_ms
    out, back = delays[here, there], delays[there, here]
    missing = (np.isnan(out) & graph.sends[touched]) | (np.isnan(back) & graph.receives[touched])
    if not measured:
        out = back = space.coordinates.distances(here, there)
    if squared:
        out, back = out**2, back**2
    flows = graph.forward[touched] * np.nan_to_num(out) + graph.backward[touched] * np.nan_to_num(back)
    return int(missing.sum()), float(flows[~missing].sum())


def eager_migrations(
    setting: Setting, graph: UnitGraph, hosts: Hosts, virtual: Virtual, mapped: IndexArray
) -> int:
    """How often instances change their host if each follows its virtual place at once, up to the mapping."""
    first = mapped.copy()
    changes = np.zeros(len(graph), dtype=np.intp)
    owner = virtual.log[:, 0].astype(np.intp)
    for unit in np.unique(owner).tolist():
        places = virtual.log[owner == unit, 1:]
        node = int(hosts.node[unit])
        hosts.take(unit)
        nodes = hosts.near(np.full(len(places), unit), places, 1)[:, 0]
        hosts.put(unit, node)
        # Where no node takes it, it stays.
        way = np.append(nodes[nodes >= 0], mapped[unit])
        first[unit] = way[0]
        changes[unit] = (way[1:] != way[:-1]).sum()
    return migrations(setting, first[graph.unit_of]) + int(changes[graph.unit_of].sum())


def migrations(setting: Setting, nodes: IndexArray) -> int:
    """How many instances were elsewhere before, as the judge counts them."""
    return int(setting.moved(np.arange(len(nodes)), nodes).sum())
