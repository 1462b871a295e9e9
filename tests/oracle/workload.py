"""The applications of a problem: operators, instances, rates, equal operators, and what reuse changes."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Instance:
    """One instance of an operator."""

    name: str
    operator: str
    index: int


@dataclass(frozen=True)
class Stream:
    """One stream of a problem file; sender and receiver are `application/operator`."""

    application: str
    sender: str
    receiver: str
    grouping: str
    bytes_per_s: float | None
    tuple_bytes: float | None


@dataclass(frozen=True)
class Operator:
    """One operator, with all defaults filled in."""

    key: str
    application: str
    throughput: float | None
    parallelism: int
    work_ms: float
    emits: float | None
    selectivity: float
    output_bytes: float | None
    type: str | None
    demand: dict[str, float]
    reads: dict[str, float]
    state_bytes: float
    placement_cost: dict[str, float]
    candidates: tuple[str, ...] | None

    def instances(self) -> tuple[Instance, ...]:
        """Contract: "`application/operator`, or `application/operator#k` where parallelism is above 1"."""
        if self.parallelism == 1:
            return (Instance(self.key, self.key, 0),)
        return tuple(Instance(f"{self.key}#{index}", self.key, index) for index in range(self.parallelism))


@dataclass(frozen=True)
class Message:
    """What one instance sends to another one as part of a stream."""

    sender: Instance
    receiver: Instance
    stream: Stream
    stream_total: float | None
    rate: float | None
    result: Hashable | None  # equal for equal results; None: this result equals none


class Workload:
    """All operators and streams of a problem."""

    def __init__(self, problem: dict[str, Any]) -> None:
        """Read the `applications` part of a problem file."""
        self.sharing: bool = problem.get("sharing", True)
        self.applications: dict[str, dict[str, Any]] = {
            entry["name"]: entry for entry in problem["applications"]
        }
        self.operators: dict[str, Operator] = {}
        self.streams: list[Stream] = []
        for application in problem["applications"]:
            self._read(application)
        self.inputs: dict[str, list[Stream]] = {key: [] for key in self.operators}
        self.outputs: dict[str, list[Stream]] = {key: [] for key in self.operators}
        for stream in self.streams:
            self.inputs[stream.receiver].append(stream)
            self.outputs[stream.sender].append(stream)

    def _read(self, application: dict[str, Any]) -> None:
        for entry in application["operators"]:
            operator = _operator(application, entry)
            self.operators[operator.key] = operator
        for entry in application.get("streams", []):
            self.streams.append(_stream(application["name"], entry))

    def stated_total(self, stream: Stream) -> float | None:
        """Derive a stream's total rate from the problem alone; None: unknown.

        "a stream's total is `bytes_per_s` where given; else its sender's `output_bytes` x the application's
        throughput; else what a source emits; else selectivity x the sum of the sender's inputs (a stream with
        grouping `all` counted once). Every outgoing stream carries the whole output."
        """
        sender = self.operators[stream.sender]
        if stream.bytes_per_s is not None:
            return stream.bytes_per_s
        if self.follows_throughput(stream):
            assert sender.output_bytes is not None
            assert sender.throughput is not None
            return sender.output_bytes * sender.throughput
        inputs = self.inputs[stream.sender]
        if not inputs:
            return sender.emits
        totals = [self.stated_total(entry) for entry in inputs]
        known = [total for total in totals if total is not None]
        return sender.selectivity * sum(known) if len(known) == len(totals) else None

    def stated_tuples(self, stream: Stream) -> float | None:
        """Return a stream's tuples per second from the problem alone; None: unknown.

        `tuple_bytes`: "default: the sender's `output_bytes`; otherwise unknown"; "A tuple size of 0 (from
        `output_bytes: 0`) is unknown."
        """
        total = self.stated_total(stream)
        size = stream.tuple_bytes
        if size is None:
            size = self.operators[stream.sender].output_bytes
        return None if total is None or not size else total / size

    def follows_throughput(self, stream: Stream) -> bool:
        """Tell whether a stream's rate is its sender's `output_bytes` x a throughput."""
        sender = self.operators[stream.sender]
        return (
            stream.bytes_per_s is None and sender.output_bytes is not None and sender.throughput is not None
        )

    def equality_class(self, key: str) -> Hashable | None:
        """Return what is the same for equal operators; None: "equal none".

        "Operators with a `type` are equal when the type, the multiset of their inputs (equal operators,
        recursively) and the set of objects that they read are equal [...]. Operators without a type, or with
        neither inputs nor reads, equal none."
        """
        operator = self.operators[key]
        if operator.type is None or not (self.inputs[key] or operator.reads):
            return None
        inputs = sorted((self.identity(stream.sender) for stream in self.inputs[key]), key=repr)
        return ("type", operator.type, tuple(inputs), tuple(sorted(operator.reads)))

    def identity(self, key: str) -> Hashable:
        """Return an operator's class, or the operator itself where it equals none: still one input."""
        equality_class = self.equality_class(key)
        return ("only", key) if equality_class is None else equality_class


def _operator(application: dict[str, Any], entry: dict[str, Any]) -> Operator:
    pinned = (entry["pinned"],) if "pinned" in entry else None
    candidates = tuple(entry["candidates"]) if "candidates" in entry else pinned
    return Operator(
        key=f"{application['name']}/{entry['name']}",
        application=application["name"],
        throughput=application.get("throughput_per_s"),
        parallelism=entry.get("parallelism", 1),
        work_ms=entry.get("work_ms", 0.0),
        emits=entry.get("emits_bytes_per_s"),
        selectivity=entry.get("selectivity", 1.0),
        output_bytes=entry.get("output_bytes"),
        type=entry.get("type"),
        demand=entry.get("demand", {}),
        reads={read["object"]: read["per_s"] for read in entry.get("reads", [])},
        state_bytes=entry.get("state_bytes", 0.0),
        placement_cost=entry.get("placement_cost", {}),
        candidates=candidates,
    )


def _stream(application: str, entry: dict[str, Any]) -> Stream:
    return Stream(
        application=application,
        sender=f"{application}/{entry['from']}",
        receiver=f"{application}/{entry['to']}",
        grouping=entry.get("grouping", "shuffle"),
        bytes_per_s=entry.get("bytes_per_s"),
        tuple_bytes=entry.get("tuple_bytes"),
    )


class Structure:
    """What a plan computes, reuses and skips, before anything has a node."""

    def __init__(
        self,
        workload: Workload,
        reuse: Mapping[str, str],
        skipped: frozenset[str],
        lost: frozenset[str] = frozenset(),
    ) -> None:
        """Work out who computes, who supplies whom, at which throughput and with which messages.

        Lost operators go "with [their] streams"; "Rates and loads of what is left are those of the whole
        problem."
        """
        self.workload = workload
        self.lost = lost
        self.reuse = dict(reuse)
        self.skipped = skipped
        self.classes = {key: workload.equality_class(key) for key in workload.operators}
        self.violations: list[str] = list(self._violations())
        self.sound: bool = not self.violations
        self.computed: tuple[str, ...] = tuple(key for key in workload.operators if self.is_left(key))
        self.instances = tuple(
            entry for key in self.computed for entry in workload.operators[key].instances()
        )
        self.throughput = {key: operator.throughput for key, operator in workload.operators.items()}
        self.reads = {key: dict(operator.reads) for key, operator in workload.operators.items()}
        if self.sound:
            self._lift_providers()
        self.messages: tuple[Message, ...] = tuple(self._messages())
        self.rates_known: bool = all(message.rate is not None for message in self.messages)

    def is_computed(self, key: str) -> bool:
        """Tell whether an operator must be in `assignment`: all but the reused and the skipped ones."""
        return key not in self.reuse and key not in self.skipped

    def is_left(self, key: str) -> bool:
        """Tell whether an operator is computed and not lost."""
        return self.is_computed(key) and key not in self.lost

    def supplier(self, key: str) -> str:
        """Return the operator whose result stands for this operator's result."""
        return self.reuse.get(key, key)

    def shared_class(self, key: str) -> Hashable | None:
        """Return an operator's class where sharing counts: "Unless `sharing` is false"."""
        return self.classes[key] if self.workload.sharing else None

    def _violations(self) -> Iterator[str]:
        for taker, provider in self.reuse.items():
            yield from self._reuse_violations(taker, provider)
        for key in sorted(self.skipped):
            yield from self._skip_violations(key)

    def _reuse_violations(self, taker: str, provider: str) -> Iterator[str]:
        """reuse takes "the result of an equal operator that is itself in `assignment`"."""
        if not self.workload.sharing:
            yield f"reuse {taker}: the problem does not share"
        if not self.is_computed(provider):
            yield f"reuse {taker}: {provider} is not computed"
        if self.classes[taker] is None or self.classes[taker] != self.classes[provider]:
            yield f"reuse {taker}: {provider} is not equal to it"
        if taker in self.skipped:
            yield f"reuse {taker}: it is skipped as well"

    def _skip_violations(self, key: str) -> Iterator[str]:
        """Contract: "has consumers, none of them computed, and nobody takes its result"."""
        consumers = [stream.receiver for stream in self.workload.outputs[key]]
        if not consumers:
            yield f"skipped {key}: it has no consumers, its result is wanted"
        for consumer in consumers:
            if self.is_computed(consumer):
                yield f"skipped {key}: {consumer} needs it"
        if key in self.reuse.values():
            yield f"skipped {key}: its result is taken"

    def _lift_providers(self) -> None:
        """Raise providers to what their takers need.

        reuse "lifts the provider's throughput and its reads' per_s to the taker's where these are higher, and
        so on for all that feeds the provider. A computed operator runs at least at its own application's
        throughput."
        """
        for taker, provider in self.reuse.items():
            self._lift(provider, taker)

    def _lift(self, target: str, wanted: str) -> None:
        """Raise one operator, and all that feeds it, to an equal operator's own needs."""
        target = self.supplier(target)
        need = self.workload.operators[wanted]
        self.throughput[target] = highest(self.throughput[target], need.throughput)
        for name, per_s in need.reads.items():
            self.reads[target][name] = max(self.reads[target][name], per_s)
        for feeding in self.workload.inputs[target]:
            for wanted_input in self.workload.inputs[wanted]:
                if self.workload.identity(feeding.sender) == self.workload.identity(wanted_input.sender):
                    self._lift(feeding.sender, wanted_input.sender)

    def total(self, stream: Stream) -> float | None:
        """Return a stream's total: what follows the throughput follows the receiver's lifted one."""
        throughput = self.throughput[stream.receiver]
        if not self.workload.follows_throughput(stream) or throughput is None:
            return self.workload.stated_total(stream)
        output_bytes = self.workload.operators[stream.sender].output_bytes
        assert output_bytes is not None
        return output_bytes * throughput

    def _messages(self) -> Iterator[Message]:
        for stream in self.workload.streams:
            supplier = self.supplier(stream.sender)
            if self.is_left(stream.receiver) and self.is_left(supplier):
                yield from self._messages_of(stream, supplier)

    def _messages_of(self, stream: Stream, supplier: str) -> Iterator[Message]:
        """Split a stream over pairs of instances.

        "shuffle (default): split evenly over the pairs of instances; all: every receiver gets everything
        (each sender sends its share to each receiver); global: everything to the receiver's first instance";
        "`forward`: instance k of the sender sends all of its share to instance k of the receiver".
        """
        senders = self.workload.operators[supplier].instances()
        receivers = self.workload.operators[stream.receiver].instances()
        total = self.total(stream)
        parts = len(senders) * (len(receivers) if stream.grouping == "shuffle" else 1)
        for sender in senders:
            for receiver in takers(stream, sender, receivers):
                rate = None if total is None else total / parts
                result = self._result(stream, sender, receiver)
                yield Message(sender, receiver, stream, total, rate, result)

    def _result(self, stream: Stream, sender: Instance, receiver: Instance) -> Hashable | None:
        """Name what is equal when equal results cross: the sender's computation and the portion sent."""
        computation = self.computation(sender)
        if computation is None:
            return None
        receivers = self.workload.operators[receiver.operator].parallelism
        split = stream.grouping == "shuffle" and receivers > 1
        return (computation, (receiver.index, receivers) if split else "whole")

    def computation(self, instance: Instance) -> Hashable | None:
        """Name what is equal for equal computations; None: this one equals none."""
        shared = self.shared_class(instance.operator)
        if shared is None:
            return None
        return (shared, instance.index, self.workload.operators[instance.operator].parallelism)

    def concerns(self, application: str) -> frozenset[str]:
        """Return the computed operators behind an application's results.

        "Paths of the taking application run through the provider and what is above it."
        """
        own = [
            key for key, operator in self.workload.operators.items() if operator.application == application
        ]
        waiting = [self.supplier(key) for key in own if key not in self.skipped]
        found: set[str] = set()
        while waiting:
            key = waiting.pop()
            if key not in found:
                found.add(key)
                waiting.extend(self.supplier(stream.sender) for stream in self.workload.inputs[key])
        return frozenset(found)


def takers(stream: Stream, sender: Instance, receivers: tuple[Instance, ...]) -> tuple[Instance, ...]:
    """Return the receiver's instances that one instance of the sender sends to."""
    if stream.grouping == "global":
        return receivers[:1]
    if stream.grouping == "forward":
        return receivers[sender.index : sender.index + 1]
    return receivers


def highest(first: float | None, second: float | None) -> float | None:
    """Return the higher of two numbers that may be missing."""
    known = [number for number in (first, second) if number is not None]
    return max(known, default=None)
