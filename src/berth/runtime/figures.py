"""What can be said of a run at one moment."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_WIDTH = math.log(1.02)
"""A bucket's end is 2 % above its start."""
_SHORTEST_MS = 0.01


@dataclass(frozen=True)
class OperatorFigures:
    """An operator, all its instances together."""

    operator: str
    nodes: tuple[str, ...]
    """Where its instances run, in their order."""
    rows_in: int
    """All that came in; of a source, all that it gave."""
    rows_out: int
    busy_ms: float
    rows_per_s: float
    """Of those that come in."""
    busy_share: float
    """Of the time; more than 1 where instances work at the same time."""
    state_bytes: float | None

    @property
    def ms_per_row(self) -> float | None:
        """The work for a row that comes in, over the whole run."""
        return self.busy_ms / self.rows_in if self.rows_in else None


@dataclass(frozen=True)
class StreamFigures:
    """What goes from one operator to another."""

    sender: str
    receiver: str
    rows: int
    bytes: int
    rows_per_s: float
    bytes_per_s: float


@dataclass(frozen=True)
class LatencyFigures:
    """End-to-end latencies of batches, in milliseconds."""

    median: float
    p95: float
    longest: float
    last: float


@dataclass(frozen=True)
class Figures:
    """A run: amounts since its start, and rates of some time that whoever asked for them chose."""

    application: str
    seconds: float
    """Since it was started."""
    batches: int
    rows: int
    """That the sources gave."""
    rows_per_s: float
    quiet_seconds: float | None
    """Since the last batch; None: there was none."""
    operators: tuple[OperatorFigures, ...]
    streams: tuple[StreamFigures, ...]
    latency: LatencyFigures | None
    migrations: int
    last_migration: Mapping[str, Any] | None
    verified_tasks: int
    differences: tuple[str, ...]
    """Instances that ran elsewhere than planned."""


def operator_entry(figures: OperatorFigures) -> dict[str, Any]:
    """For JSON."""
    return {
        "operator": figures.operator,
        "nodes": list(dict.fromkeys(figures.nodes)),
        "rows_in": figures.rows_in,
        "rows_out": figures.rows_out,
        "rows_per_s": round(figures.rows_per_s, 3),
        "busy_ms": round(figures.busy_ms, 3),
        "busy_share": round(figures.busy_share, 6),
        "ms_per_row": None if figures.ms_per_row is None else round(figures.ms_per_row, 6),
        "state_bytes": figures.state_bytes,
    }


def stream_entry(figures: StreamFigures) -> dict[str, Any]:
    """For JSON."""
    return {
        "from": figures.sender,
        "to": figures.receiver,
        "rows": figures.rows,
        "bytes": figures.bytes,
        "rows_per_s": round(figures.rows_per_s, 3),
        "bytes_per_s": round(figures.bytes_per_s, 3),
    }


def latency_entry(figures: LatencyFigures | None) -> dict[str, float] | None:
    """For JSON; None before the first batch."""
    if figures is None:
        return None
    return {"p50": round(figures.median, 1), "p95": round(figures.p95, 1), "max": round(figures.longest, 1)}


class Latencies:
    """Counts times by the bucket that their logarithm falls into: a percentile is off by 2 % at most."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._sums: dict[int, float] = {}
        self.longest = 0.0
        self.last = 0.0

    def add(self, milliseconds: float) -> None:
        """Count one."""
        bucket = math.floor(math.log(max(milliseconds, _SHORTEST_MS)) / _WIDTH)
        self._counts[bucket] += 1
        self._sums[bucket] = self._sums.get(bucket, 0.0) + milliseconds
        self.longest = max(self.longest, milliseconds)
        self.last = milliseconds

    def at(self, share: float) -> float:
        """The time that this share of them doesn't exceed: the mean of its bucket; 0 if there are none."""
        passed, total = 0, self._counts.total()
        for bucket in sorted(self._counts):
            passed += self._counts[bucket]
            if passed >= share * total:
                return self._sums[bucket] / self._counts[bucket]
        return 0.0
