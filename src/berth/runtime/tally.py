"""What a run comes to: amounts, rates and latencies, in memory that doesn't grow with time."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from berth.files.document import read_document
from berth.files.run_folder import write_now
from berth.model import BadInput
from berth.runtime.application import Application
from berth.runtime.measures import BatchMeasures
from berth.runtime.placement import Placement, instance_name

RECENT_MS = 30_000.0
"""What "now" is in rates."""
MOST_RECENT = 300
"""Batches that are kept for these."""
PATIENCE_MS = 10_000.0
"""So long after a batch, or twice the time that it stood for, rates begin to fall."""
MOST_MIGRATIONS = 1_000
"""The newest, that are kept; all are counted."""
MOST_DIFFERENCES = 100
"""The first, that are kept: one is too many already."""

Amounts = dict[tuple[str, ...], float]
"""By what it is and whose: `("in", operator)`, `("bytes", sender, receiver)`."""
REPORT_FILE = "report.json"
EVERY_SECONDS = 1.0
_WIDTH = math.log(1.02)
"""Of a bucket of latencies: its end is 2 % above its start."""
_SHORTEST_MS = 0.01
_DIGITS = {
    **dict.fromkeys(("seconds", "rows_per_s", "bytes_per_s", "busy_ms"), 3),
    **dict.fromkeys(("busy_share", "ms_per_row"), 6),
    **dict.fromkeys(("p50", "p95", "max", "last"), 1),
}
"""That numbers have in JSON."""


@dataclass(frozen=True)
class OperatorFigures:
    """An operator, all its instances together."""

    operator: str
    nodes: tuple[str, ...]
    """Where its instances run, in their order."""
    rows_in: int
    """All that came in; of a source, all that it gave."""
    rows_out: int
    rows_per_s: float
    """Of those that come in."""
    busy_ms: float
    busy_share: float
    """Of the time; more than 1 where instances work at the same time."""
    ms_per_row: float | None
    """The work for a row that comes in, over the whole run."""
    state_bytes: float | None

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return _rounded(asdict(self)) | {"nodes": list(dict.fromkeys(self.nodes))}


@dataclass(frozen=True)
class StreamFigures:
    """What goes from one operator to another."""

    sender: str
    receiver: str
    rows: int
    bytes: int
    rows_per_s: float
    bytes_per_s: float

    def document(self) -> dict[str, Any]:
        """For JSON."""
        values = _rounded(asdict(self))
        return {"from": values.pop("sender"), "to": values.pop("receiver"), **values}


@dataclass(frozen=True)
class LatencyFigures:
    """End-to-end latencies of batches, in milliseconds."""

    p50: float
    p95: float
    max: float
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


@dataclass(frozen=True)
class _Span:
    """The time that a batch stands for, and what it brought."""

    since_ms: float
    until_ms: float
    amounts: Amounts


class RunTally:
    """Takes one batch after another; it may be asked from another thread at any time."""

    def __init__(self, application: Application, placement: Placement, started_ms: float) -> None:
        self._application = application
        self._placement = placement
        self._started_ms = started_ms
        self._ended_ms: float | None = None
        self._lock = threading.Lock()
        self._batches = 0
        self._covered_ms = 0.0
        self._total: Amounts = defaultdict(float)
        self._instances: Amounts = defaultdict(float)
        self._recent: deque[_Span] = deque(maxlen=MOST_RECENT)
        self._latencies = Latencies()
        self._state_bytes: dict[str, float] = {}
        self._migrated = 0
        self._migrations: deque[Mapping[str, Any]] = deque(maxlen=MOST_MIGRATIONS)
        self._verified_tasks = 0
        self._differences: list[str] = []

    def add(self, measures: BatchMeasures) -> None:
        """Count a batch; it stands for the time since the one before it, as it does in the telemetry."""
        amounts = _amounts_of(measures)
        with self._lock:
            since = self._recent[-1].until_ms if self._recent else measures.began_ms
            if since >= measures.ended_ms:  # somebody set the clock back
                since = measures.began_ms
            self._recent.append(_Span(since, max(since + 1, measures.ended_ms), amounts))
            self._covered_ms += max(1.0, measures.ended_ms - since)
            _add(self._total, amounts)
            _add(self._instances, _amounts_of_instances(measures))
            self._batches += 1
            self._latencies.add(measures.latency_ms)
            self._placement = measures.placement
            self._state_bytes |= measures.state_bytes
            self._verified_tasks += measures.verified_tasks
            self._differences += measures.differences[: MOST_DIFFERENCES - len(self._differences)]

    def migrated(self, migration: Mapping[str, Any]) -> None:
        """Note a migration: `moved`, `pause_seconds` and `state_bytes`, and what else there is to say."""
        with self._lock:
            self._migrated += 1
            self._migrations.append(dict(migration))

    def end(self, ended_ms: float) -> None:
        """Say when the run ended."""
        with self._lock:
            self._ended_ms = ended_ms

    def now(self, now_ms: float | None = None) -> Figures:
        """How it is, with the rates of the last 30 seconds."""
        with self._lock:
            moment = time.time() * 1000 if now_ms is None else now_ms
            return self._figures(moment, *self._recently(moment))

    def overall(self) -> Figures:
        """How it was: rates over all the time that batches stand for."""
        with self._lock:
            return self._figures(self._until_ms, self._total, self._covered_ms)

    def now_document(self) -> dict[str, Any]:
        """How it is, for JSON: with the keys of the report, and the latency of the last batch."""
        return self._document(self.now())

    def document(self) -> dict[str, Any]:
        """The report, for JSON."""
        figures = self.overall()
        document = self._document(figures)
        if document["latency_ms"] is not None:
            del document["latency_ms"]["last"]
        with self._lock:
            for operator in document["operators"]:
                operator["instances"] = self._instances_of(operator["operator"])
            return document | {
                "ended": _iso(self._until_ms),
                "placement": {
                    "verified_tasks": figures.verified_tasks,
                    "differences": list(figures.differences),
                },
                "migrations": [_migration_entry(each) for each in self._migrations],
            }

    def _document(self, figures: Figures) -> dict[str, Any]:
        """What is said of a run while it goes on and at its end."""
        with self._lock:
            plan = self._plan()
        head = {
            "application": figures.application,
            "started": _iso(self._started_ms),
            "seconds": figures.seconds,
            "batches": figures.batches,
            "rows": figures.rows,
            "rows_per_s": figures.rows_per_s,
        }
        return _rounded(head) | {
            "latency_ms": None if figures.latency is None else _rounded(asdict(figures.latency)),
            "plan": plan,
            "operators": [each.document() for each in figures.operators],
            "streams": [each.document() for each in figures.streams],
            "migrated": figures.migrations,
        }

    @property
    def _until_ms(self) -> float:
        if self._ended_ms is not None:
            return self._ended_ms
        return self._recent[-1].until_ms if self._recent else self._started_ms

    def _recently(self, now_ms: float) -> tuple[Amounts, float]:
        """What the last while brought, and how long it was."""
        amounts: Amounts = defaultdict(float)
        if not self._recent:
            return amounts, 0.0
        last = self._recent[-1]
        patience = max(PATIENCE_MS, 2 * (last.until_ms - last.since_ms))
        until = last.until_ms if now_ms - last.until_ms <= patience else now_ms
        since = max(until - RECENT_MS, self._recent[0].since_ms)
        for span in self._recent:
            inside = min(span.until_ms, until) - max(span.since_ms, since)
            if inside > 0:
                _add(amounts, span.amounts, inside / (span.until_ms - span.since_ms))
        return amounts, until - since

    def _figures(self, now_ms: float, rated: Amounts, rated_ms: float) -> Figures:
        """Amounts of all the time, and the rates of a part of it."""
        quiet = max(0.0, now_ms - self._recent[-1].until_ms) / 1000 if self._recent else None
        return Figures(
            application=self._application.name,
            seconds=max(0.0, now_ms - self._started_ms) / 1000,
            batches=self._batches,
            rows=round(self._total["rows",]),
            rows_per_s=_per_second(rated, rated_ms, "rows"),
            quiet_seconds=quiet,
            operators=tuple(self._operator(name, rated, rated_ms) for name in self._application.operators),
            streams=tuple(self._stream(*ends, rated, rated_ms) for ends in self._application.streams),
            latency=self._latencies.figures() if self._batches else None,
            migrations=self._migrated,
            last_migration=self._migrations[-1] if self._migrations else None,
            verified_tasks=self._verified_tasks,
            differences=tuple(self._differences),
        )

    def _operator(self, name: str, rated: Amounts, rated_ms: float) -> OperatorFigures:
        rows_in, busy_ms = round(self._total["in", name]), self._total["busy", name]
        return OperatorFigures(
            operator=name,
            nodes=self._placement.nodes[name],
            rows_in=rows_in,
            rows_out=round(self._total["out", name]),
            rows_per_s=_per_second(rated, rated_ms, "in", name),
            busy_ms=busy_ms,
            busy_share=_per_second(rated, rated_ms, "busy", name) / 1000,
            ms_per_row=busy_ms / rows_in if rows_in else None,
            state_bytes=self._state_bytes.get(name),
        )

    def _stream(self, sender: str, receiver: str, rated: Amounts, rated_ms: float) -> StreamFigures:
        return StreamFigures(
            sender=sender,
            receiver=receiver,
            rows=round(self._total["rows", sender, receiver]),
            bytes=round(self._total["bytes", sender, receiver]),
            rows_per_s=_per_second(rated, rated_ms, "rows", sender, receiver),
            bytes_per_s=_per_second(rated, rated_ms, "bytes", sender, receiver),
        )

    def _plan(self) -> dict[str, str]:
        """The plan of the last batch, as plan files have it."""
        return {
            self._application.full_name(instance_name(operator, number, len(nodes))): node
            for operator, nodes in self._placement.nodes.items()
            for number, node in enumerate(nodes)
        }

    def _instances_of(self, operator: str) -> list[dict[str, Any]]:
        """What each instance did on each node that it ran on."""
        places = sorted({key[1:] for key in self._instances if key[1] == operator})
        return [
            {
                "instance": instance,
                "node": node,
                "rows_in": round(self._instances["in", operator, instance, node]),
                "rows_out": round(self._instances["out", operator, instance, node]),
                "busy_ms": round(self._instances["busy", operator, instance, node], 3),
            }
            for operator, instance, node in places
        ]


def _amounts_of(measures: BatchMeasures) -> Amounts:
    amounts: Amounts = defaultdict(float)
    amounts["rows",] += measures.rows
    for each in measures.instances:
        amounts["in", each.operator] += each.rows_in
        amounts["out", each.operator] += each.rows_out
        amounts["busy", each.operator] += each.busy_ms
    for stream in measures.streams:
        amounts["rows", stream.sender, stream.receiver] += stream.rows
        amounts["bytes", stream.sender, stream.receiver] += stream.bytes
    return amounts


def _amounts_of_instances(measures: BatchMeasures) -> Amounts:
    amounts: Amounts = {}
    for each in measures.instances:
        place = each.operator, each.instance, each.node
        amounts["in", *place] = each.rows_in
        amounts["out", *place] = each.rows_out
        amounts["busy", *place] = each.busy_ms
    return amounts


def _add(total: Amounts, amounts: Amounts, share: float = 1.0) -> None:
    for key, amount in amounts.items():
        total[key] += amount * share


def _per_second(amounts: Amounts, milliseconds: float, *key: str) -> float:
    return amounts.get(key, 0.0) / milliseconds * 1000 if milliseconds else 0.0


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value if value is None or key not in _DIGITS else round(value, _DIGITS[key])
        for key, value in values.items()
    }


def _migration_entry(migration: Mapping[str, Any]) -> dict[str, Any]:
    moved = {name: {"from": a, "to": b} for name, (a, b) in dict(migration.get("moved", {})).items()}
    return {**migration, "moved": moved}


def _iso(epoch_ms: float) -> str:
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).isoformat(timespec="milliseconds")


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

    def figures(self) -> LatencyFigures:
        """What there is to say of them."""
        return LatencyFigures(self.at(0.5), self.at(0.95), self.longest, self.last)


class TallyWriter:
    """Counts batches, and writes what they come to into the run's folder."""

    def __init__(self, tally: RunTally, folder: Path) -> None:
        self._tally = tally
        self._folder = folder
        self._written_at = -EVERY_SECONDS

    def add(self, measures: BatchMeasures) -> None:
        """Count a batch."""
        self._tally.add(measures)
        now = time.monotonic()
        if now - self._written_at >= EVERY_SECONDS:
            self._written_at = now
            try:
                write_now(self._folder, self._tally.now_document())
            except BadInput:
                # a full disk ends no run: the next batch tries again
                self._written_at = now + EVERY_SECONDS


def measured_sizes(folder: Path) -> dict[tuple[str, str, str], float]:
    """What a tuple of each stream weighed in a run, by its report: by application and the stream's ends.

    Raises:
        BadInput: the folder has no report of a run.
    """
    report = read_document(folder / REPORT_FILE)
    try:
        return {
            _stream_of(report["application"], stream["from"], stream["to"]): stream["bytes"] / stream["rows"]
            for stream in report["streams"]
            if stream["rows"] > 0 and stream["bytes"] > 0
        }
    except (KeyError, TypeError):
        raise BadInput(f"{folder / REPORT_FILE}: not the report of a run") from None


def _stream_of(application: str, sender: str, receiver: str) -> tuple[str, str, str]:
    """A stream as a problem file has it; where several applications ran as one, it is its receiver's."""
    owner, several, name = receiver.partition("/")
    return (owner, sender.partition("/")[2], name) if several else (application, sender, receiver)
