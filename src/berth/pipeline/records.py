"""The records of a folder, whatever the formats of its files.

The columns are the folder's fields with their right types (null where a record has none), `fault` (why the
record can't be read, null if it can), `path` and `record` (where it stood and what it was, for the
quarantine).
"""

from __future__ import annotations

from functools import reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feed import SPARK_TYPES, Folder
from berth.pipeline.feed_files import Source
from berth.pipeline.read_lines import read_lines
from berth.pipeline.read_parquet import read_parquet
from berth.pipeline.storage import empty_table
from berth.spark.paths import spark_path

QUARANTINE = "folder string, file string, record string, reason string"


def read_records(session: SparkSession, folder: Folder, sources: list[Source]) -> DataFrame:
    """The records of the files that can be read."""
    good = [source for source in sources if source.broken is None]
    frames = []
    lines = [spark_path(source.path) for source in good if source.schema is None]
    if lines:
        frames.append(read_lines(session, folder, lines))
    kinds: dict[tuple[str, frozenset[str]], list[str]] = {}
    for source in good:
        if source.schema is not None:
            kinds.setdefault((source.schema, source.nanoseconds), []).append(spark_path(source.path))
    for (_, nanoseconds), paths in kinds.items():
        frames.append(read_parquet(session, folder, paths, nanoseconds))
    if not frames:
        fields = ", ".join(f"`{field.name}` {SPARK_TYPES[field.kind]}" for field in folder.fields)
        return empty_table(session, f"{fields}, fault string, path string, record string")
    return reduce(DataFrame.unionByName, frames)


def broken_rows(session: SparkSession, folder: Folder, root: Path, sources: list[Source]) -> DataFrame:
    """Quarantine rows for the files that can't be read at all: by name, without a record."""
    rows = [
        (folder.name, source.path.relative_to(root).as_posix(), None, source.broken)
        for source in sources
        if source.broken is not None
    ]
    return session.createDataFrame(rows, QUARANTINE)


def refused_rows(judged: DataFrame, folder: Folder, root: Path) -> DataFrame:
    """Quarantine rows for the records that have a reason."""
    return judged.where(F.col("reason").isNotNull()).select(
        F.lit(folder.name).alias("folder"),
        _file(root).alias("file"),
        F.make_valid_utf8("record").alias("record"),
        "reason",
    )


def _file(root: Path) -> Column:
    """A record's file, relative to the telemetry's folder."""
    # Spark gives file:///a/b%20c; a plus sign in it is a plus sign
    path = F.col("path")
    decoded = F.coalesce(F.try_url_decode(F.replace(path, F.lit("+"), F.lit("%2B"))), path)
    start = F.instr(decoded, f"{root}/")
    return F.when(start > 0, F.substr(decoded, start + len(f"{root}/"))).otherwise(decoded)
