"""What can be shared in a problem: who may take whose result, what taking it asks for, and what is alike."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting
from berth.evaluation.situation import lifted_rates
from berth.model import Where

FloatArray = NDArray[np.float64]


class Shared:
    """A problem as the model of sharing sees it."""

    def __init__(self, setting: Setting, reuse: bool) -> None:
        self.setting = setting
        self.problem = setting.problem
        self.graph = setting.graph
        self.network = setting.problem.network
        self.keys = self.problem.sharing_keys
        self.reuse = reuse and self.problem.sharing
        """Whether a result may be taken from an equal operator elsewhere."""
        plain = lifted_rates(self.problem, {})
        self.throughput = plain.throughput
        """Of every operator, nothing lifted; NaN where its application asks for none."""
        self.reads = plain.reads
        """For every operator, per_s of each object that it reads."""
        asked_only = self.network.max_utilisation is None
        self.own_load = np.nan_to_num(self.graph.asked_load if asked_only else self.graph.load)
        """Of every instance, the reference processors that count, nothing lifted."""

    @cached_property
    def equal(self) -> list[list[int]]:
        """For every operator, those that compute the same, itself included."""
        members: dict[int, list[int]] = {}
        for operator, number in enumerate(self.keys.classes.tolist()):
            members.setdefault(number, []).append(operator)
        return [members[number] for number in self.keys.classes.tolist()]

    def others(self, operator: int) -> list[int]:
        """The operators whose result an operator may take."""
        return [other for other in self.equal[operator] if other != operator] if self.reuse else []

    def sources(self, operator: int) -> list[int]:
        """The operators that may compute an operator's result: itself first."""
        return [operator, *self.others(operator)]

    def allowed(self, operator: int) -> list[int]:
        """The nodes that may host an operator."""
        nodes: list[int] = self.graph.allowed_nodes[operator].tolist()
        return nodes

    def parallelism(self, operator: int) -> int:
        """How many instances an operator has."""
        return self.graph.operators[operator].operator.parallelism

    def name(self, operator: int) -> str:
        """An operator as `application/operator`."""
        return self.graph.operators[operator].name

    def node(self, number: int) -> str:
        """A node's name."""
        return self.network.nodes[number].name

    def input_pairs(self, taker: int, giver: int) -> list[tuple[int, int]]:
        """Equal inputs of two equal operators: what is asked of the giver is asked of its inputs."""
        classes = self.keys.classes
        return [
            (above_taker, above_giver)
            for above_taker in self.graph.inputs[taker]
            for above_giver in self.graph.inputs[giver]
            if classes[above_taker] == classes[above_giver]
        ]

    @property
    def size(self) -> int:
        """About how many entries a model has: every stream and object between every two nodes."""
        nodes = len(self.network.nodes)
        streams = sum(
            len(self.graph.operators[sender].instances)
            * len(self.graph.operators[receiver].instances)
            * len(self.sources(sender))
            for sender, receiver in self.graph.stream_ends.tolist()
        )
        reads = sum(len(reads) * len(self.sources(k)) for k, reads in enumerate(self.reads))
        return (streams + reads) * nodes * nodes


def alike_subtrees(shared: Shared) -> Iterator[tuple[int, int]]:
    """Pairs of an operator and a later one whose result it need not take.

    All that feeds the two is alike and feeds nothing else. Swapping the fates of both subtrees, operator by
    operator, then makes a plan of the same worth, in which the later one takes the earlier one's result.
    """
    number: dict[object, int] = {}
    signature: dict[int, int | None] = {}
    for operator in shared.graph.operator_order:
        key, inputs = _key(shared, operator), shared.graph.inputs[operator]
        signature[operator] = None
        own = all(len(shared.graph.consumers[above]) == 1 for above in inputs)
        if key is not None and own and None not in [signature[above] for above in inputs]:
            streams = tuple(sorted(_incoming(shared, operator, signature), key=repr))
            signature[operator] = number.setdefault((key, streams), len(number))
    for operator in range(len(shared.graph.operators)):
        for other in shared.others(operator):
            alike = signature[operator] is not None and signature[operator] == signature[other]
            if alike and operator < other and not _within(shared, operator, other):
                yield operator, other


def _key(shared: Shared, operator: int) -> object:
    """What an operator and its fate are judged by, but for its inputs; None: something tells it apart."""
    item = shared.graph.operators[operator]
    application = shared.problem.applications[item.application]
    subject = [rule for rule in application.rules if item.operator.name in rule.operators]
    bound = application.max_response_time_ms is not None or application.min_availability is not None
    if bound or shared.setting.previous is not None or any(not isinstance(rule, Where) for rule in subject):
        return None
    values = item.operator
    return repr(
        (
            int(shared.keys.classes[operator]),
            values.work_ms,
            values.parallelism,
            values.output_bytes,
            sorted(values.demand.items()),
            sorted(values.placement_cost.items()),
            values.state_bytes,
            shared.allowed(operator),
            float(shared.throughput[operator]),
            shared.own_load[list(item.instances)].tolist(),
            sorted(shared.reads[operator].items()),
        )
    )


def _incoming(shared: Shared, operator: int, signature: dict[int, int | None]) -> Iterator[object]:
    graph = shared.graph
    for number, (sender, receiver) in enumerate(graph.stream_ends.tolist()):
        if receiver == operator:
            rate = float(graph.stream_rate[number])
            follows = bool(graph.stream_follows_throughput[number])
            yield signature[sender], rate, follows, graph.streams[number].grouping


def _within(shared: Shared, one: int, other: int) -> bool:
    """Whether two subtrees have an operator in common."""
    return not _above(shared, one).isdisjoint(_above(shared, other))


def _above(shared: Shared, operator: int) -> set[int]:
    found, waiting = {operator}, [operator]
    while waiting:
        for above in shared.graph.inputs[waiting.pop()]:
            if above not in found:
                found.add(above)
                waiting.append(above)
    return found
