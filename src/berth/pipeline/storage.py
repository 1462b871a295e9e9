"""Tables on disk and between steps.

Tables that users see are written aside and put in place by renaming, so that nobody ever reads half of one.
Tables between steps (`Scratch`) are written and read again, so that no plan grows with the number of steps.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from berth.disk import sync, sync_tree
from berth.spark.paths import spark_path, written_path


def empty_table(session: SparkSession, schema: str) -> DataFrame:
    """A table without rows; Spark knows that it has none, and plans no work for it."""
    rows = session.createDataFrame([], schema)
    return rows.where("false")


def write_table(table: DataFrame, folder: Path) -> None:
    """Write a table as Parquet into a folder, in place of what was there."""
    with aside(folder) as place:
        table.write.parquet(written_path(place))
        replace_folder(place, folder)


def write_empty_table(schema: str, folder: Path) -> None:
    """Write a table without rows; there is nothing for Spark to do."""
    columns = StructType.fromDDL(schema)
    assert isinstance(columns, StructType)
    nothing = to_arrow_schema(columns, timezone="UTC").empty_table()
    with aside(folder) as place:
        place.mkdir()
        pq.write_table(nothing, place / "part-00000.parquet")
        replace_folder(place, folder)


@contextmanager
def aside(folder: Path) -> Iterator[Path]:
    """A new name beside a folder; what is left there at the end is removed."""
    place = folder.with_name(f".{folder.name}-{uuid.uuid4().hex[:8]}")
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def replace_folder(place: Path, folder: Path) -> None:
    """Put a folder in the place of another one."""
    for marker in [*place.glob(".*.crc"), *place.glob("_SUCCESS")]:
        marker.unlink()
    sync_tree(place)
    with aside(folder) as old:
        if folder.exists():
            folder.rename(old)
        try:
            place.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
    sync(folder.parent)


def link_folder(folder: Path, target: Path) -> None:
    """Give a folder's Parquet files a second name in another folder."""
    target.mkdir(parents=True)
    for file in folder.glob("*.parquet"):
        link_file(file, target / file.name)


def link_file(file: Path, target: Path) -> None:
    """Give a file a second name; a copy where the file system has no links."""
    try:
        os.link(file, target)
    except FileExistsError:
        return
    except OSError:
        copied = target.with_name(f".{target.name}")
        shutil.copyfile(file, copied)
        copied.rename(target)


def remove_leftovers(parent: Path, names: tuple[str, ...]) -> None:
    """Remove what a killed run left aside."""
    for name in names:
        for place in parent.glob(f".{name}-????????"):
            shutil.rmtree(place, ignore_errors=True)


@dataclass(frozen=True)
class Scratch:
    """A folder for tables that nobody needs afterwards; on a cluster all workers must see it."""

    folder: Path

    def keep(self, name: str, rows: DataFrame) -> DataFrame:
        """The rows, computed once and read from disk by everything that comes after."""
        place = self.folder.resolve() / name
        rows.write.mode("overwrite").parquet(written_path(place))
        return rows.sparkSession.read.schema(rows.schema).parquet(spark_path(place))

    def read(self, session: SparkSession, name: str) -> DataFrame:
        """A table that was kept before."""
        return session.read.parquet(spark_path(self.folder.resolve() / name))

    def drop(self, name: str) -> None:
        """Remove a table that is no longer needed; it need not be there."""
        shutil.rmtree(self.folder / name, ignore_errors=True)


Row = dict[str, Any]
Batches = Iterable[pa.RecordBatch]


def rows_in(batches: Batches) -> Iterator[Row]:
    """The rows of the Arrow batches that Spark gives a task."""
    for batch in batches:
        yield from batch.to_pylist()


def record_batches(
    rows: Iterable[Row], schema: StructType, size: int, weight: Callable[[Row], int] = lambda row: 1
) -> Iterator[pa.RecordBatch]:
    """Rows that a task makes one by one, in Arrow batches, each as soon as its rows weigh `size` together."""
    columns = to_arrow_schema(schema)
    waiting: list[Row] = []
    full = 0
    for row in rows:
        waiting.append(row)
        full += weight(row)
        if full >= size:
            yield pa.RecordBatch.from_pylist(waiting, columns)
            waiting, full = [], 0
    if waiting:
        yield pa.RecordBatch.from_pylist(waiting, columns)
