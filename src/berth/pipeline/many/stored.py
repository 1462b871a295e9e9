"""The table of plans on disk: what is in it, and rows that have to leave it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.many.lock import ASIDE, PLANS_FOLDER
from berth.pipeline.many.schema import PLANS
from berth.spark.paths import spark_path


class Stored:
    """`DIR/plans`: Parquet files of which each is complete from the moment that it is there."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.folder = folder.resolve() / PLANS_FOLDER
        self._session = session
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def empty(self) -> bool:
        """Whether there is no plan yet."""
        return next(self.folder.glob("*.parquet"), None) is None

    def read(self) -> DataFrame:
        """All plans."""
        return self._session.read.schema(PLANS).parquet(spark_path(str(self.folder)))

    def append(self, plans: DataFrame) -> None:
        """Add plans: each task's as soon as it ends, whatever becomes of the others."""
        append(plans, self.folder)

    def drop(self, unwanted: DataFrame) -> int:
        """Take rows out of the table, by their `key`; file by file, each replaced at once."""
        keys = unwanted.select("key").distinct()
        places = self.read().select("key", F.col("_metadata.file_name").alias("file"))
        rows = places.join(keys, "key", "left_semi").orderBy("file").toLocalIterator()
        return sum(
            self._rewrite(file, (row.key for row in group))
            for file, group in groupby(rows, lambda row: row.file)
        )

    def _rewrite(self, name: str, keys: Iterable[str]) -> int:
        file, aside = self.folder / name, self.folder / f"{ASIDE}{name}"
        table = pq.read_table(file)
        leaving = pc.is_in(table["key"], value_set=pa.array(keys, pa.string()))
        kept = table.filter(pc.invert(leaving))
        pq.write_table(kept, aside)
        # Spark's checksum is of the old file
        (self.folder / f".{name}.crc").unlink(missing_ok=True)
        os.replace(aside, file)
        return int(table.num_rows - kept.num_rows)


def append(rows: DataFrame, folder: Path) -> None:
    """Add rows to a table on disk: each task's as soon as it ends, whatever becomes of the others.

    Version 2 of the committer puts a task's file in place when the task ends. Its known weakness, a task
    that is run again after it was half committed, does no harm here: a task writes one file, and its
    second attempt replaces it under the same name.
    """
    (
        rows.write.mode("append")
        .option("mapreduce.fileoutputcommitter.algorithm.version", "2")
        .option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        .parquet(f"file:{folder.resolve()}")
    )
