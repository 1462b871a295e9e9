"""From a problem to nodes: virtual places, then hosts, then better ones nearby (card 1.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.policies.latency_space.adaptation import Prior, prior_of, record
from berth.policies.latency_space.graph import UnitGraph, unit_graph
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.mapping import map_to_nodes, put_pinned
from berth.policies.latency_space.memory import Memory
from berth.policies.latency_space.migration import eager_migrations, migrations, stay_if_little_gained
from berth.policies.latency_space.network import facts_of
from berth.policies.latency_space.parameters import MopaParameters, SbonParameters, SpaceParameters
from berth.policies.latency_space.refinement import Refinement
from berth.policies.latency_space.virtual import (
    Virtual,
    in_space,
    relaxed,
    settle,
    start_from_springs,
    stay_in_the_middle,
)
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

Settle = Callable[[Virtual, IndexArray], None]
"""Moves free units in the space; it is given those whose surroundings have changed."""


class Placed(NamedTuple):
    """Where instances are, really and virtually, and what it took."""

    nodes: IndexArray
    """The node of each instance."""
    positions: FloatArray
    """The place of each instance in the space [instances, dimensions]."""
    counters: dict[str, Any]


def mopa_mapping(setting: Setting, space: Space, parameters: MopaParameters, seed: int = 0) -> Placed:
    """Place everything by MOPA.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: the events or, in the printed form, the search for a place did not end.
        BadInput: a stream's rate is not known.
    """

    def events(virtual: Virtual, changed: IndexArray) -> None:
        settle(
            virtual,
            changed,
            parameters.tolerance_ms,
            parameters.max_events,
            parameters.mode == "paper",
            parameters.migration == "eager",
            setting.graph.names,
        )

    return place(setting, space, parameters, events, start_from_springs, parameters.refine)


def sbon_mapping(setting: Setting, space: Space, parameters: SbonParameters, seed: int = 0) -> Placed:
    """Place everything by springs.

    Raises:
        NoHostError: no node has room for something.
        NoEndError: the springs did not come to rest.
        BadInput: a stream's rate is not known.
    """

    def springs(virtual: Virtual, changed: IndexArray) -> None:
        if len(changed):
            relaxed(
                virtual,
                parameters.pace,
                parameters.force_threshold_ms,
                parameters.max_rounds,
                parameters.migration == "eager",
            )

    nodes = parameters.mapping_nodes if parameters.mapping == "least-loaded" else 1
    return place(setting, space, parameters, springs, stay_in_the_middle, parameters.refine, True, nodes)


def place(
    setting: Setting,
    space: Space,
    parameters: SpaceParameters,
    move: Settle,
    start: Callable[[Virtual, IndexArray], None],
    refine: bool,
    squared: bool = False,
    least_loaded_of: int = 1,
) -> Placed:
    """Place everything: `start` for units without a past, `move` in the space, map, refine."""
    problem = setting.problem
    facts = facts_of(problem.network)
    graph = unit_graph(problem, facts)
    hosts = Hosts(problem, graph, facts, space, parameters.max_operators_per_host, setting.occupied)
    put_pinned(hosts, graph)
    virtual = in_space(graph, space)
    prior = prior_of(setting, graph, hosts, space)
    first = _start(virtual, prior, start)
    began = virtual.positions.copy()
    move(virtual, first)
    moved = np.abs(virtual.positions - began).max(axis=1) > 1e-9
    unmapped = graph.fixed < 0
    if prior is not None:
        unmapped &= moved | ~prior.stays
        for unit in np.flatnonzero(unmapped & prior.stays).tolist():
            hosts.take(unit)
    units = np.flatnonzero(unmapped)
    map_to_nodes(hosts, graph, space, virtual.positions, virtual.free, units, least_loaded_of)
    mapped = hosts.node.copy()
    refined = Refinement(
        problem.network,
        graph,
        hosts,
        space,
        virtual.positions,
        np.full(len(graph), -1, dtype=np.intp) if prior is None else prior.ran,
        facts.residuals(problem.network, space),
        Memory(problem.network, setting.previous),
        parameters.refine_nodes,
        parameters.refine_rounds,
        squared,
    )
    if refine:
        refined.run(units if prior is None else _concerned(graph, unmapped | prior.changed))
    counters: dict[str, Any] = dict(virtual.counters)
    counters["probes"] = refined.probes
    counters["messages"] = counters.get("messages", 0) + refined.probes
    counters["migrations"] = 0
    if prior is not None:
        stay_if_little_gained(
            problem, graph, hosts, space, prior, parameters.migration_threshold, refine, squared
        )
        eager = parameters.migration == "eager"
        counters["migrations"] = (
            eager_migrations(setting, graph, hosts, virtual, mapped) + refined.moves
            if eager
            else migrations(setting, hosts.node[graph.unit_of])
        )
    counters["virtual_usage_bytes"] = virtual.usage_bytes
    counters["mapping_stretch"] = virtual.stretch(space.coordinates.positions[hosts.node])
    counters |= record(setting, graph, space, virtual.positions, hosts.node)
    if refine:
        counters["measured"] = refined.memory.as_trace()
    return Placed(hosts.node[graph.unit_of], virtual.positions[graph.unit_of], counters)


def _start(virtual: Virtual, prior: Prior | None, start: Callable[[Virtual, IndexArray], None]) -> IndexArray:
    """Bring units to where they start from; returns those whose surroundings are new to them."""
    free = np.flatnonzero(virtual.free)
    if prior is None:
        start(virtual, free)
        return free
    past = virtual.free & (prior.ran >= 0)
    virtual.positions[past] = prior.places[past]
    new = np.flatnonzero(virtual.free & ~past)
    start(virtual, new)
    return np.flatnonzero(virtual.free & (prior.changed | ~past))


def _concerned(graph: UnitGraph, changed: NDArray[np.bool_]) -> IndexArray:
    """The units that have changed, and their neighbours."""
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.offsets))
    concerned = changed.copy()
    concerned[graph.neighbours[changed[owner]]] = True
    return np.flatnonzero(concerned & (graph.fixed < 0))
