"""Which kind of file it is, by its format or its shape: whoever swaps two arguments is told so."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from berth.model import BadInput

Kind = Literal["problem", "plan", "events", "front", "explanation"]

_WORDS: dict[Kind, str] = {
    "problem": "a problem",
    "plan": "a plan",
    "events": "a file of events",
    "front": "a front",
    "explanation": "an explanation",
}
_OF_EVENTS = {"rates", "failures", "migrations", "losses"}
_OF_TELEMETRY = ("probes", "heartbeats", "operators", "streams", "energy")


class WrongKind(BadInput):
    """Something of one kind where another is wanted."""


def expect(document: Any, wanted: Kind) -> None:
    """Nothing, unless a document is clearly of another kind.

    Raises:
        WrongKind: it is.
    """
    found = kind_of(document)
    if found not in (wanted, None):
        plans = " (its plans are the files point-*.json beside it)" if found == "front" else ""
        raise WrongKind(f"this is {_WORDS[found]}{plans}, not {_WORDS[wanted]}")


def kind_of(document: Any) -> Kind | None:
    """What the data of a file is; None where it can't be told."""
    if not isinstance(document, dict):
        return None
    stated = str(document.get("format", ""))
    if stated.startswith("berth-plan/"):
        return "plan"
    if stated.startswith("berth-explanation/"):
        return "explanation"
    if "points" in document and "objectives" in document:
        return "front"
    if stated.startswith("berth/") or "network" in document or "applications" in document:
        return "problem"
    if "assignment" in document:
        return "plan"
    return "events" if document and document.keys() <= _OF_EVENTS else None


def folder_instead(folder: Path) -> WrongKind:
    """What to say of a folder where a file is wanted."""
    if (folder / "problem.json").is_file():
        return WrongKind(f"{folder}: this is a folder, not a file; did you mean {folder / 'problem.json'}?")
    telemetry = any((folder / name).is_dir() for name in _OF_TELEMETRY)
    return WrongKind(f"{folder}: this is a folder{' of telemetry' if telemetry else ''}, not a file")
