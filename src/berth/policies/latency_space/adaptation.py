"""From a previous plan to the next one: what stays, where it starts from, and whether leaving is worth it.

A plan's trace says where units were in the space and what that depended on. It is a file, and anybody may
have written it: nothing is taken from it that is not as this module writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from berth.evaluation import Setting
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.units import UnitGraph
from berth.policies.latency_space.virtual import Virtual

LARGEST = 1e60
"""In ms: beyond, squares of distances are soon no numbers any more."""


def is_number(value: object) -> bool:
    """Whether it is a number of a sensible size; whole ones may be too large to be a float at all."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST < value < LARGEST


@dataclass(frozen=True, eq=False)
class Prior:
    """What a previous plan says about the units."""

    ran: IndexArray
    """The node on which each unit ran; -1: nowhere, or on one that is gone."""
    stays: BoolArray
    """Whether it may stay there: the node hosts it, has room and reaches its neighbours."""
    places: FloatArray
    """Where it was in the space: its virtual place, or its node's."""
    changed: BoolArray
    """Whether its streams, their delays or the places around it are not what they were."""


def prior_of(hosts: Hosts) -> Prior | None:
    """What the previous plan says; who may stay is put there. None without one."""
    setting, graph, space = hosts.setting, hosts.graph, hosts.space
    before, previous = setting.previous_nodes, setting.previous
    if before is None or previous is None:
        return None
    ran = before[graph.first]
    ran = np.where(ran < len(space.hosts), ran, -1)
    ran = np.where(graph.fixed >= 0, graph.fixed, ran)
    free = graph.fixed < 0
    stays = np.zeros(len(graph), dtype=bool)
    for unit in np.flatnonzero(free & (ran >= 0)).tolist():
        node = ran[unit : unit + 1]
        if hosts.fits(unit, node)[0] and hosts.reaches(unit, node)[0]:
            hosts.put(unit, int(ran[unit]))
            stays[unit] = True
    places = np.where((ran >= 0)[:, None], space.coordinates.positions[ran], 0.0)
    changed = np.ones(len(graph), dtype=bool)
    recorded = _recorded(previous.trace)
    for unit, marks in _digests(hosts, ran).items():
        place, old = recorded.get(graph.names[unit], (None, marks))
        if place is None or len(place) != places.shape[1] or marks.there != old.there:
            continue
        places[unit] = place
        changed[unit] = marks != old or not stays[unit]
    return Prior(ran, stays, places, changed & free)


class Marks(NamedTuple):
    """Checksums of what a unit's place depends on."""

    around: int
    """Its streams, and the places of neighbours that are pinned."""
    delays: int
    """Between its node and its neighbours': streams tell when these change."""
    there: int
    """Its node's place."""


def _recorded(trace: Mapping[str, Any]) -> dict[str, tuple[list[float], Marks]]:
    """What a plan's trace keeps of each unit; nothing that is not as this module writes it."""
    places, seen = trace.get("positions"), trace.get("seen")
    if not isinstance(places, Mapping) or not isinstance(seen, Mapping):
        return {}
    found = {}
    for name, place in places.items():
        marks = seen.get(name)
        numbers = isinstance(place, list) and all(is_number(value) for value in place)
        if numbers and isinstance(marks, list) and len(marks) == 3:
            found[name] = (place, Marks(*marks))
    return found


def record(hosts: Hosts, positions: FloatArray) -> dict[str, Any]:
    """What the next solve wants to know of this one, for the trace.

    Every free unit's place, and checksums of what it depends on.
    """
    names, seen = hosts.graph.names, _digests(hosts, hosts.node)
    places = np.round(positions[list(seen)], 6).tolist()
    return {
        "positions": {names[unit]: place for unit, place in zip(seen, places, strict=True)},
        "seen": {names[unit]: list(marks) for unit, marks in seen.items()},
    }


def _digests(hosts: Hosts, nodes: IndexArray) -> dict[int, Marks]:
    """Checksums for every unit that has a choice; a node that is not known counts as the first."""
    graph, places = hosts.graph, hosts.space.coordinates.positions
    fixed, offsets = graph.fixed, graph.offsets.tolist()
    neighbours = [graph.names[unit] for unit in graph.neighbours.tolist()]
    rates = np.stack([graph.forward, graph.backward], axis=1).tobytes()
    at_pin = np.where((fixed >= 0)[graph.neighbours, None], places[fixed[graph.neighbours]], 0.0).tobytes()
    nodes = np.maximum(nodes, 0)
    at_node = places[nodes].tobytes()
    owner = nodes[graph.owner]
    table, there = hosts.space.table.delay_ms, nodes[graph.neighbours]
    delays = np.stack([table[owner, there], table[there, owner]], axis=1).tobytes()
    of_rate, of_place = 16, 8 * places.shape[1]
    marks = {}
    for unit in np.flatnonzero(fixed < 0).tolist():
        start, stop = offsets[unit], offsets[unit + 1]
        around = crc32(" ".join(neighbours[start:stop]).encode())
        around = crc32(rates[start * of_rate : stop * of_rate], around)
        around = crc32(at_pin[start * of_place : stop * of_place], around)
        marks[unit] = Marks(
            around,
            crc32(delays[start * of_rate : stop * of_rate]),
            crc32(at_node[unit * of_place : (unit + 1) * of_place]),
        )
    return marks


def stay_if_little_gained(
    hosts: Hosts, prior: Prior, threshold: float, measured: bool, squared: bool
) -> None:
    """Take units that hang together back to their old nodes where usage falls by no more than the threshold.

    Usage is by measured delays where these were probed, or else by coordinates. Who has no old node, or
    one that no longer takes it, goes where it is planned to be, and so does what hangs together with it.
    """
    graph = hosts.graph
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
            _usage(hosts, nodes, units, measured, squared) for nodes in (planned, old)
        )
        better = now < before * (1.0 - threshold) * (1.0 - 1e-12)
        if broken < broken_before or (broken == broken_before and better):
            continue
        for unit in units.tolist():
            hosts.put(unit, int(prior.ran[unit]))
        if any(hosts.room.overfull(node) for node in prior.ran[units].tolist()):
            # What others took meanwhile is gone.
            for unit in units.tolist():
                hosts.put(unit, int(planned[unit]))


def _components(graph: UnitGraph) -> IndexArray:
    """Units that hang together over free ones, by the smallest of them."""
    label = np.arange(len(graph))
    owner = graph.owner
    inner = (graph.fixed[owner] < 0) & (graph.fixed[graph.neighbours] < 0)
    sender, receiver = owner[inner], graph.neighbours[inner]
    while True:
        before = label.copy()
        np.minimum.at(label, sender, label[receiver])
        label = label[label]
        if (label == before).all():
            return label


def _usage(
    hosts: Hosts, nodes: IndexArray, units: IndexArray, measured: bool, squared: bool
) -> tuple[int, float]:
    """Streams of some units that have no link, and the usage of the others; those within count twice."""
    graph, delays = hosts.graph, hosts.space.table.delay_ms
    inside = np.zeros(len(graph), dtype=bool)
    inside[units] = True
    owner = graph.owner
    touched = inside[owner]
    here, there = nodes[owner[touched]], nodes[graph.neighbours[touched]]
    # Whether there is a link needs no probe, so that is looked at in any case.
    out, back = delays[here, there], delays[there, here]
    missing = (np.isnan(out) & graph.sends[touched]) | (np.isnan(back) & graph.receives[touched])
    if not measured:
        out = back = hosts.space.coordinates.distances(here, there)
    if squared:
        out, back = out**2, back**2
    flows = graph.forward[touched] * np.nan_to_num(out) + graph.backward[touched] * np.nan_to_num(back)
    return int(missing.sum()), float(flows[~missing].sum())


def eager_migrations(hosts: Hosts, virtual: Virtual, mapped: IndexArray) -> int:
    """How often instances change their host if each follows its virtual place at once, up to the mapping."""
    graph, first = hosts.graph, mapped.copy()
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
    return migrations(hosts.setting, first[graph.unit_of]) + int(changes[graph.unit_of].sum())


def migrations(setting: Setting, nodes: IndexArray) -> int:
    """How many instances were elsewhere before, as the judge counts them."""
    return int(setting.moved(np.arange(len(nodes)), nodes).sum())
