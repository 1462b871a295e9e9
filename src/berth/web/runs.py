"""The runs of a workspace: what `berth run` and `berth watch` write, read while they do."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from berth.files.run_folder import (
    FIGURES_FILE,
    LARGEST_BYTES,
    LARGEST_NOW,
    NOW_FILE,
    PROPOSAL_FILE,
    alive,
    decide,
    open_proposal,
    read_json,
    read_own,
    waits,
)
from berth.model.errors import LONGEST_NAME, shortened
from berth.web.answers import Refused, missing
from berth.web.documents import json_bytes
from berth.web.problems import Problems
from berth.web.readers import readers
from berth.web.reading import LARGEST
from berth.web.workspace import Entry, Remembered, Workspace, is_run, time_text

WHAT = "run"
LINES = "history.jsonl"
ENDS = ("finished", "failed", "stopped")
LARGEST_HISTORY = 256 * 2**20
STARTING_SECONDS = 120.0
_INNER = ("process", "plan", "application", "started", "migrated")
_IN_SHORT = ("id", "application", "started", "time", "ended", "ended_because")
MOST_TOLD = 64
"""Files that are kept as streams tell them."""


@dataclass(frozen=True)
class _Past:
    """What a history comes to."""

    events: int = 0
    migrations: int = 0
    started: str | None = None
    last: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, events: list[dict[str, Any]]) -> _Past:
        starts = [event.get("time") for event in events if event.get("event") == "started"]
        return cls(
            len(events),
            sum(event.get("event") in ("migrated", "rolled back") for event in events),
            str(starts[-1]) if starts else None,
            events[-1] if events else {},
        )


class Runs:
    """Run folders by id."""

    def __init__(self, workspace: Workspace, problems: Problems) -> None:
        self._workspace = workspace
        self._problems = problems
        self._pasts: Remembered[_Past] = Remembered()
        self._began: Remembered[tuple[str, str | None] | None] = Remembered()
        self._short: Remembered[Mapping[str, Any]] = Remembered()
        self._told: Remembered[bytes] = Remembered(MOST_TOLD)
        self._looking: dict[Path, threading.Lock] = defaultdict(threading.Lock)

    def list(self) -> list[dict[str, Any]]:
        """All runs, by path."""
        entries = self._workspace.entries(lambda folder: not is_run(folder))
        return [self._listed(entry) for entry in entries if entry.place.is_dir() and is_run(entry.place)]

    def entry(self, identity: str) -> Entry:
        """A run's folder.

        Raises:
            Refused: there is none.
        """
        entry = self._workspace.entry(identity, WHAT)
        if not entry.place.is_dir() or not is_run(entry.place):
            raise missing(f"{WHAT} {identity!r}")
        return entry

    def told(self, identity: str) -> dict[str, bytes]:
        """What streams tell of a run, as JSON: what has changed is read once for all who watch it."""
        entry = self.entry(identity)
        with self._looking[entry.place]:
            now, proposal = entry.place / NOW_FILE, entry.place / PROPOSAL_FILE
            waiting = waits(self._in_short(proposal, LARGEST_BYTES))
            return {
                "now": self._json(now, LARGEST_NOW, now_of),
                "proposal": self._json(proposal, LARGEST_BYTES, _without_process) if waiting else b"null",
                "state": json_bytes(self._listed(entry)),
            }

    def _json(
        self, file: Path, largest: int, shown: Callable[[dict[str, Any] | None], dict[str, Any] | None]
    ) -> bytes:
        try:
            status = file.lstat()
        except OSError:
            return b"null"
        return self._told.of(file, status, lambda: json_bytes(shown(read_json(file, largest))))

    def _in_short(self, file: Path, largest: int) -> Mapping[str, Any]:
        """What lists need of a file; read again only when it has changed."""
        try:
            status = file.lstat()
        except OSError:
            return {}
        return self._short.of(file, status, lambda: _in_short(read_json(file, largest)))

    def _listed(self, entry: Entry) -> dict[str, Any]:
        place = entry.place
        past = self._past(place)
        now = self._in_short(place / NOW_FILE, LARGEST_NOW)
        report = self._in_short(place / "report.json", LARGEST_BYTES)
        state = self._in_short(place / "run.json", LARGEST_NOW)
        running, updated = _runs(now, past.last, report), _updated(place)
        last = past.last.get("event")
        ended = None if running else report.get("ended_because") or (last if last in ENDS else None)
        facts: dict[str, Any] = {
            "id": entry.id,
            "path": str(entry.path),
            "application": now.get("application") or report.get("application") or state.get("application"),
            "kind": "watch" if (place / LINES).is_file() else "run",
            "state": "running" if running else "ended" if ended is not None else _quiet(now, updated),
            "started": now.get("started") or report.get("started") or past.started,
            "updated": None if updated is None else time_text(updated),
            "ended_because": ended,
            "migrations": past.migrations,
            "proposal": waits(self._in_short(place / PROPOSAL_FILE, LARGEST_BYTES)),
            "plans": len(list((place / "plans").glob("[0-9]*.json"))),
            "events": past.events,
        }
        return facts

    def _past(self, place: Path) -> _Past:
        """What a history comes to; read again only when it has grown."""
        try:
            status = (place / LINES).lstat()
        except OSError:
            return _Past()
        return self._pasts.of(place, status, lambda: _Past.of(read_events(place)))

    def document(self, identity: str) -> dict[str, Any]:
        """All about a run."""
        entry = self.entry(identity)
        facts = self._listed(entry)
        report = read_json(entry.place / "report.json")
        now = read_json(entry.place / NOW_FILE, LARGEST_NOW)
        return facts | {
            "now": now_of(now),
            "report": None if facts["state"] == "running" else report,
            "assignment": _assignment(entry.place, now, report),
            "problem": self._problem(entry.place),
            "proposal": _without_process(open_proposal(entry.place)),
        }

    def _problem(self, place: Path) -> dict[str, Any] | None:
        """The problem that a watch began with, and the file of the workspace that has its content or name."""
        folder = place / "measuring"
        file = folder / "problem.json"
        try:
            began = None if folder.is_symlink() else self._began.of(file, file.lstat(), lambda: _began(file))
        except (OSError, Refused):  # it is gone meanwhile, or too much is being read
            return None
        if began is None:
            return None
        name, fingerprint = began
        return {"id": self._problems.like(fingerprint, name), "name": name}

    def history(self, identity: str, after: int, limit: int) -> dict[str, Any]:
        """Events of a run behind a number."""
        events = read_events(self.entry(identity).place)[after : after + limit]
        return {"events": events, "next": events[-1]["number"] if events else after}

    def figures(self, identity: str, most: int) -> Sequence[dict[str, Any]]:
        """How a run was over time: points for curves, at most so many, the last one among them."""
        points = [each for each in _lines(self.entry(identity).place / FIGURES_FILE) if "time" in each]
        step = -(-len(points) // most) if points else 1
        return points[::-step][::-1]

    def plan(self, identity: str, number: int) -> dict[str, Any]:
        """One of the plans that a watch has made."""
        plans = self.entry(identity).place / "plans"
        found = None if plans.is_symlink() else read_json(plans / f"{number:04d}.json")
        if found is None:
            raise missing(f"plan {number} of run {identity!r}")
        return found

    def timeline(self, identity: str) -> Path:
        """The picture at a watch's end."""
        file = self.entry(identity).place / "timeline.svg"
        if not file.is_file() or file.is_symlink():
            raise missing(f"timeline of run {identity!r}: it is drawn when the watch ends")
        return file

    def decide(self, identity: str, proposal: str, approve: bool, by: str) -> None:
        """Answer a proposal.

        Raises:
            Refused: it doesn't wait for an answer.
        """
        if not decide(self.entry(identity).place, proposal, approve, by):
            raise Refused(
                409, "that proposal waits for no answer: it was answered, or the run went on without"
            )


def _began(file: Path) -> tuple[str, str | None] | None:
    """The name and the fingerprint of a problem, read where it can do no harm; None where it has no name."""
    content = read_own(file, LARGEST)
    if content is None:
        return None
    read = readers().read("problem", content, file.name)
    if read.name is None:
        return None
    return shortened(read.name, LONGEST_NAME), None if read.result is None else read.result.fingerprint


def _in_short(document: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """What lists need of a document: texts, and the process that wrote it."""
    whole = document or {}
    texts = {name: whole[name] for name in _IN_SHORT if isinstance(whole.get(name), str)}
    process = whole.get("process")
    known = (
        {"process": {key: process.get(key) for key in ("pid", "host")}} if isinstance(process, dict) else {}
    )
    return {name: shortened(text, LONGEST_NAME) for name, text in texts.items()} | known


def now_of(now: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """How a run is, or was last, as others are told."""
    return None if now is None else {key: value for key, value in now.items() if key not in _INNER}


def _without_process(proposal: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What waits for an answer, as others are told."""
    return None if proposal is None else {key: value for key, value in proposal.items() if key != "process"}


def read_events(place: Path) -> list[dict[str, Any]]:
    """The history of a watch, numbered from 1; lines that are none are left out."""
    return _lines(place / LINES)


def _lines(file: Path) -> list[dict[str, Any]]:
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
            content = stream.read(LARGEST_HISTORY)
    except OSError:
        return []
    return events_in(content[: content.rfind(b"\n") + 1], 0)


def events_in(content: bytes, before: int) -> list[dict[str, Any]]:
    """Whole lines as events, numbered on from those before."""
    events = []
    for number, line in enumerate(content.splitlines(), start=before + 1):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        known = event if isinstance(event, dict) else {"event": "unreadable"}
        events.append({"number": number, **known})
    return events


def _runs(now: Mapping[str, Any], last: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
    """Whether the process that wrote how it is still runs, and hasn't said that it is done."""
    if not alive(now.get("process")):
        return False
    if last.get("event") in ENDS and str(last.get("time", "")) >= str(now.get("time", "")):
        return False
    return not str(report.get("ended", "")) >= str(now.get("time", "~"))


def _quiet(now: Mapping[str, Any], updated: float | None) -> str:
    """What can be said of a run that has not told of itself: it says how it is only once Spark is there."""
    young = updated is not None and time.time() - updated < STARTING_SECONDS
    return "starting" if young and not now else "unknown"


def _updated(place: Path) -> float | None:
    times = []
    for name in (LINES, NOW_FILE, "report.json", "run.json"):
        try:
            times.append((place / name).stat().st_mtime)
        except OSError:
            continue
    return max(times) if times else None


def _assignment(
    place: Path, now: dict[str, Any] | None, report: dict[str, Any] | None
) -> dict[str, str] | None:
    """Where everything is: by the last word of the run, or of its history."""
    for source in (now, report):
        if source is not None and isinstance(source.get("plan"), dict):
            found: dict[str, str] = source["plan"]
            return found
    for event in reversed(read_events(place)):
        moved = event.get("event") in ("started", "migrated", "rolled back", "looked")
        if moved and isinstance(event.get("assignment"), dict):
            assignment: dict[str, str] = event["assignment"]
            return assignment
    return None
