"""The four feeds of telemetry that a run writes, as JSON lines that `berth ingest` reads."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from berth.files.document import write_text
from berth.model import BadInput
from berth.runtime.application import Application
from berth.runtime.measures import BatchMeasures, InstanceMeasures

FOLDERS = ("probes", "heartbeats", "operators", "streams")

FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
"""From one file to the next: it doubles from the first to the longest."""
MOST_RECORDS = 10_000
"""Of all folders, that wait for being written."""

IDLE_MS = 10_000.0
"""A pause in which no batch came is put down as empty from this length on."""
_SHORTEST_MS = 1.0

Record = dict[str, Any]


def probe_record(at_ms: float, sender: str, receiver: str, rtt_ms: float) -> Record:
    """A round trip between two nodes."""
    return {"ts": round(at_ms), "from": sender, "to": receiver, "rtt_ms": rtt_ms}


def heartbeat_record(at_ms: float, node: str, up: bool, run_queue: float = 0.0, mips: float = 0.0) -> Record:
    """A node is there, or is known to be away; then its figures count for nothing."""
    return {"ts": round(at_ms), "node": node, "up": up, "run_queue": run_queue, "mips": mips}


class Feeds:
    """Writes telemetry, whole files at a time; it may be used by several threads.

    **What time a batch stands for.** Rates are sums of rows over sums of `window_ms`, so every moment has to
    count once. A batch stands for the time since the one before it ended; the first one for its own
    duration. Rows that arrive while a batch runs come with the next one, so both add up. A time without
    batches belongs to the next batch, or to records without rows if it is long (`idle`): an idle minute is a
    minute.

    **Pauses.** When a plan is changed, or a node has died, no batch runs for a while, but rows go on
    arriving, and come with the batches behind the pause. So a pause is time like any other. Without it, what
    has piled up would look like a burst, and the next plan would be made for that. A source that never runs
    out (files from long ago) has no rate of its own; what is measured of it is what went through, pauses
    included. Between two runs, when nobody looks, no time passes: the first batch of a run stands for its
    own duration.

    **Files.** Records wait in memory and go to a file a minute, so that a day makes 1,440 of them for each
    folder and not one for each batch. A young run writes sooner, after 1, 2, 4 seconds and so on, because a
    short one should leave something and a control loop waits for the first figures. What a killed run loses
    is what still waited. A file is written aside, under a name that begins with a dot, and renamed. Names
    begin with the time and carry a number and a mark of their own for each `Feeds`, so that none comes twice.
    """

    def __init__(
        self, folder: Path, application: Application, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Feeds into a folder, which is made if it isn't there.

        Raises:
            BadInput: it can't be made.
        """
        self._folder = folder
        self._application = application
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, list[Record]] = {name: [] for name in FOLDERS}
        self._wait = FIRST_WAIT_SECONDS
        self._due = clock()
        self._mark = secrets.token_hex(4)
        self._number = 0
        self._covered_ms: float | None = None
        self._streams: list[tuple[str, str]] = []
        try:
            for name in FOLDERS:
                (folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{folder}: can't be made: {(error.strerror or str(error)).lower()}") from None

    def __enter__(self) -> Feeds:
        return self

    def __exit__(self, *error: object) -> None:
        self.flush()

    def batch(self, measures: BatchMeasures) -> None:
        """What the instances did in a batch, and what the streams carried."""
        ended = round(measures.ended_ms)
        with self._lock:
            self._streams = [(each.sender, each.receiver) for each in measures.streams]
            self._waiting["operators"] += [self._worked(ended, each) for each in measures.instances]
            window_ms = self._cover(measures.began_ms, measures.ended_ms)
            for each in measures.streams:
                self._carried(ended, each.sender, each.receiver, each.rows, each.bytes, window_ms)
            self._write_if_due()

    def idle(self, until_ms: float) -> None:
        """Say that up to now nothing flowed; only when no batch is under way, as often as one likes."""
        with self._lock:
            if self._covered_ms is None or until_ms - self._covered_ms < IDLE_MS:
                return
            window_ms = self._cover(self._covered_ms, until_ms)
            for sender, receiver in self._streams:
                self._carried(round(until_ms), sender, receiver, 0, 0, window_ms)
            self._write_if_due()

    def add(self, folder: Literal["probes", "heartbeats"], records: Iterable[Record]) -> None:
        """Round trips between nodes, or which nodes are there."""
        with self._lock:
            self._waiting[folder] += records
            self._write_if_due()

    def flush(self) -> None:
        """Write all that waits, for a reader who comes now.

        Raises:
            BadInput: it can't be written; it waits on.
        """
        with self._lock:
            self._write()

    def _worked(self, ts: int, measures: InstanceMeasures) -> Record:
        application, operator = self._application.origin(measures.operator)
        return {
            "ts": ts,
            "application": application,
            "operator": operator,
            "instance": operator + measures.instance.removeprefix(measures.operator),
            "node": measures.node,
            "tuples": measures.rows_in,
            "busy_ms": round(measures.busy_ms, 3),
        }

    def _carried(self, ts: int, sender: str, receiver: str, rows: int, size: int, window_ms: float) -> None:
        application, origin, end = self._application.stream_origin(sender, receiver)
        self._waiting["streams"].append(
            {
                "ts": ts,
                "application": application,
                "from": origin,
                "to": end,
                "tuples": rows,
                "bytes": size,
                "window_ms": window_ms,
            }
        )

    def _cover(self, began_ms: float, ended_ms: float) -> float:
        """The time up to an end that no record stands for yet."""
        since = began_ms if self._covered_ms is None else self._covered_ms
        if since >= ended_ms:  # somebody set the clock back
            since = began_ms
        self._covered_ms = ended_ms
        return round(max(_SHORTEST_MS, ended_ms - since), 3)

    def _write_if_due(self) -> None:
        full = sum(map(len, self._waiting.values())) >= MOST_RECORDS
        if full or self._clock() >= self._due:
            self._write()

    def _write(self) -> None:
        for name, records in self._waiting.items():
            if not records:
                continue
            text = "".join(json.dumps(record, allow_nan=False) + "\n" for record in records)
            write_text(self._folder / name / self._next_name(), text)
            records.clear()
        self._due = self._clock() + self._wait
        self._wait = min(2 * self._wait, LONGEST_WAIT_SECONDS)

    def _next_name(self) -> str:
        self._number += 1
        now = datetime.now(UTC)
        stamp = f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03d}Z"
        return f"{stamp}-{self._number:06d}-{self._mark}.jsonl"
