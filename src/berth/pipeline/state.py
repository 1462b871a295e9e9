"""What a follower knows after each batch: a folder that follows from the one before and the batch's files.

A state is written aside and renamed, so it is there whole or not at all. Doing a batch again starts from
the same state before it and ends with the same state behind it: a restart neither loses nor doubles
anything.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from berth.pipeline.feed import HEARTBEATS, OPERATORS, PROBES, STREAMS
from berth.pipeline.outages import BEATS, ENDS, INTERVALS, PIECES
from berth.pipeline.publish import Counts
from berth.pipeline.storage import aside, empty_table, link_folder, replace_folder
from berth.pipeline.sums import SCHEMAS
from berth.pipeline.tables import MEASURES, REFERENCES, TABLE_KEYS, TABLES
from berth.spark.paths import spark_path, written_path

PARTS = {
    PROBES.name: SCHEMAS[PROBES.name],
    HEARTBEATS.name: SCHEMAS[HEARTBEATS.name],
    OPERATORS.name: SCHEMAS[OPERATORS.name],
    STREAMS.name: SCHEMAS[STREAMS.name],
    "pieces": PIECES,
    "beats": BEATS,
    "ends": ENDS,
    "intervals": INTERVALS,
    "references": REFERENCES,
    **{
        f"newest-{table}": ", ".join(
            [f"`{key}` string" for key in TABLE_KEYS[table]]
            + [f"smoothed_{measure} double" for measure in MEASURES[table]]
        )
        for table in TABLES
    },
}
"""What a state has, with schemas: sums of open windows, pieces between heartbeats that can't change any
more, the heartbeats after them, every node's first and last heartbeat, and of closed windows the nodes'
intervals, the references for speeds and the newest averages of windows."""

FINAL = "final"
"""The folder of a state that has the rows which became final with it, by table."""

SMALL_BYTES = 16 * 2**20
_NOTES = "notes.json"


@dataclass(frozen=True)
class Notes:
    """The small part of a state."""

    counts: Counts = field(default_factory=Counts)
    watermark: int | None = None
    """Epoch milliseconds; a record from before this comes too late."""
    open_from: int | None = None
    """The start of the first window that is not closed; None: none was ever closed."""
    final_from: dict[str, int] = field(default_factory=dict)
    """Since which state the files of final rows count, by table; those from before were put together."""


class States:
    """The states in a folder, by number."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self._session = session
        self._folder = folder

    def folder(self, number: int) -> Path:
        """Where a state is, or would be."""
        return self._folder / f"{number:08d}"

    def newest(self) -> int:
        """The number of the newest state; 0: there is none yet."""
        return max((int(place.name) for place in self._folder.glob("????????")), default=0)

    def exists(self, number: int) -> bool:
        """Whether the state is there."""
        return self.folder(number).exists()

    def notes(self, number: int) -> Notes:
        """The small part of a state; that of nothing where it is not there."""
        if not self.exists(number):
            return Notes()
        document: dict[str, Any] = json.loads((self.folder(number) / _NOTES).read_text())
        return Notes(Counts(**document.pop("counts")), **document)

    def part(self, number: int, name: str) -> DataFrame:
        """A part of a state; without rows where it is not there."""
        return read_part(self._session, self.folder(number), name)

    @contextmanager
    def next(self, number: int) -> Iterator[Draft]:
        """A state to be written; it is there at the end of the `with` block, whole."""
        target = self.folder(number)
        target.parent.mkdir(parents=True, exist_ok=True)
        with aside(target) as place:
            (place / FINAL).mkdir(parents=True)
            draft = Draft(self._session, place, self.folder(number - 1))
            yield draft
            draft.carry_over()
            replace_folder(place, target)

    def forget_before(self, number: int) -> None:
        """Remove the states before a number, and what killed runs left aside."""
        for place in self._folder.glob("*"):
            if place.name.startswith(".") or place.name < f"{number:08d}":
                shutil.rmtree(place, ignore_errors=True)


@dataclass(frozen=True)
class Draft:
    """A state that is being written."""

    session: SparkSession
    place: Path
    before: Path

    def write(self, name: str, rows: DataFrame) -> None:
        """Write a part that is another one than in the state before."""
        rows.write.parquet(written_path(self.place / name))

    def write_final(self, table: str, rows: DataFrame) -> None:
        """Write rows of a table that became final."""
        rows.write.parquet(written_path(self.place / FINAL / table))

    def write_notes(self, notes: Notes) -> None:
        """Write the small part."""
        (self.place / _NOTES).write_text(json.dumps(asdict(notes)))

    def part(self, name: str) -> DataFrame:
        """A part as it is now: what was written, else that of the state before."""
        written = (self.place / name).exists()
        return read_part(self.session, self.place if written else self.before, name)

    def carry_over(self) -> None:
        """Take what was not written from the state before."""
        for name in PARTS:
            if not (self.place / name).exists() and (self.before / name).exists():
                link_folder(self.before / name, self.place / name)


def read_part(session: SparkSession, folder: Path, name: str) -> DataFrame:
    """A part of a state; without rows where it is not there."""
    place = folder / name
    if not place.exists():
        return empty_table(session, PARTS[name])
    rows = session.read.schema(PARTS[name]).parquet(spark_path(place))
    size = sum(file.stat().st_size for file in place.glob("*.parquet"))
    # joining and grouping what is in one partition needs no shuffle, and a plan has few stages
    return rows.coalesce(1) if size <= SMALL_BYTES else rows
