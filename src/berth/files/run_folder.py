"""What a run and whoever looks at it tell each other through the run's folder.

`now.json`: how the run is at this moment. `figures.jsonl`: how it was every few seconds. `proposal.json`: a
move that waits for an answer. `decision.json`: the answer. All but the
figures are written whole or not at all.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from berth.evaluation.evaluate import change_between
from berth.files.document import write_text
from berth.files.plan_file import plan_document
from berth.model import Plan

NOW_FILE, PROPOSAL_FILE, DECISION_FILE = "now.json", "proposal.json", "decision.json"
FIGURES_FILE = "figures.jsonl"
FIGURES_EVERY_SECONDS = 5.0
LARGEST_FIGURES = 64 * 2**20
"""Some weeks of them."""
LARGEST_BYTES = 4 * 2**20
"""Of a proposal, a plan or a report: tens of thousands of instances."""
LARGEST_NOW = 2**20
"""Of what is looked at again and again."""


class Question:
    """A move that waits for an answer in a folder."""

    def __init__(self, folder: Path) -> None:
        self.id = secrets.token_hex(8)
        self._folder = folder

    def answer(self) -> bool | None:
        """What somebody has decided; None while nobody has."""
        decision = read_json(self._folder / DECISION_FILE, LARGEST_NOW)
        if decision is None or decision.get("proposal") != self.id:
            return None
        return decision.get("approve") is True


@contextmanager
def asking(folder: Path, reason: str, before: Plan, after: Plan) -> Iterator[Question]:
    """Put a proposal into a folder as long as the block runs."""
    question = Question(folder)
    proposal = {
        "id": question.id,
        "time": moment(time.time()),
        "reason": reason,
        "before": plan_document(before),
        "after": plan_document(after),
        "change": change_between(before, after).document(),
        "process": process_of_ours(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / PROPOSAL_FILE, json.dumps(proposal) + "\n")
    try:
        yield question
    finally:
        for name in (PROPOSAL_FILE, DECISION_FILE):
            with suppress(FileNotFoundError):
                (folder / name).unlink()


def decide(folder: Path, proposal: str, approve: bool, by: str) -> bool:
    """Answer a proposal; whether it still waits for an answer."""
    waiting = open_proposal(folder)
    if waiting is None or waiting["id"] != proposal or read_json(folder / DECISION_FILE) is not None:
        return False
    decision = {"proposal": proposal, "approve": approve, "by": by, "time": moment(time.time())}
    write_text(folder / DECISION_FILE, json.dumps(decision) + "\n")
    return True


def open_proposal(folder: Path) -> dict[str, Any] | None:
    """The proposal that waits in a folder; None where none does, or who asked is gone."""
    proposal = read_json(folder / PROPOSAL_FILE)
    return proposal if proposal is not None and waits(proposal) else None


def waits(proposal: Mapping[str, Any]) -> bool:
    """Whether whoever made a proposal is still there to take an answer."""
    return isinstance(proposal.get("id"), str) and alive(proposal.get("process"))


def write_now(folder: Path, figures: Mapping[str, Any]) -> None:
    """Say how a run is."""
    document = {"time": moment(time.time()), "process": process_of_ours(), **figures}
    write_text(folder / NOW_FILE, json.dumps(document) + "\n")
    _keep(folder / FIGURES_FILE, document)


def _keep(file: Path, now: Mapping[str, Any]) -> None:
    """Append what curves are drawn of, if the last time is long enough ago."""
    with suppress(FileNotFoundError):
        status = file.stat()
        if time.time() - status.st_mtime < FIGURES_EVERY_SECONDS or status.st_size > LARGEST_FIGURES:
            return
    latency = now.get("latency_ms") or {}
    point = {
        "time": now["time"],
        "rows_per_s": now.get("rows_per_s"),
        "latency_ms": {name: latency.get(name) for name in ("p50", "p95")},
        "busy": {each["operator"]: each.get("busy_share") for each in now.get("operators", ())},
    }
    with file.open("a") as stream:
        stream.write(json.dumps(point) + "\n")


def read_json(file: Path, largest: int = LARGEST_BYTES) -> dict[str, Any] | None:
    """A mapping in a file; None where there is none (or none yet), or more than it should be."""
    content = read_own(file, largest)
    try:
        found = None if content is None else json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_own(file: Path, largest: int) -> bytes | None:
    """A file of a run; None where there is none, or a larger one. A link is none: it could lead anywhere."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
            content = stream.read(largest + 1)
    except OSError:
        return None
    return content if len(content) <= largest else None


def process_of_ours() -> dict[str, Any]:
    """What others can find this process by."""
    return {"pid": os.getpid(), "host": socket.gethostname()}


def alive(process: Any) -> bool:
    """Whether a process is still there, as far as can be seen: another machine's is taken to be."""
    if not isinstance(process, dict) or not isinstance(process.get("pid"), int):
        return False
    if process.get("host") != socket.gethostname():
        return True
    try:
        os.kill(process["pid"], 0)
    except ProcessLookupError:
        return False
    except (OverflowError, PermissionError):
        return True
    return True


def moment(seconds: float) -> str:
    """A time in ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
