"""What is there to look at: Parquet tables, and the experiments of `berth reproduce` with their league."""

from __future__ import annotations

import base64
import json
import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from berth.web.answers import Refused, missing, without_places
from berth.web.documents import without_nan
from berth.web.workspace import REPORT, Entry, Workspace, is_experiment, is_run, time_text

MOST_ROWS = 1000
LONGEST_TEXT = 10_000


class Tables:
    """Parquet files, and folders of them, by id."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self) -> list[dict[str, Any]]:
        """All tables, by path."""
        entries = self._workspace.entries(lambda folder: not _table_files(folder))
        facts = [self._facts(entry) for entry in entries if _table_files(entry.place)]
        return [each for each in facts if each is not None]

    def rows(self, identity: str, offset: int, limit: int) -> dict[str, Any]:
        """Some rows of a table.

        Raises:
            Refused: there is none.
        """
        entry = self._workspace.entry(identity, "table")
        parts = _table_files(entry.place)
        if not parts:
            raise missing(f"table {identity!r}")
        try:
            files = [pq.ParquetFile(part) for part in parts]
            schema, total = files[0].schema_arrow, sum(file.metadata.num_rows for file in files)
            rows = _rows(files, offset, limit)
        except (pa.ArrowException, OSError) as error:
            raise Refused(422, f"{entry.path} can't be read: {without_places(str(error))[:200]}") from None
        seen = offset + len(rows)
        return {
            "columns": _columns(schema),
            "rows": rows,
            "total": total,
            "next": seen if seen < total and rows else None,
        }

    def _facts(self, entry: Entry) -> dict[str, Any] | None:
        parts = _table_files(entry.place)
        try:
            heads = [pq.read_metadata(part) for part in parts]
            return {
                "id": entry.id,
                "path": str(entry.path),
                "rows": sum(head.num_rows for head in heads),
                "columns": _columns(heads[0].schema.to_arrow_schema()),
                "modified": time_text(max(part.stat().st_mtime for part in parts)),
                "bytes": sum(part.stat().st_size for part in parts),
            }
        except (pa.ArrowException, OSError):
            return None


def _table_files(place: Path) -> list[Path]:
    """The files of a table; none where it is none."""
    if place.is_file():
        return [place] if place.suffix.lower() == ".parquet" else []
    if not place.is_dir():
        return []
    names = sorted(place.glob("*.parquet"))
    return [each for each in names if each.is_file() and not each.is_symlink() and each.name[0] not in "._"]


def _rows(files: list[pq.ParquetFile], offset: int, limit: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    skipped = offset
    for file in files:
        if skipped >= file.metadata.num_rows:
            skipped -= file.metadata.num_rows
            continue
        for batch in file.iter_batches(batch_size=4096):
            part = batch.slice(min(skipped, len(batch)), limit - len(rows))
            skipped = max(0, skipped - len(batch))
            rows += [{name: _plain(value) for name, value in row.items()} for row in part.to_pylist()]
            if len(rows) >= limit:
                return rows
    return rows


def _columns(schema: pa.Schema) -> list[dict[str, str]]:
    return [{"name": field.name, "type": str(field.type)} for field in schema]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else value[:LONGEST_TEXT] + "…"
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes):
        return base64.b64encode(value[:LONGEST_TEXT]).decode()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else str(value)


LEAGUE_RESULTS = Path("league", "results")
LARGEST_LEAGUE = 64 * 2**20


def league_of(folder: Path) -> list[dict[str, Any]] | None:
    """The standings in each group of problems, the best policy first; None where no league was run."""
    results = folder / LEAGUE_RESULTS
    files = [each for each in sorted(results.glob("*.parquet")) if each.is_file() and not each.is_symlink()]
    if not files or results.is_symlink() or sum(each.stat().st_size for each in files) > LARGEST_LEAGUE:
        return None
    # pandas takes a while, and most workspaces have no league
    from berth.experiments.league.standings import standings, with_ratios

    try:
        table = with_ratios(pa.concat_tables(map(pq.read_table, files)).to_pandas())
        groups = [
            {
                "group": group,
                "problems": int(part["problem"].nunique()),
                "standings": [
                    {
                        "policy": item.policy,
                        "objective_over_best": item.ratio,
                        "within_one_percent": item.near,
                        "asked": item.made_for,
                        "plans": item.plans,
                        "breaks": item.broken,
                        "no_plan": item.without,
                        "seconds": item.seconds,
                        "own_goal": item.own_goal,
                    }
                    for item in standings(table, group)
                    if item.made_for
                ],
            }
            for group, part in table.groupby("group", sort=False)
        ]
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError):
        return None  # other columns than those of a league
    whole: list[dict[str, Any]] = without_nan(groups)
    return whole


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
        raise missing(f"file {name!r} in experiment {identity!r}")

    def _entry(self, identity: str) -> Entry:
        entry = self._workspace.entry(identity, "experiment")
        if not _is_one(entry.place):
            raise missing(f"experiment {identity!r}")
        return entry


def _is_one(place: Path) -> bool:
    return place.is_dir() and is_experiment(place)


def _files(entry: Entry) -> dict[str, Path]:
    """What may be shown, by its path in the folder: files in it, and in the folders of its experiments."""
    folders = [
        entry.place,
        *(each for each in sorted(entry.place.iterdir()) if _is_visible(each) and each.is_dir()),
    ]
    return {
        str(file.relative_to(entry.place)): file
        for folder in folders
        for file in sorted(folder.iterdir())
        if file.suffix.lower() in SHOWN and _is_visible(file) and file.is_file()
    }


def _is_visible(place: Path) -> bool:
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
