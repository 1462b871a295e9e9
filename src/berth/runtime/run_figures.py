"""How a run is at one moment, for people and for reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
