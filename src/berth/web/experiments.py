"""What `berth reproduce` leaves in the workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from berth.web.errors import missing
from berth.web.league import league_of
from berth.web.tables import Tables
from berth.web.workspace import Entry, Workspace, is_run, time_text

WHAT = "experiment"
REPORT = "report.html"
LARGEST_DATA = 4 * 2**20
SHOWN = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
}


class Experiments:
    """Folders with a report that are no runs."""

    def __init__(self, workspace: Workspace, tables: Tables) -> None:
        self._workspace = workspace
        self._tables = tables

    def list(self) -> list[dict[str, Any]]:
        """All of them, by path."""
        entries = self._workspace.entries(lambda folder: not is_run(folder))
        return [_facts(entry) for entry in entries if _is_one(entry.place)]

    def document(self, identity: str) -> dict[str, Any]:
        """One of them, with the data of its JSON files."""
        entry = self._entry(identity)
        data = {name: _data(file) for name, file in _files(entry).items() if file.suffix.lower() == ".json"}
        inside = (each for each in self._tables.list() if each["path"].startswith(f"{entry.path}/"))
        tables = [{"id": each["id"], "path": each["path"], "rows": each["rows"]} for each in inside]
        return _facts(entry) | {"league": league_of(entry.place), "data": data, "tables": tables}

    def file(self, identity: str, name: str) -> tuple[Path, str]:
        """A file beside the report, and what it is.

        Raises:
            Refused: there is none that may be shown.
        """
        file = _files(self._entry(identity)).get(name)
        if file is not None:
            return file, SHOWN[file.suffix.lower()]
        raise missing(f"file {name!r} in {WHAT} {identity!r}")

    def _entry(self, identity: str) -> Entry:
        entry = self._workspace.entry(identity, WHAT)
        if not _is_one(entry.place):
            raise missing(f"{WHAT} {identity!r}")
        return entry


def _is_one(place: Path) -> bool:
    return place.is_dir() and (place / REPORT).is_file() and not is_run(place)


def _files(entry: Entry) -> dict[str, Path]:
    """What may be shown, by its path in the folder: files in it, and in the folders of its experiments."""
    folders = [
        entry.place,
        *(each for each in sorted(entry.place.iterdir()) if _is_plain(each) and each.is_dir()),
    ]
    return {
        str(file.relative_to(entry.place)): file
        for folder in folders
        for file in sorted(folder.iterdir())
        if file.suffix.lower() in SHOWN and _is_plain(file) and file.is_file()
    }


def _is_plain(place: Path) -> bool:
    return not place.is_symlink() and not place.name.startswith(".")


def _facts(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "path": str(entry.path),
        "modified": time_text((entry.place / REPORT).stat().st_mtime),
        "report": True,
        "files": list(_files(entry)),
    }


def _data(file: Path) -> Any:
    """The data of a file; None where it is too large or none."""
    try:
        return json.loads(file.read_bytes()) if file.stat().st_size <= LARGEST_DATA else None
    except (OSError, ValueError, RecursionError):
        return None
