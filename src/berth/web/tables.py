"""Parquet in the workspace, to look at: telemetry tables, plans of many problems."""

from __future__ import annotations

import base64
import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from berth.web.errors import Refused, missing
from berth.web.workspace import Entry, Workspace, time_text

WHAT = "table"
MOST_ROWS = 1000
LONGEST_TEXT = 10_000


class Tables:
    """Parquet files, and folders of them, by id."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self) -> list[dict[str, Any]]:
        """All tables, by path."""
        entries = self._workspace.entries(lambda folder: not _parts(folder))
        facts = [self._facts(entry) for entry in entries if _parts(entry.place)]
        return [each for each in facts if each is not None]

    def rows(self, identity: str, offset: int, limit: int) -> dict[str, Any]:
        """Some rows of a table.

        Raises:
            Refused: there is none.
        """
        entry = self._workspace.entry(identity, WHAT)
        parts = _parts(entry.place)
        if not parts:
            raise missing(f"{WHAT} {identity!r}")
        try:
            files = [pq.ParquetFile(part) for part in parts]
            schema, total = files[0].schema_arrow, sum(file.metadata.num_rows for file in files)
            rows = _rows(files, offset, limit)
        except (pa.ArrowException, OSError) as error:
            raise Refused(422, f"{entry.path} can't be read: {str(error)[:200]}") from None
        seen = offset + len(rows)
        return {
            "columns": _columns(schema),
            "rows": rows,
            "total": total,
            "next": seen if seen < total and rows else None,
        }

    def _facts(self, entry: Entry) -> dict[str, Any] | None:
        parts = _parts(entry.place)
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


def _parts(place: Path) -> list[Path]:
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
