"""MOPA from a problem to nodes: virtual places, then hosts (card 1.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.policies.latency_space.graph import unit_graph
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.mapping import map_to_nodes, put_pinned
from berth.policies.latency_space.network import facts_of
from berth.policies.latency_space.parameters import MopaParameters
from berth.policies.latency_space.virtual import in_space, settle, start_from_springs
from berth.space.network_space import Space

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


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
    problem = setting.problem
    facts = facts_of(problem.network)
    graph = unit_graph(problem, facts)
    hosts = Hosts(problem, graph, facts, space, parameters.max_operators_per_host)
    put_pinned(hosts, graph)
    virtual = in_space(graph, space)
    start_from_springs(virtual)
    settle(
        virtual,
        np.flatnonzero(virtual.free),
        parameters.tolerance_ms,
        parameters.max_events,
        parameters.mode == "paper",
        parameters.migration == "eager",
    )
    map_to_nodes(hosts, graph, space, virtual.positions, virtual.free, np.flatnonzero(graph.fixed < 0))
    counters = {**virtual.counters, "virtual_usage_bytes": virtual.usage_bytes}
    return Placed(hosts.node[graph.unit_of], virtual.positions[graph.unit_of], counters)
