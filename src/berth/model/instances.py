"""The instances of all applications as flat, numbered arrays: what is really placed."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.model.application import Application, Operator, Stream, Where, stream_rates, topological_order
from berth.model.network import Network

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class PathSchedule:
    """Communicating pairs sorted so that one sweep yields all arrival times."""

    def __init__(self, instances: int, sender: IndexArray, receiver: IndexArray) -> None:
        self.has_input = np.zeros(instances, dtype=bool)
        self.has_input[receiver] = True
        self.has_output = np.zeros(instances, dtype=bool)
        self.has_output[sender] = True
        level = _levels(instances, sender, receiver)
        self._order = np.lexsort((receiver, level[receiver]))
        ordered = receiver[self._order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else ordered
        self._sender = sender[self._order]
        self._receivers = ordered[starts]
        level_ends = np.searchsorted(level[self._receivers], np.arange(1, level.max(initial=0) + 1), "right")
        self._steps = []
        begin = 0
        boundaries = np.r_[starts, len(ordered)]
        for end in level_ends.tolist():
            first, last = boundaries[begin], boundaries[end]
            self._steps.append((slice(first, last), slice(begin, end), starts[begin:end] - first))
            begin = end

    def finish(self, time: FloatArray, pair_time: FloatArray) -> FloatArray:
        """When each instance is done: its own time after the last of its inputs has arrived."""
        done = time.copy()
        ordered = pair_time[self._order]
        for pairs, receivers, starts in self._steps:
            arriving = done[self._sender[pairs]] + ordered[pairs]
            done[self._receivers[receivers]] += np.maximum.reduceat(arriving, starts)
        return done


def _levels(instances: int, sender: IndexArray, receiver: IndexArray) -> IndexArray:
    """The longest number of streams from a start to each instance."""
    level = np.zeros(instances, dtype=np.intp)
    waiting = np.bincount(receiver, minlength=instances)
    order = np.argsort(sender, kind="stable")
    first = np.searchsorted(sender[order], np.arange(instances + 1))
    targets = receiver[order]
    ready = np.flatnonzero(waiting == 0)
    depth = 0
    while len(ready):
        level[ready] = depth
        spans = [targets[first[number] : first[number + 1]] for number in ready.tolist()]
        reached = np.concatenate(spans)
        np.subtract.at(waiting, reached, 1)
        touched = np.unique(reached)
        ready = touched[waiting[touched] == 0]
        depth += 1
    return level


BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class PlacedOperator:
    """An operator within its application, with the numbers of its instances."""

    application: int
    operator: Operator
    name: str
    first: int
    """The number of its first instance; the others follow."""

    @property
    def instances(self) -> range:
        """The numbers of its instances."""
        return range(self.first, self.first + self.operator.parallelism)


class InstanceGraph:
    """Instances, the pairs of them that communicate, and where each may run.

    Operators, streams, instances and communicating pairs are numbered over all applications, in
    the order of the file. `pair_*` arrays are aligned: pair k is a sender and a receiver instance
    of stream `pair_stream[k]`, and carries `pair_share[k]` of that stream's total.
    """

    def __init__(
        self, applications: Sequence[Application], network: Network, load: FloatArray | None = None
    ) -> None:
        """Number everything.

        Args:
            applications: what is placed.
            network: where.
            load: of every instance, where it follows from more than these applications; None: from them.
        """
        self._given_load = load
        self._applications = applications
        self._network = network
        self.operators: list[PlacedOperator] = []
        self.names: list[str] = []
        """`application/operator`, or `application/operator#k` where there are several."""
        self._number_operators()
        self.operator_of = np.repeat(
            np.arange(len(self.operators)), [item.operator.parallelism for item in self.operators]
        )
        self.operator_application = np.array([item.application for item in self.operators])
        self.application_of = self.operator_application[self.operator_of]
        self.index = {name: number for number, name in enumerate(self.names)}
        self.operator_index = {item.name: number for number, item in enumerate(self.operators)}
        self._number_streams()

    def __len__(self) -> int:
        return len(self.names)

    def on(self, network: Network) -> InstanceGraph:
        """The same instances on another network, whose nodes have the same names and labels."""
        other = copy(self)
        other._network = network
        for name in ("candidate_nodes", "allowed_nodes", "_allowed_pairs"):
            other.__dict__.pop(name, None)
        return other

    def _number_operators(self) -> None:
        for application_number, application in enumerate(self._applications):
            for operator in application.operators:
                name = f"{application.name}/{operator.name}"
                self.operators.append(PlacedOperator(application_number, operator, name, len(self.names)))
                if operator.parallelism == 1:
                    self.names.append(name)
                else:
                    self.names.extend(f"{name}#{k}" for k in range(operator.parallelism))

    def _number_streams(self) -> None:
        self.streams: list[Stream] = []
        rates: list[float] = []
        follows: list[bool] = []
        senders, receivers, numbers, shares = [], [], [], []
        ends: list[tuple[int, int]] = []
        for application in self._applications:
            totals, scaled = stream_rates(application)
            rates.extend(np.nan if total is None else total for total in totals)
            follows.extend(scaled)
            for stream in application.streams:
                sender = self.operator_index[f"{application.name}/{stream.sender}"]
                receiver = self.operator_index[f"{application.name}/{stream.receiver}"]
                pair_senders, pair_receivers, share = pairs_of(
                    stream, self.operators[sender], self.operators[receiver]
                )
                senders.append(pair_senders)
                receivers.append(pair_receivers)
                numbers.append(np.full(len(pair_senders), len(self.streams), dtype=np.intp))
                shares.append(np.full(len(pair_senders), share))
                ends.append((sender, receiver))
                self.streams.append(stream)
        self.stream_rate = np.array(rates, dtype=np.float64)
        """Bytes per second of every stream; NaN: unknown."""
        self.stream_follows_throughput = np.array(follows, dtype=bool)
        self.stream_ends = np.array(ends, dtype=np.intp).reshape(-1, 2)
        self.pair_sender = _joined(senders, np.intp)
        self.pair_receiver = _joined(receivers, np.intp)
        self.pair_stream = _joined(numbers, np.intp)
        self.pair_share: FloatArray = _joined(shares, np.float64)

    @cached_property
    def pair_rate(self) -> FloatArray:
        """Bytes per second between the two instances of every pair, nothing shared; NaN: unknown."""
        return np.asarray(self.stream_rate[self.pair_stream] * self.pair_share)

    @cached_property
    def path_schedule(self) -> PathSchedule:
        """The order in which arrival times follow from each other."""
        return PathSchedule(len(self), self.pair_sender, self.pair_receiver)

    @cached_property
    def inputs(self) -> list[list[int]]:
        """The operators that send to each operator."""
        return self._neighbours(receiving=True)

    @cached_property
    def consumers(self) -> list[list[int]]:
        """The operators that each operator sends to."""
        return self._neighbours(receiving=False)

    def _neighbours(self, receiving: bool) -> list[list[int]]:
        lists: list[list[int]] = [[] for _ in self.operators]
        for sender, receiver in self.stream_ends.tolist():
            if receiving:
                lists[receiver].append(sender)
            else:
                lists[sender].append(receiver)
        return lists

    @cached_property
    def operator_order(self) -> list[int]:
        """Operator numbers, senders before receivers."""
        return [
            self.operator_index[f"{application.name}/{name}"]
            for application in self._applications
            for name in topological_order(application)
        ]

    def operator_values(self, field: str) -> FloatArray:
        """A number of every instance's operator, such as `work_ms`; NaN where it is not given."""
        values = [getattr(item.operator, field) for item in self.operators]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)[
            self.operator_of
        ]

    @cached_property
    def output_bytes(self) -> FloatArray:
        """The size of one result of every operator; NaN where it is not given."""
        sizes = [item.operator.output_bytes for item in self.operators]
        return np.array([np.nan if size is None else size for size in sizes], dtype=np.float64)

    @cached_property
    def work_ms(self) -> FloatArray:
        """Time for one data unit on the reference processor (R_i), for every instance."""
        return self.operator_values("work_ms")

    @cached_property
    def throughput_share(self) -> FloatArray:
        """Results per second that fall to each instance; NaN where the application has no throughput."""
        throughputs = [application.throughput_per_s for application in self._applications]
        known = [np.nan if value is None else value for value in throughputs]
        per_application = np.array(known, dtype=np.float64)
        return np.asarray(per_application[self.application_of] / self.operator_values("parallelism"))

    @cached_property
    def tuple_bytes(self) -> FloatArray:
        """The size of one data unit of every stream; NaN: unknown."""
        given = [np.nan if stream.tuple_bytes is None else stream.tuple_bytes for stream in self.streams]
        own = np.array(given, dtype=np.float64)
        size = np.where(np.isnan(own), self.output_bytes[self.stream_ends[:, 0]], own)
        return np.where(size > 0.0, size, np.nan)

    @cached_property
    def asked_load(self) -> FloatArray:
        """The reference processors that each instance's throughput takes; NaN without a throughput."""
        return np.asarray(self.throughput_share * self.work_ms / 1000.0)

    @cached_property
    def load(self) -> FloatArray:
        """The reference processors that each instance keeps busy, nothing shared; NaN: unknown.

        Where its application has a throughput it is that, else what its tuples take.
        """
        if self._given_load is not None:
            return self._given_load
        by_tuples = np.where(self.work_ms == 0.0, 0.0, self._tuples_per_s * self.work_ms / 1000.0)
        return np.where(np.isnan(self.asked_load), by_tuples, self.asked_load)

    @property
    def _tuples_per_s(self) -> FloatArray:
        """Tuples that each instance takes in or, where its operator has no input, gives out; NaN: unknown."""
        per_stream = self.stream_rate / self.tuple_bytes
        taken = np.bincount(
            self.pair_receiver, per_stream[self.pair_stream] * self.pair_share, len(self)
        ).astype(np.float64)
        # the highest of unknown rates is unknown, and so is that of no streams at all
        given = np.full(len(self.operators), -np.inf)
        np.maximum.at(given, self.stream_ends[:, 0], np.nan_to_num(per_stream, nan=np.inf))
        given[np.isinf(given)] = np.nan
        emitted = given[self.operator_of] / self.operator_values("parallelism")
        fed = np.zeros(len(self.operators), dtype=bool)
        fed[self.stream_ends[:, 1]] = True
        return np.where(fed[self.operator_of], taken, emitted)

    @cached_property
    def resources(self) -> list[str]:
        """The names of all resources that some instance demands."""
        return list(dict.fromkeys(name for item in self.operators for name in item.operator.demand))

    def demand(self, resource: str) -> FloatArray:
        """What every instance demands of a resource."""
        values = [item.operator.demand.get(resource, 0.0) for item in self.operators]
        return np.array(values, dtype=np.float64)[self.operator_of]

    @cached_property
    def candidate_nodes(self) -> list[IndexArray]:
        """For every operator the numbers of its candidates that host operators."""
        found: dict[tuple[str, ...] | None, IndexArray] = {None: self._network.hosting}
        hosts = np.zeros(len(self._network.nodes), dtype=bool)
        hosts[self._network.hosting] = True
        for item in self.operators:
            names = item.operator.candidates
            if names is not None and names not in found:
                numbers = np.array(sorted(self._network.index[name] for name in names), dtype=np.intp)
                found[names] = numbers[hosts[numbers]]
        return [found[item.operator.candidates] for item in self.operators]

    @cached_property
    def allowed_nodes(self) -> list[IndexArray]:
        """For every operator the numbers of the nodes that may host it: candidates within `where` rules."""
        required = self._required_labels()
        found: dict[tuple[object, ...], IndexArray] = {}
        allowed = []
        for number, item in enumerate(self.operators):
            key = (item.operator.candidates, *required[number])
            if key not in found:
                found[key] = self._labelled(self.candidate_nodes[number], required[number])
            allowed.append(found[key])
        return allowed

    def may_run_on(self, instances: IndexArray, nodes: IndexArray) -> BoolArray:
        """Whether each of some instances may run on the node beside it."""
        group, allowed = self._allowed_pairs
        wanted = group[self.operator_of[instances]] * len(self._network.nodes) + nodes
        found = np.minimum(np.searchsorted(allowed, wanted), len(allowed) - 1)
        return np.asarray(allowed[found] == wanted) if len(allowed) else np.zeros(len(wanted), dtype=bool)

    @cached_property
    def _allowed_pairs(self) -> tuple[IndexArray, IndexArray]:
        """Operators by what they may run on, and all pairs of such a group and a node, as sorted numbers."""
        groups: dict[int, int] = {}
        group = [groups.setdefault(id(nodes), len(groups)) for nodes in self.allowed_nodes]
        distinct = {id(nodes): nodes for nodes in self.allowed_nodes}
        size = len(self._network.nodes)
        parts = [groups[key] * size + nodes for key, nodes in distinct.items()]
        return np.array(group, dtype=np.intp), np.concatenate(parts)

    def _required_labels(self) -> list[list[tuple[str, str]]]:
        required: list[list[tuple[str, str]]] = [[] for _ in self.operators]
        for application in self._applications:
            for rule in application.rules:
                if isinstance(rule, Where):
                    for name in rule.operators:
                        required[self.operator_index[f"{application.name}/{name}"]] += rule.labels.items()
        return required

    def _labelled(self, numbers: IndexArray, labels: list[tuple[str, str]]) -> IndexArray:
        """Those of some nodes that have all the labels."""
        if not labels:
            return numbers
        nodes = self._network.nodes
        fits = [all(nodes[number].labels.get(key) == value for key, value in labels) for number in numbers]
        return np.asarray(numbers[np.array(fits, dtype=bool)])


def pairs_of(
    stream: Stream, sender: PlacedOperator, receiver: PlacedOperator
) -> tuple[IndexArray, IndexArray, float]:
    """The instances that exchange a stream and the share of it that each pair carries."""
    sending, receiving = np.array(sender.instances), np.array(receiver.instances)
    if stream.grouping == "forward" and len(sending) == len(receiving):
        return sending, receiving, 1.0 / len(sending)
    if stream.grouping == "global":
        receiving = receiving[:1]
    share = 1.0 / len(sending)
    # a reused result may come from another number of instances than `forward` was written for
    if stream.grouping in ("shuffle", "forward"):
        share /= len(receiving)
    return np.repeat(sending, len(receiving)), np.tile(receiving, len(sending)), share


def _joined(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
