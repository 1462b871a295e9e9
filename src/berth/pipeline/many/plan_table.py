"""The table of plans on disk: its columns, the folder that holds it, and rows that have to leave it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from berth.disk import sync
from berth.evaluation import METRICS
from berth.files.document import held
from berth.spark.paths import spark_path

_TEXT, _NUMBER = StringType(), DoubleType()
TEXTS_BY_NAME = MapType(StringType(), StringType(), valueContainsNull=False)

PLANS = StructType(
    [
        StructField("problem", _TEXT),
        StructField("source", _TEXT),
        StructField("digest", _TEXT),
        StructField("key", _TEXT),
        StructField("policy", _TEXT),
        StructField("parameters", TEXTS_BY_NAME),
        StructField("seed", LongType()),
        StructField("time_limit", _NUMBER),
        StructField("status", _TEXT),
        StructField("reason", _TEXT),
        StructField("objective", _NUMBER),
        StructField("bound", _NUMBER),
        StructField("gap", _NUMBER),
        StructField("seconds", _NUMBER),
        *(StructField(metric.key, _NUMBER) for metric in METRICS),
        StructField("violations", ArrayType(StringType(), containsNull=False)),
        StructField("assignment", TEXTS_BY_NAME),
        StructField("plan", _TEXT),
        StructField("error", _TEXT),
    ]
)


QUEUE = ".queue"
PLANS_FOLDER = "plans"
UNFINISHED = "_temporary"
"""Where Spark writes what a task has not finished; readers leave names with an underscore alone."""
ASIDE = "_aside-"
"""How files that will replace others begin."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder, which is made if it is not there; the lock ends with the process, however that ends.

    Raises:
        BadInput: another run holds it, or it can't be written to.
    """
    with held(folder):
        _clean(folder)
        try:
            yield
        finally:
            _clean(folder)


def _clean(folder: Path) -> None:
    """Remove what this run, or one that was killed, left unfinished."""
    plans = folder / PLANS_FOLDER
    for leftover in (folder / QUEUE, plans / UNFINISHED):
        shutil.rmtree(leftover, ignore_errors=True)
    for aside in plans.glob(f"{ASIDE}*"):
        aside.unlink()


class Stored:
    """The table `DIR/plans`: Parquet files of which each is complete from the moment that it is there."""

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
        sync(aside)
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


STATUSES = ("optimal", "feasible", "infeasible", "unknown")


def summary_of(plans: DataFrame) -> list[dict[str, Any]]:
    """For each policy: rows, how many of each status, errors, and the median of seconds."""
    by_policy = (
        plans.groupBy("policy")
        .agg(
            F.count("*").alias("plans"),
            *(F.count_if(F.col("status") == status).alias(status) for status in STATUSES),
            F.count("error").alias("errors"),
            F.percentile_approx(F.when(F.col("error").isNull(), F.col("seconds")), 0.5).alias(
                "median_seconds"
            ),
        )
        .orderBy("policy")
    )
    return [row.asDict() for row in by_policy.collect()]  # a row for each policy
