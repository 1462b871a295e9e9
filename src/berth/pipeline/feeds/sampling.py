"""What feeds make synthetic records with: the shape of a sample, and random numbers as Spark columns."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.pipeline.feeds.flows import Flows
from berth.pipeline.feeds.outages import Outages
from berth.pipeline.options import SampleOptions

LARGEST_WOBBLE = 0.2
"""Amounts vary by at most this share, so that cumulated ones never go down."""


@dataclass(frozen=True)
class Fault:
    """One way to spoil a record."""

    name: str
    texts: Mapping[str, str | None] = field(default_factory=dict)
    """JSON in place of a field's own; None: the field is left out."""
    columns: Callable[[], Mapping[str, Column]] = dict
    """Other values of fields, from the columns of the good record."""
    line: Callable[[Column], Column] | None = None
    """Another line, made from the record's own."""


@dataclass(frozen=True)
class Folder:
    """What one folder of a sample holds."""

    slots: int
    """Numbers of good records; of heartbeats some are missed, so there are fewer records."""
    records: int
    garbage: int
    files: int


@dataclass(frozen=True, eq=False)
class Sample:
    """Synthetic telemetry of a problem that is decided in everything but its random numbers."""

    problem: Problem
    options: SampleOptions
    start_ms: int
    outages: Outages
    reports: int
    """Reports of each instance, each stream and whatever else reports."""
    flows: Flows
    probes: int
    notes: tuple[str, ...] = ()
    folders: Mapping[str, Folder] = field(default_factory=dict)
    """By the names of feeds; an empty one is there, too."""

    @property
    def wobble(self) -> float:
        """The share by which amounts vary."""
        return min(self.options.noise, LARGEST_WOBBLE)

    def time(self, passed_ms: Column) -> Column:
        """The time of a record, from what has passed since the first one."""
        return F.lit(self.start_ms) + passed_ms

    def report_end(self, tick: Column) -> Column:
        """When the report before a tick ends, in milliseconds since the start."""
        return whole_quotient(tick * F.lit(self.options.duration_ms), self.reports)

    def names(self, names: Iterable[str]) -> NDArray[np.object_]:
        """Names as the file has them: JSON lines have them quoted."""
        if self.options.format == "parquet":
            return np.array(list(names), dtype=object)
        return np.array([json.dumps(name, ensure_ascii=False) for name in names], dtype=object)


@dataclass(frozen=True)
class Randomness:
    """Independent random columns by purpose, for one seed and one feed.

    They depend on the seed and a record's number only, so never on the partitions.
    """

    seed: int
    feed: str

    def bits(self, purpose: str, *keys: Column) -> Column:
        """64 random bits for every value of the keys, which are whole numbers."""
        return F.xxhash64(F.lit(self._salt(purpose)), *[key.cast("long") for key in keys])

    def uniform(self, purpose: str, *keys: Column) -> Column:
        """Uniform from 0 to 1, 1 left out."""
        return F.shiftrightunsigned(self.bits(purpose, *keys), 11) * F.lit(2.0**-53)

    def symmetric(self, purpose: str, *keys: Column) -> Column:
        """Uniform from -1 to 1."""
        return F.lit(2.0) * self.uniform(purpose, *keys) - F.lit(1.0)

    def normal(self, purpose: str, *keys: Column) -> Column:
        """Standard normal, by Box and Muller."""
        radius = F.sqrt(F.lit(-2.0) * F.log(F.lit(1.0) - self.uniform(f"{purpose} radius", *keys)))
        return radius * F.cos(F.lit(2 * math.pi) * self.uniform(f"{purpose} angle", *keys))

    def _salt(self, purpose: str) -> int:
        digest = blake2b(f"{self.seed}\0{self.feed}\0{purpose}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little", signed=True)


def whole_quotient(dividend: Column, divisor: Column | int) -> Column:
    """Integer division, exact over all 64 bits."""
    return F.call_function("div", dividend, F.lit(divisor) if isinstance(divisor, int) else divisor)


def micro(value: Column) -> Column:
    """Six decimals; rint is much cheaper than round, which goes by way of decimals."""
    return F.rint(value * F.lit(1e6)) / F.lit(1e6)


def beside(session: SparkSession, lines: DataFrame, table: pa.Table) -> DataFrame:
    """Each line with the row of a small table that its `key` names; the order of the lines stays."""
    numbered = table.append_column("key", pa.array(np.arange(len(table), dtype=np.int64)))
    return lines.join(F.broadcast(session.createDataFrame(numbered)), "key")


def reports(session: SparkSession, sample: Sample, lines: DataFrame, table: pa.Table) -> DataFrame:
    """One row for each report of each row of a table, with its `tick` and its time."""
    rows, record = len(table), F.col("record")
    keyed = lines.withColumns({"tick": whole_quotient(record, rows), "key": record % rows})
    return beside(session, keyed, table).withColumn("ts", sample.time(sample.report_end(F.col("tick") + 1)))


def counting_reports(session: SparkSession, sample: Sample, lines: DataFrame, table: pa.Table) -> DataFrame:
    """Reports of what counts tuples: those `until` its end and `before` its start, of a `total`.

    Counting on, with the ends of the windows a little early or late, makes the reports vary while their sum
    stays what it should be, to the tuple. Windows of one application end early or late together.
    """
    shared = Randomness(sample.options.seed, "reports")

    def counted(tick: Column) -> Column:
        early = F.lit(sample.wobble) * shared.symmetric("windows", F.col("application_number"), tick)
        inner = (tick > 0) & (tick < sample.reports)
        passed = (tick + F.when(inner, early).otherwise(F.lit(0.0))) / F.lit(float(sample.reports))
        return F.floor(F.col("total") * passed).cast("double")

    rows = reports(session, sample, lines, table)
    return rows.withColumns({"until": counted(F.col("tick") + 1), "before": counted(F.col("tick"))})


def wobbling_count(sample: Sample, random: Randomness, counted: str) -> Column:
    """A number of tuples with noise on it that depends on the number alone: it cancels out in sums."""
    count, total = F.col(counted), F.col("total")
    amount = F.lit(sample.wobble) * F.greatest(F.lit(1.0), total / F.lit(float(sample.reports)))
    noise = amount * random.uniform("tuples", F.col("key"), count)
    return count + F.when((count > 0) & (count < total), noise).otherwise(F.lit(0.0))
