"""From a problem to nodes: virtual places, then hosts, then better ones nearby (card 1.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.model.parameters import Parameters, Values, at_least, parameter
from berth.policies.downloads import choose_downloads
from berth.policies.latency_space.adaptation import (
    Prior,
    eager_migrations,
    migrations,
    prior_of,
    record,
    stay_if_little_gained,
)
from berth.policies.latency_space.hosts import Hosts, NoHostError
from berth.policies.latency_space.mapping import map_to_nodes
from berth.policies.latency_space.refinement import Memory, Refinement
from berth.policies.latency_space.units import UnitGraph, unit_graph
from berth.policies.latency_space.virtual import NoEndError, Virtual, in_space
from berth.policies.policy import Answer, Task
from berth.space.network_space import Space, space_of

Start = Callable[[Virtual, IndexArray], None]
"""Brings units without a past to where they start from."""


def stay_in_the_middle(_virtual: Virtual, _moving: IndexArray) -> None:
    """Leave units in the middle of the pinned ones, where they are put at first."""


@dataclass(frozen=True)
class SpaceParameters(Parameters):
    """What all policies of the latency space have in common."""

    max_operators_per_host: int | None = parameter(
        None, "unpinned operators that a node takes at most; none: no limit", at_least(1)
    )
    refine_nodes: int = parameter(
        5, "near nodes whose delays are measured in one step of an operator", at_least(1)
    )
    refine_rounds: int = parameter(3, "how often an operator may try again", at_least(1))
    migration: Literal["lazy", "eager"] = parameter(
        "lazy", "count a migration once at the end, or at each change of host on the way"
    )
    migration_threshold: float = parameter(
        0.0,
        "leave the previous plan only if usage falls by more than this share",
        Values(lambda share: 0 <= share < 1, "is not from 0 to below 1"),
    )


class Placed(NamedTuple):
    """Where instances are, really and virtually, and what it took."""

    nodes: IndexArray
    """The node of each instance."""
    positions: FloatArray
    """The place of each instance in the space [instances, dimensions]."""
    counters: dict[str, Any]


def place(
    setting: Setting,
    space: Space,
    parameters: Any,
    move: Callable[[Virtual, IndexArray, Any], None],
    start: Start = stay_in_the_middle,
    squared: bool = False,
    least_loaded_of: int = 1,
) -> Placed:
    """Place everything: in the space, then on nodes, then on better ones.

    Args:
        setting: what is placed, and the previous plan.
        space: where the nodes are.
        parameters: of the policy, a `SpaceParameters` with `refine`.
        move: moves free units in the space; it is given those whose surroundings have changed.
        start: brings those without a past to where they start from.
        squared: whether usage is by squared delays.
        least_loaded_of: of so many nearest nodes the one with the fewest units is taken.
    """
    graph = unit_graph(setting.problem)
    hosts = Hosts(setting, graph, space, parameters.max_operators_per_host)
    virtual = in_space(graph, space)
    prior = prior_of(hosts)
    first = _start(virtual, prior, start)
    began = virtual.positions.copy()
    move(virtual, first, parameters)
    moved = np.abs(virtual.positions - began).max(axis=1) > 1e-9
    unmapped = graph.fixed < 0
    if prior is not None:
        unmapped &= moved | ~prior.stays
        for unit in np.flatnonzero(unmapped & prior.stays).tolist():
            hosts.take(unit)
    units = np.flatnonzero(unmapped)
    map_to_nodes(hosts, virtual.positions, virtual.free, units, least_loaded_of)
    mapped = hosts.node.copy()
    refined = Refinement(
        hosts,
        virtual.positions,
        np.full(len(graph), -1, dtype=np.intp) if prior is None else prior.ran,
        Memory(setting.problem.network, setting.previous),
        parameters.refine_nodes,
        parameters.refine_rounds,
        squared,
    )
    if parameters.refine:
        refined.run(units if prior is None else _concerned(graph, unmapped | prior.changed))
    counters: dict[str, Any] = {**virtual.counters, "probes": refined.probes, "migrations": 0}
    counters["messages"] = counters.get("messages", 0) + refined.probes
    if prior is not None:
        stay_if_little_gained(hosts, prior, parameters.migration_threshold, parameters.refine, squared)
        if parameters.migration == "eager":
            counters["migrations"] = eager_migrations(hosts, virtual, mapped) + refined.moves
        else:
            counters["migrations"] = migrations(setting, hosts.node[graph.unit_of])
    usage = virtual.usage_bytes()
    physical = virtual.usage_bytes(space.coordinates.positions[hosts.node])
    counters["virtual_usage_bytes"] = usage
    counters["mapping_stretch"] = physical / usage if usage > 0 else None
    counters |= record(hosts, virtual.positions)
    if parameters.refine:
        counters["measured"] = refined.memory.as_trace()
    return Placed(hosts.node[graph.unit_of], virtual.positions[graph.unit_of], counters)


def _start(virtual: Virtual, prior: Prior | None, start: Start) -> IndexArray:
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


def _concerned(graph: UnitGraph, changed: BoolArray) -> IndexArray:
    """The units that have changed, and their neighbours."""
    concerned = changed.copy()
    concerned[graph.neighbours[changed[graph.owner]]] = True
    return np.flatnonzero(concerned & (graph.fixed < 0))


def answer_by(mapping: Callable[[Setting, Space, Any], Placed], goal: Goal, task: Task) -> Answer:
    """The answer of a policy that places in the latency space; a failure is its reason."""
    space = space_of(task.problem.network, task.seed)
    try:
        placed = mapping(task.setting, space, task.parameters)
    except (NoHostError, NoEndError) as error:
        return Answer("unknown", goal=goal, reason=str(error), trace=space.as_trace)
    downloads = choose_downloads(task.setting, placed.nodes)
    trace = placed.counters | space.as_trace
    return Answer("feasible", placed.nodes, goal=goal, trace=trace, downloads=downloads)
