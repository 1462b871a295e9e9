"""Stream applications: operators, the streams between them, their rates, and what is asked of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Grouping = Literal["shuffle", "all", "global", "forward"]


@dataclass(frozen=True)
class Read:
    """An object that an operator reads, so many times a second."""

    object: str
    per_s: float


@dataclass(frozen=True)
class Operator:
    """A processing step; it runs as `parallelism` instances."""

    name: str
    candidates: tuple[str, ...] | None = None
    """The nodes that may host it (one if it is pinned); None: every node that hosts."""
    demand: Mapping[str, float] = field(default_factory=dict)
    work_ms: float = 0.0
    parallelism: int = 1
    emits_bytes_per_s: float | None = None
    selectivity: float = 1.0
    output_bytes: float | None = None
    type: str | None = None
    reads: tuple[Read, ...] = ()
    state_bytes: float = 0.0
    placement_cost: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Stream:
    """What one operator sends to another."""

    sender: str
    receiver: str
    bytes_per_s: float | None = None
    grouping: Grouping = "shuffle"
    tuple_bytes: float | None = None
    """The size of one data unit; None: what its sender gives out at a time."""


@dataclass(frozen=True)
class Together:
    """All instances of these operators share one node."""

    operators: tuple[str, ...]


@dataclass(frozen=True)
class Apart:
    """No two instances of these operators share a node or, with `by`, the value of that label."""

    operators: tuple[str, ...]
    by: str | None = None
    most = 1
    """Instances in one place."""


@dataclass(frozen=True)
class Spread:
    """At most so many instances of these operators on a node or, with `by`, on nodes with one value of it."""

    operators: tuple[str, ...]
    most: int
    by: str | None = None


@dataclass(frozen=True)
class Where:
    """These operators run only on nodes with these labels."""

    labels: Mapping[str, str]
    operators: tuple[str, ...]


Rule = Together | Apart | Spread | Where


@dataclass(frozen=True)
class Containers:
    """The containers that an application's instances are packed into (two-stage placement)."""

    count: int
    capacity: Mapping[str, float]


@dataclass(frozen=True)
class Application:
    """A graph of operators with its requirements."""

    name: str
    operators: tuple[Operator, ...]
    streams: tuple[Stream, ...] = ()
    throughput_per_s: float | None = None
    max_response_time_ms: float | None = None
    min_availability: float | None = None
    containers: Containers | None = None
    rules: tuple[Rule, ...] = ()


def topological_order(application: Application) -> list[str]:
    """Operator names, senders before receivers; shorter than the application if it has a cycle."""
    waiting = {operator.name: 0 for operator in application.operators}
    followers: dict[str, list[str]] = {name: [] for name in waiting}
    for stream in application.streams:
        waiting[stream.receiver] += 1
        followers[stream.sender].append(stream.receiver)
    ready = [name for name, count in waiting.items() if count == 0]
    for name in ready:
        for receiver in followers[name]:
            waiting[receiver] -= 1
            if waiting[receiver] == 0:
                ready.append(receiver)
    return ready


def stream_rates(application: Application) -> tuple[list[float | None], list[bool]]:
    """Total rate of every stream (None: unknown), and whether it follows the throughput."""
    operators = {operator.name: operator for operator in application.operators}
    outgoing: dict[str, list[int]] = {name: [] for name in operators}
    for number, stream in enumerate(application.streams):
        outgoing[stream.sender].append(number)
    received: dict[str, list[float | None]] = {name: [] for name in operators}
    rates: list[float | None] = [None] * len(application.streams)
    follows = [False] * len(application.streams)
    for name in topological_order(application):
        output, scales = _output(operators[name], application.throughput_per_s, received[name])
        for number in outgoing[name]:
            stream = application.streams[number]
            given = stream.bytes_per_s is not None
            rates[number] = stream.bytes_per_s if given else output
            follows[number] = scales and not given
            received[stream.receiver].append(rates[number])
    return rates, follows


def _output(
    operator: Operator, throughput: float | None, received: list[float | None]
) -> tuple[float | None, bool]:
    """An operator's whole output and whether it is so much for each result."""
    if operator.output_bytes is not None and throughput is not None:
        return operator.output_bytes * throughput, True
    if operator.emits_bytes_per_s is not None:
        return operator.emits_bytes_per_s, False
    known = [rate for rate in received if rate is not None]
    if received and len(known) == len(received):
        return operator.selectivity * sum(known), False
    return None, False
