"""From a problem to nodes: virtual places, then hosts, then better ones nearby (card 1.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.model.arrays import FloatArray, IndexArray
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
from berth.policies.latency_space.mapping import map_to_nodes, put_pinned
from berth.policies.latency_space.network_facts import facts_of, known_space
from berth.policies.latency_space.refinement import Memory, Refinement
from berth.policies.latency_space.units import UnitGraph, unit_graph
from berth.policies.latency_space.virtual import NoEndError, Virtual, in_space
from berth.policies.policy import Answer, Task
from berth.space.network_space import Space

Settle = Callable[[Virtual, IndexArray], None]
"""Moves free units in the space; it is given those whose surroundings have changed."""


@dataclass(frozen=True)
class SpaceParameters:
    """What all policies of the latency space have in common."""

    max_operators_per_host: int | None = field(
        default=None, metadata={"help": "unpinned operators that a node takes at most; none: no limit"}
    )
    refine_nodes: int = field(
        default=5, metadata={"help": "near nodes whose delays are measured in one step of an operator"}
    )
    refine_rounds: int = field(default=3, metadata={"help": "how often an operator may try again"})
    migration: Literal["lazy", "eager"] = field(
        default="lazy",
        metadata={"help": "count a migration once at the end, or at each change of host on the way"},
    )
    migration_threshold: float = field(
        default=0.0, metadata={"help": "leave the previous plan only if usage falls by more than this share"}
    )

    def __post_init__(self) -> None:
        if self.max_operators_per_host is not None and self.max_operators_per_host < 1:
            raise ValueError(f"max_operators_per_host: {self.max_operators_per_host} is below 1")
        for name in ("refine_nodes", "refine_rounds"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: {getattr(self, name)} is below 1")
        if not 0 <= self.migration_threshold < 1:
            raise ValueError(f"migration_threshold: {self.migration_threshold} is not from 0 to below 1")


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
    hosts = Hosts(setting, graph, facts, space, parameters.max_operators_per_host)
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
    concerned = changed.copy()
    concerned[graph.neighbours[changed[graph.owner]]] = True
    return np.flatnonzero(concerned & (graph.fixed < 0))


def answer_by(mapping: Callable[[Setting, Space, Any, int], Placed], goal: Goal, task: Task) -> Answer:
    """The answer of a policy that places in the latency space; a failure is its reason."""
    space = known_space(task.problem.network, task.seed)
    trace = _about(space)
    try:
        placed = mapping(task.setting, space, task.parameters, task.seed)
    except (NoHostError, NoEndError) as error:
        return Answer("unknown", goal=goal, reason=str(error), trace=trace)
    downloads = choose_downloads(task.setting, placed.nodes)
    return Answer("feasible", placed.nodes, goal=goal, trace=placed.counters | trace, downloads=downloads)


_ABOUT: WeakKeyDictionary[Space, dict[str, Any]] = WeakKeyDictionary()


def _about(space: Space) -> dict[str, Any]:
    """What a trace says about coordinates: the same for all plans in a space."""
    trace = _ABOUT.get(space)
    if trace is None:
        trace = _ABOUT[space] = {"coordinates": "computed" if space.computed else "given"}
        if space.coordinates.errors is not None:
            trace["coordinate_errors"] = space.coordinates.errors.as_trace()
    return trace
