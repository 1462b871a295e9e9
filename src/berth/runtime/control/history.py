"""What happened to a watched application: a line for each event, safe at once, and a table of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from berth.disk import private_folder, replace_file, sync
from berth.files import save_plan
from berth.model import BadInput, Plan
from berth.runtime.control.offers import Places, places_of

LINES_FILE, TABLE_FILE, PLANS_FOLDER = "history.jsonl", "history.parquet", "plans"
TABLE_EVERY = 20
"""Events after which the table is written anew."""

Name = Literal[
    "started",
    "looked",
    "warned",
    "kept",
    "waited",
    "proposed",
    "declined",
    "migrated",
    "rolled back",
    "migration failed",
    "measuring failed",
    "node lost",
    "node back",
    "stuck",
    "finished",
    "failed",
    "stopped",
]

SCHEMA = pa.schema(
    [
        pa.field("time", pa.timestamp("ms", tz="UTC"), nullable=False),
        pa.field("event", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("plan", pa.int32()),
        pa.field("assignment", pa.map_(pa.string(), pa.string())),
        pa.field("node", pa.string()),
        pa.field("value_before", pa.float64()),
        pa.field("value_promised", pa.float64()),
        pa.field("value_achieved", pa.float64()),
        pa.field("gain", pa.float64()),
        pa.field(
            "moved",
            pa.list_(pa.struct([("instance", pa.string()), ("from", pa.string()), ("to", pa.string())])),
        ),
        pa.field("pause_s", pa.float64()),
        pa.field("state_bytes", pa.float64()),
        pa.field("source_bytes_per_s", pa.float64()),
        pa.field("noticed_s", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Event:
    """Something that happened; what means nothing for it is None or empty."""

    time: float
    """In seconds since 1970."""
    event: Name
    reason: str = ""
    plan: int | None = None
    """The number of the plan that runs, or that was proposed: `plans/0001.json` is the first."""
    assignment: Mapping[str, str] = field(default_factory=dict)
    node: str | None = None
    value_before: float | None = None
    """The objective of the plan before, as measured when the decision was made."""
    value_promised: float | None = None
    value_achieved: float | None = None
    """The objective of the plan that runs, under what was measured last."""
    gain: float | None = None
    moved: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    pause_s: float | None = None
    state_bytes: float | None = None
    source_bytes_per_s: float | None = None
    noticed_s: float | None = None
    """Of a move that leaves dead nodes: seconds from when they were noticed until it began."""

    def document(self) -> dict[str, Any]:
        """As plain data, without what is empty."""
        moves = [{"instance": name, "from": old, "to": new} for name, (old, new) in self.moved.items()]
        time = datetime.fromtimestamp(self.time, UTC).isoformat(timespec="milliseconds")
        known = {**asdict(self), "time": time, "assignment": dict(self.assignment), "moved": moves}
        return {key: value for key, value in known.items() if value not in (None, {}, [], "")}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Event:
        """The event again; keys that this version doesn't know are left out."""
        known = {item.name for item in fields(cls)}
        values = {key: value for key, value in document.items() if key in known}
        values["time"] = datetime.fromisoformat(values["time"]).timestamp()
        values["moved"] = {item["instance"]: (item["from"], item["to"]) for item in values.get("moved", ())}
        return cls(**values)


class History:
    """The record of one folder: appended to, never rewritten; a later watch of the folder goes on with it.

    A line is on the disk before `record` returns. The table is written aside and renamed, now and then and at
    the end; the lines are what it is made from.
    """

    def __init__(self, folder: Path, tell: Callable[[Event], None] = lambda event: None) -> None:
        self._folder = folder
        self._tell = tell
        self._plans = folder / PLANS_FOLDER
        try:
            private_folder(folder)
            self._plans.mkdir(exist_ok=True)
            _end_torn_line(folder / LINES_FILE)
            self._lines = (folder / LINES_FILE).open("ab")
        except OSError as error:
            raise BadInput(f"{folder}: can't be written: {(error.strerror or str(error)).lower()}") from None
        sync(folder)
        self._numbers: dict[Places, int] = {}
        self._last_plan = max((int(file.stem) for file in self._plans.glob("[0-9]*.json")), default=0)
        self._since_table = 0

    def __enter__(self) -> History:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def plan_number(self, plan: Plan) -> int:
        """The number of a plan; a plan that is new to this record is written to its folder."""
        key = places_of(plan)
        if key not in self._numbers:
            self._last_plan += 1
            save_plan(plan, self._plans / f"{self._last_plan:04d}.json")
            self._numbers[key] = self._last_plan
        return self._numbers[key]

    def record(self, event: Event) -> Event:
        """Write an event down; it is on the disk when this returns."""
        line = json.dumps(event.document(), ensure_ascii=False, allow_nan=False)
        self._lines.write(line.encode() + b"\n")
        self._lines.flush()
        os.fsync(self._lines.fileno())
        self._since_table += 1
        if self._since_table >= TABLE_EVERY:
            self.write_table()
        self._tell(event)
        return event

    def events(self) -> list[Event]:
        """All that is written down, of earlier watches, too."""
        return read_history(self._folder)

    def write_table(self) -> None:
        """Put the events into the table."""
        self._since_table = 0
        content = pa.BufferOutputStream()
        pq.write_table(table_of(self.events()), content)
        replace_file(self._folder / TABLE_FILE, content.getvalue().to_pybytes())

    def close(self) -> None:
        """Write the table a last time."""
        if not self._lines.closed:
            self._lines.close()
            self.write_table()


def read_history(folder: Path) -> list[Event]:
    """The events in a folder's record, in their order; a line that a crash cut is left out."""
    try:
        content = (folder / LINES_FILE).read_bytes()
    except FileNotFoundError:
        return []
    whole = content[: content.rfind(b"\n") + 1]
    return [Event.from_document(json.loads(line)) for line in whole.splitlines()]


def last_watch(events: Sequence[Event]) -> list[Event]:
    """The events of the last watch of a folder."""
    last = max((number for number, event in enumerate(events) if event.event == "started"), default=0)
    return list(events[last:])


def table_of(events: list[Event]) -> pa.Table:
    """Events as rows."""
    rows = []
    for event in events:
        document = event.document()
        rows.append(
            {name: document.get(name) for name in SCHEMA.names}
            | {
                "time": datetime.fromtimestamp(event.time, UTC),
                "reason": event.reason,
                "assignment": list(event.assignment.items()) or None,
            }
        )
    return pa.Table.from_pylist(rows, SCHEMA)


def _end_torn_line(file: Path) -> None:
    """Take away what a crash left of a line: it was never said to be written."""
    with suppress(FileNotFoundError):
        content = file.read_bytes()
        if content and not content.endswith(b"\n"):
            os.truncate(file, content.rfind(b"\n") + 1)
