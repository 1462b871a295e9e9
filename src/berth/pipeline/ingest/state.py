"""What a follower knows after each batch, and the rows of its tables that will never change.

A state is a folder that follows from the one before and the batch's files. It is written aside and renamed,
so it is there whole or not at all. Doing a batch again starts from the same state before it and ends with
the same state behind it: a restart neither loses nor doubles anything.

Final rows are kept as files by the number of the state that made them final. A table that users see is a
folder of links to such files, and of the rows that may still change.
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

from berth.pipeline.feeds import FEEDS
from berth.pipeline.feeds.heartbeats import REFERENCES
from berth.pipeline.feeds.outages import BEATS, ENDS, INTERVALS, PIECES
from berth.pipeline.ingest.digest import Counts
from berth.pipeline.ingest.tables import NEWEST_SCHEMAS
from berth.pipeline.storage import aside, empty_table, link_file, link_folder, replace_folder
from berth.spark.paths import spark_path, written_path

PARTS = {
    **{feed.name: feed.sums_schema for feed in FEEDS},
    "pieces": PIECES,
    "beats": BEATS,
    "ends": ENDS,
    "intervals": INTERVALS,
    "references": REFERENCES,
    **{f"newest-{table}": schema for table, schema in NEWEST_SCHEMAS.items()},
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


@dataclass(frozen=True)
class State:
    """A state in its folder; as long as it is written, what isn't there yet is that of the one `before`."""

    session: SparkSession
    place: Path
    before: Path | None = None

    @property
    def exists(self) -> bool:
        """Whether it is there."""
        return self.place.exists()

    @property
    def notes(self) -> Notes:
        """The small part; that of nothing where the state is not there."""
        if not self.exists:
            return Notes()
        document: dict[str, Any] = json.loads((self.place / _NOTES).read_text())
        return Notes(Counts(**document.pop("counts")), **document)

    def part(self, name: str) -> DataFrame:
        """A part; without rows where it is not there."""
        place = self.place / name
        if self.before is not None and not place.exists():
            place = self.before / name
        if not place.exists():
            return empty_table(self.session, PARTS[name])
        rows = self.session.read.schema(PARTS[name]).parquet(spark_path(place))
        size = sum(file.stat().st_size for file in place.glob("*.parquet"))
        # joining and grouping what is in one partition needs no shuffle, and a plan has few stages
        return rows.coalesce(1) if size <= SMALL_BYTES else rows

    def parts(self) -> dict[str, DataFrame]:
        """All parts, by name."""
        return {name: self.part(name) for name in PARTS}

    def write(self, name: str, rows: DataFrame) -> None:
        """Write a part that is another one than in the state before, or final rows of a table."""
        rows.write.parquet(written_path(self.place / name))

    def write_notes(self, notes: Notes) -> None:
        """Write the small part."""
        (self.place / _NOTES).write_text(json.dumps(asdict(notes)))

    def carry_over(self) -> None:
        """Take what was not written from the state before."""
        assert self.before is not None
        for name in PARTS:
            if not (self.place / name).exists() and (self.before / name).exists():
                link_folder(self.before / name, self.place / name)


class States:
    """The states in a folder, by number."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self._session = session
        self._folder = folder

    def __getitem__(self, number: int) -> State:
        """A state, which need not be there."""
        return State(self._session, self._folder / f"{number:08d}")

    def newest(self) -> int:
        """The number of the newest state; 0: there is none yet."""
        return max((int(place.name) for place in self._folder.glob("????????")), default=0)

    @contextmanager
    def next(self, number: int) -> Iterator[State]:
        """A state to be written; it is there at the end of the `with` block, whole."""
        target = self[number].place
        target.parent.mkdir(parents=True, exist_ok=True)
        with aside(target) as place:
            (place / FINAL).mkdir(parents=True)
            draft = State(self._session, place, self[number - 1].place)
            yield draft
            draft.carry_over()
            replace_folder(place, target)

    def forget_before(self, number: int) -> None:
        """Remove the states before a number, and what killed runs left aside."""
        for place in self._folder.glob("*"):
            if place.name.startswith(".") or place.name < f"{number:08d}":
                shutil.rmtree(place, ignore_errors=True)


MOST_FILES = 100
"""Of one table; more are made into few when the next rows come."""


class FinalRows:
    """The final rows of all tables, in one folder."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self._session = session
        self._folder = folder

    def take_over(self, state: int, rows: Path) -> None:
        """Take the final rows of a state, a folder for each table; doing it again changes nothing."""
        for table in rows.glob("*"):
            target = self._folder / table.name
            target.mkdir(parents=True, exist_ok=True)
            for number, file in enumerate(sorted(table.glob("*.parquet"))):
                link_file(file, target / f"{state:08d}-{number:05d}.parquet")

    def crowded(self, table: str, since: int) -> DataFrame | None:
        """The rows of all files of a table since a state, if these are too many files."""
        files = self._files(table, since)
        return None if len(files) < MOST_FILES else self._session.read.parquet(*map(spark_path, files))

    def show(
        self, table: str, folder: Path, since: int, changing: DataFrame | None = None
    ) -> DataFrame | None:
        """Put the final rows since a state, and those that may change, where users see them.

        Returns:
            The rows that may change, as they are on disk now.
        """
        with aside(folder) as place:
            if changing is None:
                place.mkdir()
            else:
                changing.write.parquet(written_path(place))
                for file in place.glob("*.parquet"):
                    file.rename(place / f"open-{file.name}")
            for file in self._files(table, since):
                link_file(file, place / f"final-{file.name}")
            replace_folder(place, folder)
        for file in set((self._folder / table).glob("*.parquet")) - set(self._files(table, since)):
            file.unlink()
        if changing is None:
            return None
        return self._session.read.schema(changing.schema).parquet(
            *map(spark_path, folder.glob("open-*.parquet"))
        )

    def _files(self, table: str, since: int) -> list[Path]:
        return sorted(
            file for file in (self._folder / table).glob("*.parquet") if int(file.name.split("-")[0]) >= since
        )
