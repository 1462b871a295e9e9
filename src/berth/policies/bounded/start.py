"""Where everything is before bounds are looked at: a previous plan's hosts, else MOPA's mapping."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.policies.latency_space import MopaParameters, NoEndError, NoHostError, Placed, mopa_mapping
from berth.policies.latency_space.graph import UnitGraph, unit_graph
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.network import facts_of
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

TOLERANCES_MS = (0.5, 2.0, 8.0, 32.0, 128.0)
"""Shorter ways are not gone: MOPA's own, then larger ones until its events end."""


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
    # With places recorded, MOPA goes on from them where streams or coordinates have changed; a plan of
    # other makers is taken as it is.
    adapting = setting.previous is not None and "positions" in setting.previous.trace
    placed = _by_mopa(setting, adapting, space, refine, seed)
    facts = facts_of(problem.network)
    graph = unit_graph(problem, facts)
    hosts = Hosts(problem, graph, facts, space, occupied=setting.occupied)
    before = _previous(setting, graph)
    mapped = placed.nodes[graph.first]
    wanted = mapped if adapting else np.where(before >= 0, before, mapped)
    try:
        _put(hosts, graph, (wanted, mapped), wanted == before, placed.positions[graph.first])
    except NoHostError:
        # What each finds alone doesn't fit together: MOPA's mapping of all at once.
        hosts = Hosts(problem, graph, facts, space, occupied=setting.occupied)
        mapped = _mapping(Setting(problem, None, setting.occupied), space, refine, seed).nodes[graph.first]
        for unit, node in enumerate(mapped.tolist()):
            hosts.put(unit, node)
    running = (before >= 0) & (before == hosts.node)
    places = placed.positions[graph.first]
    return Start(graph, hosts, places, running[graph.unit_of], placed.counters["messages"])


def _put(
    hosts: Hosts, graph: UnitGraph, wanted: tuple[IndexArray, ...], stays: BoolArray, places: FloatArray
) -> None:
    """Every unit on the first node of those wanted that has room, else on the nearest to its place.

    Who has no choice comes first, then who stays where it is.

    Raises:
        NoHostError: no node has room for something.
    """
    fixed = graph.fixed >= 0
    for unit in np.flatnonzero(fixed).tolist():
        hosts.put(unit, int(graph.fixed[unit]))
    for unit in [*np.flatnonzero(stays & ~fixed).tolist(), *np.flatnonzero(~stays & ~fixed).tolist()]:
        nodes = np.array([choice[unit] for choice in wanted])
        fits = hosts.fits(unit, nodes)
        hosts.put(unit, int(nodes[np.argmax(fits)]) if fits.any() else hosts.nearest(unit, places[unit]))


def _by_mopa(setting: Setting, adapting: bool, space: Space, refine: bool, seed: int) -> Placed:
    """Each application as MOPA places it alone: they come one after the other, and each is on its own."""
    problem, previous = setting.problem, setting.previous if adapting else None
    alone = [replace(problem, applications=(application,)) for application in problem.applications]
    # The problem itself, where it has one: what is known of its instances need not be worked out again.
    settings = [
        Setting(part, previous, setting.occupied) for part in (alone if len(alone) > 1 else [problem])
    ]
    parts = [_mapping(setting, space, refine, seed) for setting in settings]
    messages = sum(int(part.counters.get("messages", 0)) for part in parts)
    nodes = np.concatenate([part.nodes for part in parts])
    return Placed(nodes, np.concatenate([part.positions for part in parts]), {"messages": messages})


def _mapping(setting: Setting, space: Space, refine: bool, seed: int) -> Placed:
    """MOPA's mapping, less exact where operators with a choice of equally good places don't come to rest."""
    for tolerance in TOLERANCES_MS[:-1]:
        try:
            parameters = MopaParameters(refine=refine, tolerance_ms=tolerance)
            return mopa_mapping(setting, space, parameters, seed)
        except NoEndError:
            continue
    parameters = MopaParameters(refine=refine, tolerance_ms=TOLERANCES_MS[-1])
    return mopa_mapping(setting, space, parameters, seed)


def _previous(setting: Setting, graph: UnitGraph) -> IndexArray:
    """Where each unit was; -1: nowhere, on a machine that is gone, or on several."""
    if setting.previous_nodes is None:
        return np.full(len(graph), -1, dtype=np.intp)
    nodes = setting.previous_nodes
    before = nodes[graph.first]
    together = np.ones(len(graph), dtype=bool)
    np.logical_and.at(together, graph.unit_of, nodes == before[graph.unit_of])
    return np.where(together & (before < len(setting.problem.network.nodes)), before, -1)
