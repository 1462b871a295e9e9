"""Jobs as records on the disk: what was requested, how far it is, what came of it."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from berth.files import write_bytes, write_text
from berth.web.worker import append_event
from berth.web.workspace import Content, time_text

State = Literal["waiting", "running", "cancelling", "done", "cancelled", "failed", "broken"]
OVER = ("done", "cancelled", "failed", "broken")
RECORD, REQUEST, EVENTS, OUTCOME = "job.json", "request.json", "events.jsonl", "outcome.json"
_PROGRESS = ("objective", "bound", "gap", "stage")
ID_PATTERN = r"^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$"


@dataclass(frozen=True)
class Job:
    """One solve, or the search for a front."""

    id: str
    state: State
    problem: str
    """The problem's id."""
    problem_name: str
    problem_etag: str
    policy: str
    request: Mapping[str, Any]
    created: float
    started: float | None = None
    ended: float | None = None
    goal: Mapping[str, float] | Sequence[Mapping[str, float]] = field(default_factory=dict)
    """What was asked for, and at the end what the policy went by; `objective` counts the first of several."""
    maximise: bool = False
    plan: str | None = None
    """The id of the plan file."""
    status: str | None = None
    reason: str | None = None
    violations: int | None = None
    objective: float | None = None
    bound: float | None = None
    gap: float | None = None
    stage: str = ""
    metrics: Mapping[str, float] | None = None
    author: str = ""
    kind: Literal["solve", "front"] = "solve"
    points: int | None = None
    """Of a front that is there."""

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state in OVER

    def document(self, position: int | None = None) -> dict[str, Any]:
        """For answers; `position` is its place in the queue."""
        until = self.ended or time.time()
        whole = asdict(self)
        whole["by"] = whole.pop("author")
        for name in ("created", "started", "ended"):
            whole[name] = None if whole[name] is None else time_text(whole[name])
        elapsed = None if self.started is None else round(max(0.0, until - self.started), 3)
        return whole | {"elapsed": elapsed, "position": position}


def new_id() -> str:
    """Ids sort by time."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"


class JobFolder:
    """The records of all jobs; each has a folder of its own."""

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(parents=True, exist_ok=True)

    def place(self, identity: str) -> Path:
        """A job's folder."""
        return self._root / identity

    def save(self, job: Job) -> None:
        """Write a record, whole or not at all; its state becomes an event for those who watch."""
        write_text(self.place(job.id) / RECORD, json.dumps(asdict(job), allow_nan=False))
        append_event(self.place(job.id) / EVENTS, "state", job.document())

    def forget(self, identity: str) -> None:
        """Take a job's folder away."""
        shutil.rmtree(self.place(identity), ignore_errors=True)

    def all(self) -> list[Job]:
        """Every job on the disk, oldest first; what can't be read is left out."""
        found = []
        for place in sorted(self._root.iterdir()):
            if re.fullmatch(ID_PATTERN, place.name):
                job = _read(place)
                if job is not None:
                    found.append(job)
        return found

    def latest(self, job: Job) -> Job:
        """A running job with its last progress."""
        progress = {} if job.over else _last_progress(self.place(job.id) / EVENTS)
        # of a front there are many objectives, one for each point
        names = _PROGRESS if job.kind == "solve" else ("stage",)
        return replace(job, **{name: progress[name] for name in names if name in progress})


def _last_progress(file: Path) -> dict[str, Any]:
    """The newest progress in a file of events."""
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - 16_384))
            lines = stream.read().splitlines()
    except OSError:
        return {}
    for line in reversed(lines):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("event") == "progress":
            data: dict[str, Any] = event["data"]
            return data
    return {}


def write_request(
    place: Path, kind: str, request: Mapping[str, Any], problem: Content, extra: Mapping[str, str]
) -> None:
    """Put into a folder what a process works on: a request, the problem as it is now, and other files."""
    file = f"problem{problem.entry.path.suffix.lower()}"
    write_bytes(place / file, problem.data)
    for name, text in extra.items():
        write_text(place / name, text)
    whole = {**request, "kind": kind, "problem_file": file}
    write_text(place / REQUEST, json.dumps(whole, allow_nan=False))


def read_outcome(place: Path) -> dict[str, Any] | None:
    """What a process left in its folder; None where it left nothing."""
    try:
        found = json.loads((place / OUTCOME).read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _read(place: Path) -> Job | None:
    try:
        record = json.loads((place / RECORD).read_text())
        known = {item.name for item in fields(Job)}
        return Job(**{key: value for key, value in record.items() if key in known})
    except (OSError, ValueError, TypeError):
        return None
