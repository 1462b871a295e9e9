"""What a plan asks of every node: resources, processor, network card."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.situation import Situation
from berth.model import Containers

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


def resource_loads(situation: Situation) -> dict[str, FloatArray]:
    """What each node's instances need of each resource; a container takes its whole capacity."""
    graph = situation.graph
    packed = np.zeros(len(graph), dtype=bool)
    homes: dict[str, int] = {}
    for number in situation.packing:
        container = situation.plan.containers.get(graph.names[number])
        if container is not None:
            packed[number] = True
            homes[container] = number
    nodes = situation.node_of[situation.computations[0]]
    loads = {}
    for resource in graph.resources:
        demand = np.where(packed, 0.0, graph.demand(resource))[situation.running]
        loads[resource] = _per_node(situation, nodes, situation.per_computation(demand))
    for number in homes.values():
        for resource, size in containers_of(situation, number).capacity.items():
            load = loads.setdefault(resource, np.zeros(len(situation.network.nodes)))
            load[situation.node_of[number]] += size
    return loads


def containers_of(situation: Situation, instance: int) -> Containers:
    """The containers of an instance's application, which must have some."""
    application = int(situation.graph.application_of[instance])
    found = situation.problem.applications[application].containers
    assert found is not None
    return found


def processor_loads(situation: Situation) -> FloatArray:
    """The busy share of every node's processor, where a throughput is asked for (004, constraint 1)."""
    nodes = situation.node_of[situation.computations[0]]
    return _per_node(situation, nodes, np.nan_to_num(situation.busy_share))


def card_loads(situation: Situation) -> FloatArray:
    """What every node sends plus receives (004, constraint 3); unknown rates as 0."""
    crossing = (situation.flows, situation.downloads)
    ends = np.concatenate([end for flows in crossing for end in (flows.sender, flows.receiver)])
    rates = np.nan_to_num(np.concatenate([flows.rate for flows in crossing for _ in range(2)]))
    return _per_node(situation, ends, rates)


def _per_node(situation: Situation, nodes: IndexArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(nodes, values, minlength=len(situation.network.nodes)), dtype=np.float64)
