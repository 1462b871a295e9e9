"""A problem with many applications as the arrays of the compiled engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.core import sharing as core
from berth.evaluation import Setting
from berth.evaluation.limits import TOLERANCE, PlaceLimit, Processor, place_limits
from berth.model import Network, Problem, Together
from berth.model.pair_fields import whole

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]


def case_of(setting: Setting) -> core.Case:
    """The arrays of a problem.

    Raises:
        AllPairsError: there are too many nodes for matrices.
    """
    problem = setting.problem
    instances = _instances(problem)
    return core.Case(
        instances=instances,
        pairs=_pairs(problem),
        operators=_operators(problem),
        objects=_objects(problem, instances),
        network=_network(problem.network),
        rules=_rules(problem),
        place_limits=_place_limits(setting),
        tolerance=TOLERANCE,
    )


def _instances(problem: Problem) -> core.Instances:
    graph, keys = problem.instances, problem.sharing_keys
    everyone = np.arange(len(graph))
    computation = _numbered(keys.computation_keys(everyone) if keys.possible else everyone)
    return core.Instances(operator_of=graph.operator_of, computation=computation)


def _pairs(problem: Problem) -> core.Pairs:
    graph, keys = problem.instances, problem.sharing_keys
    ends, stream = (graph.pair_sender, graph.pair_receiver), graph.pair_stream
    result = keys.result_keys(*ends, stream) if keys.possible else np.arange(len(stream))
    follows = graph.stream_follows_throughput[stream]
    size = graph.output_bytes[graph.stream_ends[stream, 0]]
    # What is not known binds nothing.
    return core.Pairs(
        instances=len(graph),
        sender=ends[0],
        receiver=ends[1],
        result=_numbered(result),
        fixed_rate=np.where(follows, 0.0, np.nan_to_num(graph.stream_rate[stream])) * graph.pair_share,
        rate_per_result=np.where(follows, np.nan_to_num(size), 0.0) * graph.pair_share,
    )


def _operators(problem: Problem) -> core.Operators:
    graph = problem.instances
    throughput = np.array([application.throughput_per_s for application in problem.applications], np.float64)
    shareable = [
        problem.sharing and item.operator.type is not None and bool(inputs or item.operator.reads)
        for item, inputs in zip(graph.operators, graph.inputs, strict=True)
    ]
    return core.Operators(
        first_instance=np.array([*(item.first for item in graph.operators), len(graph)]),
        kind=problem.sharing_keys.classes,
        shareable=np.array(shareable, dtype=bool),
        throughput=np.nan_to_num(throughput, nan=-1.0)[graph.operator_application],
        inputs=graph.inputs,
        consumers=graph.consumers,
    )


def _objects(problem: Problem, instances: core.Instances) -> core.Objects:
    numbers = {item.name: number for number, item in enumerate(problem.objects)}
    size = [item.bytes for item in problem.objects]
    reads = [
        sorted({numbers[read.object]: read.per_s for read in item.operator.reads}.items())
        for item in problem.instances.operators
    ]
    network = problem.network
    return core.Objects(
        instances=instances,
        nodes=len(network.nodes),
        first_read=np.concatenate([[0], np.cumsum([len(found) for found in reads])]).astype(np.intp),
        read_object=np.array([number for found in reads for number, _ in found], dtype=np.intp),
        read_rate=np.array([per_s * size[number] for found in reads for number, per_s in found], np.float64),
        holders=[list(network.holders.get(name, ())) for name in numbers],
    )


def _network(network: Network) -> core.Network:
    table, size = network.table, len(network.nodes)
    next_hop = np.tile(np.arange(size), (size, 1)) if table.next_hop is None else table.next_hop
    bandwidth = whole(table.physical_bandwidth)
    link = _numbered_links(bandwidth, table.half_duplex)
    link_bandwidth = np.zeros(int(link.max(initial=-1)) + 1)
    link_bandwidth[link[link >= 0]] = bandwidth[link >= 0]
    return core.Network(
        speed=network.speed,
        card=network.nic_bytes_per_s,
        one_port=network.one_port,
        connected=~np.isnan(whole(table.delay_ms)),
        bandwidth=whole(table.bandwidth_bytes_per_s),
        next_hop=next_hop,
        link=link,
        link_bandwidth=link_bandwidth,
    )


def _numbered_links(bandwidth: FloatArray, half_duplex: bool) -> IntArray:
    """Links with a limit, numbered; -1: no limit. With half duplex both directions are one link."""
    limited = np.isfinite(bandwidth)
    if half_duplex:
        limited = np.triu(limited | limited.T)
    number = np.full(bandwidth.shape, -1, dtype=np.intp)
    number[limited] = np.arange(int(limited.sum()))
    return np.maximum(number, number.T) if half_duplex else number


def _rules(problem: Problem) -> core.Rules:
    graph = problem.instances
    rows: dict[int, int] = {}
    row = [rows.setdefault(id(nodes), len(rows)) for nodes in graph.allowed_nodes]
    allowed = np.zeros((len(rows), len(problem.network.nodes)), dtype=bool)
    for number, nodes in zip(row, graph.allowed_nodes, strict=True):
        allowed[number, nodes] = True
    companions: list[list[int]] = [[] for _ in range(len(graph))]
    for application in problem.applications:
        for rule in application.rules:
            if isinstance(rule, Together):
                names = dict.fromkeys(f"{application.name}/{name}" for name in rule.operators)
                operators = (graph.operators[graph.operator_index[name]] for name in names)
                members = [instance for item in operators for instance in item.instances]
                for one in members:
                    companions[one] += [other for other in members if other != one]
    return core.Rules(row=np.array(row, dtype=np.intp), allowed=allowed, companions=companions)


def counted_limits(setting: Setting) -> list[PlaceLimit]:
    """The place limits that the engine counts: processors first, then all others that anybody needs."""
    others = (limit for limit in place_limits(setting) if not isinstance(limit, Processor))
    return [Processor(setting), *(limit for limit in others if limit.matters)]


def _place_limits(setting: Setting) -> list[core.PlaceLimit]:
    processors, *others = counted_limits(setting)
    graph = setting.problem.instances
    # Reuse may raise the throughput: what is needed follows it.
    work = graph.work_ms / 1000.0 / graph.operator_values("parallelism")
    return [
        core.PlaceLimit(
            needed=work,
            place_of_node=processors.place_of,
            room=processors.room,
            once=processors.once,
            by_throughput=True,
        ),
        *(
            core.PlaceLimit(
                needed=limit.needed, place_of_node=limit.place_of, room=limit.room, once=limit.once
            )
            for limit in others
        ),
    ]


def _numbered(keys: NDArray[np.intp]) -> IntArray:
    """Keys as numbers from 0."""
    return np.unique(keys, return_inverse=True)[1].reshape(-1)
