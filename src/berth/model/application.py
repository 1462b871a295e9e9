"""Stream applications: operators, the streams between them and what is asked of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Grouping = Literal["shuffle", "all", "global"]


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
