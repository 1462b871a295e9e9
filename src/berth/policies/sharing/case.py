"""A problem with many applications as the arrays of the compiled engine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.core import sharing as core
from berth.evaluation import Setting
from berth.evaluation.limits import TOLERANCE, PlaceLimit, Processor, one_core, place_limits
from berth.model import Problem
from berth.model.pair_fields import whole

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Case:
    """The arrays of a problem; the engine copies them into `core`, where they have the same names.

    Raises:
        AllPairsError: there are too many nodes for matrices.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.problem = setting.problem
        self._list_instances(self.problem)
        self._list_pairs(self.problem)
        self._list_operators(self.problem)
        self._list_objects(self.problem)
        self._describe_network(self.problem)
        self._list_rules(self.problem)
        self.tolerance = TOLERANCE
        self.core = core.Case(self)

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(self.speed)

    @property
    def operators(self) -> int:
        """How many there are."""
        return len(self.kind)

    def _list_instances(self, problem: Problem) -> None:
        graph, keys = problem.instances, problem.sharing_keys
        everyone = np.arange(len(graph))
        self.operator_of = graph.operator_of
        self.computation = _numbered(keys.computation_keys(everyone) if keys.possible else everyone)
        """Instances of one computation do the same work: on one node they count once."""

    def _list_pairs(self, problem: Problem) -> None:
        """Instances that communicate."""
        graph, keys = problem.instances, problem.sharing_keys
        self.sender, self.receiver, stream = graph.pair_sender, graph.pair_receiver, graph.pair_stream
        ends = self.sender, self.receiver
        self.result = _numbered(keys.result_keys(*ends, stream) if keys.possible else np.arange(len(stream)))
        """Pairs with the same result cross once between the same two nodes."""
        follows = graph.stream_follows_throughput[stream]
        size = graph.output_bytes[graph.stream_ends[stream, 0]]
        # What is not known binds nothing.
        fixed = np.where(follows, 0.0, np.nan_to_num(graph.stream_rate[stream]))
        self.fixed_rate: FloatArray = fixed * graph.pair_share
        self.rate_per_result: FloatArray = np.where(follows, np.nan_to_num(size), 0.0) * graph.pair_share
        """A pair carries its fixed rate, and so much for every result that its receiver computes."""

    def _list_operators(self, problem: Problem) -> None:
        """What is computed, reused or skipped as a whole."""
        graph = problem.instances
        self.first_instance = np.array([*(item.first for item in graph.operators), len(graph)])
        """Bounds: the instances of an operator follow each other."""
        self.kind = problem.sharing_keys.classes
        """Equal operators are of one kind."""
        shareable = [
            problem.sharing and item.operator.type is not None and bool(inputs or item.operator.reads)
            for item, inputs in zip(graph.operators, graph.inputs, strict=True)
        ]
        self.shareable = np.array(shareable, dtype=bool)
        asked = np.array([application.throughput_per_s for application in problem.applications], np.float64)
        self.throughput = np.nan_to_num(asked, nan=-1.0)[graph.operator_application]
        """What an operator's own application needs; -1: none."""
        self.inputs, self.consumers = graph.inputs, graph.consumers

    def _list_objects(self, problem: Problem) -> None:
        """What operators read, and which nodes hold it."""
        numbers = {item.name: number for number, item in enumerate(problem.objects)}
        size = [item.bytes for item in problem.objects]
        reads = [
            sorted({numbers[read.object]: read.per_s for read in item.operator.reads}.items())
            for item in problem.instances.operators
        ]
        self.first_read = np.concatenate([[0], np.cumsum([len(found) for found in reads])]).astype(np.intp)
        """Bounds: the reads of every operator."""
        self.read_object = np.array([number for found in reads for number, _ in found], dtype=np.intp)
        """Ascending for each operator: equal operators read in the same order."""
        rates = [per_s * size[number] for found in reads for number, per_s in found]
        self.read_rate = np.array(rates, dtype=np.float64)
        """Bytes per second for the operator's own application."""
        self.held = np.zeros((len(numbers), len(problem.network.nodes)), dtype=bool)
        """By object and node."""
        for name, number in numbers.items():
            self.held[number, list(problem.network.holders.get(name, ()))] = True

    def _describe_network(self, problem: Problem) -> None:
        network = problem.network
        table, size = network.table, len(network.nodes)
        self.speed, self.card, self.one_port = network.speed, network.nic_bytes_per_s, network.one_port
        self.connected: BoolArray = ~np.isnan(whole(table.delay_ms))
        self.bandwidth = whole(table.bandwidth_bytes_per_s)
        """Of logical links."""
        self.next_hop = np.tile(np.arange(size), (size, 1)) if table.next_hop is None else table.next_hop
        """The next node on the way; -1: there is no way."""
        physical = whole(table.physical_bandwidth)
        self.link = _numbered_links(physical, table.half_duplex)
        """The physical link between two nodes; -1: it has no limit."""
        self.link_bandwidth = np.zeros(int(self.link.max(initial=-1)) + 1)
        self.link_bandwidth[self.link[self.link >= 0]] = physical[self.link >= 0]

    def _list_rules(self, problem: Problem) -> None:
        """Where instances may run, alone and beside each other, and what they need there."""
        graph = problem.instances
        self.allowed = np.zeros((len(graph.operators), len(problem.network.nodes)), dtype=bool)
        """By operator and node."""
        for number, nodes in enumerate(graph.allowed_nodes):
            self.allowed[number, nodes] = True
        self.companions: list[list[int]] = [[] for _ in range(len(graph))]
        """Of every instance, those that must be on the same node."""
        for bound in problem.together:
            for one in bound.instances:
                self.companions[one] += [other for other in bound.instances if other != one]
        others = (limit for limit in place_limits(self.setting) if not isinstance(limit, Processor))
        self.place_limits: list[PlaceLimit] = [
            Processor(self.setting),
            *(limit for limit in others if limit.matters),
        ]
        """The place limits that the engine counts: processors first, then all others that anybody needs."""
        self.work: FloatArray = graph.work_ms / 1000.0 / graph.operator_values("parallelism")
        """What instances need of processors for one result a second: reuse may raise the throughput."""
        whatever = np.isnan(graph.asked_load) & (problem.network.max_utilisation is not None)
        self.fixed_load: FloatArray = np.where(whatever, np.nan_to_num(graph.load), 0.0)
        """What they need of processors by their tuples, where there is no throughput."""
        limit, several = one_core(self.setting), problem.network.cores > 1.0
        most = np.inf if limit is None else limit.room
        self.core_room: FloatArray = np.where(several, most, np.inf)
        """By node, what one instance may need of its processors; on a node of one core its limit says so."""


def _numbered_links(bandwidth: FloatArray, half_duplex: bool) -> IntArray:
    """Links with a limit, numbered; -1: no limit. With half duplex both directions are one link."""
    limited = np.isfinite(bandwidth)
    if half_duplex:
        limited = np.triu(limited | limited.T)
    number = np.full(bandwidth.shape, -1, dtype=np.intp)
    number[limited] = np.arange(int(limited.sum()))
    return np.maximum(number, number.T) if half_duplex else number


def _numbered(keys: NDArray[np.intp]) -> IntArray:
    """Keys as numbers from 0."""
    return np.unique(keys, return_inverse=True)[1].reshape(-1)
