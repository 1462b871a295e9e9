"""From tables of measured round trips to one delay for each pair of nodes."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Hashable
from functools import reduce
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.files.latency_matrix import LONGEST_MS
from berth.files.probes import ENDS, MEASURE, begins_as_parquet, probe_files, without_columns
from berth.model import BadInput
from berth.pipeline.storage import Scratch
from berth.space.coordinates import MOST_PAIRS
from berth.spark.paths import spark_path

_COLUMNS = (*ENDS, MEASURE)
_UNREADABLE = "unreadable"
_CSV, _PARQUET, _LINES = "csv", "parquet", "lines"
_CORRUPT = "_corrupt"


def read_probe_tables(session: SparkSession, paths: list[Path]) -> DataFrame:
    """The columns from, to, rtt_ms and fault of all records; files are found as `berth.files.probes` does.

    Raises:
        BadInput: a file can't be read, or has not these columns.
    """
    alike: dict[tuple[str, Hashable], list[str]] = {}
    for file in [file for path in paths for file in probe_files(path)]:
        alike.setdefault(_kind(file), []).append(spark_path(file.resolve()))
    tables = []
    for (kind, details), files in alike.items():
        if kind == _CSV:
            tables.append(_from_csv(session, files, details))
        elif kind == _PARQUET:
            tables.append(_from_parquet(session, files))
        else:
            tables.append(_from_lines(session, files))
    return reduce(DataFrame.unionByName, tables)


def _kind(file: Path) -> tuple[str, Hashable]:
    """What a file is, and what files that are read together have in common."""
    try:
        if file.name.lower().removesuffix(".gz").endswith(".csv"):
            return _CSV, _header(file)
        if not begins_as_parquet(file):
            return _LINES, None
        schema = parquet.read_schema(file)
    except (OSError, EOFError, UnicodeDecodeError, pa.ArrowException) as error:
        reason = (getattr(error, "strerror", None) or str(error)).splitlines()[0]
        raise BadInput([f"{file}: can't be read: {reason.lower()}"]) from None
    if not set(schema.names).issuperset(_COLUMNS):
        raise without_columns(file)
    return _PARQUET, tuple(str(schema.field(name).type) for name in _COLUMNS)


def _header(file: Path) -> tuple[str, ...]:
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as stream:
        names = tuple(next(csv.reader(stream), ()))
    if not set(names).issuperset(_COLUMNS):
        raise without_columns(file)
    return names


def _from_csv(session: SparkSession, files: list[str], names: Hashable) -> DataFrame:
    assert isinstance(names, tuple)
    # only what is wanted has a name: others may occur twice
    fields = [name if name in _COLUMNS else f"_{place}" for place, name in enumerate(names)]
    schema = ", ".join(f"`{name}` string" for name in (*fields, _CORRUPT))
    rows = session.read.csv(
        files, schema, header=True, enforceSchema=True, columnNameOfCorruptRecord=_CORRUPT
    )
    fault = F.when(F.col(_CORRUPT).isNotNull(), _UNREADABLE)
    return rows.select(*ENDS, F.col(MEASURE).try_cast("double").alias(MEASURE), fault.alias("fault"))


def _from_parquet(session: SparkSession, files: list[str]) -> DataFrame:
    rows = session.read.parquet(*files)
    kinds = dict(rows.dtypes)
    ends = [F.col(end) if kinds[end] == "string" else F.lit(None).cast("string") for end in ENDS]
    value = F.col(MEASURE).try_cast("double")
    nothing = F.lit(None).cast("string")
    return rows.select(
        *(column.alias(end) for column, end in zip(ends, ENDS, strict=True)),
        value.alias(MEASURE),
        nothing.alias("fault"),
    )


def _from_lines(session: SparkSession, files: list[str]) -> DataFrame:
    lines = session.read.text(files).where(F.trim("value") != "")
    rows = lines.select(F.try_parse_json("value").alias("record"))
    readable = F.coalesce(F.schema_of_variant("record").startswith("OBJECT"), F.lit(False))
    names = [_of_kind(end, "string", ("STRING",)) for end in ENDS]
    value = _of_kind(MEASURE, "double", ("BIGINT", "DOUBLE", "DECIMAL", "FLOAT"))
    return rows.select(*names, value, F.when(~readable, _UNREADABLE).alias("fault"))


def _of_kind(name: str, kind: str, allowed: tuple[str, ...]) -> Column:
    """A field of a record if it is of this kind: text that looks like a number is no number."""
    inner = F.schema_of_variant(F.try_variant_get("record", f"$.{name}", "variant"))
    is_kind = reduce(Column.__or__, (inner.startswith(each) for each in allowed))
    return F.when(is_kind, F.try_variant_get("record", f"$.{name}", kind)).cast(kind).alias(name)


MEASURES = {"rtt_ms": 0.5, "delay_ms": 1.0}
"""Columns that may be there, and which share of their value is a one-way delay."""


def judged(probes: DataFrame, nodes: DataFrame | None, scratch: Scratch) -> tuple[DataFrame, DataFrame]:
    """Records by the numbers of their nodes, and the nodes.

    Args:
        probes: the columns from, to and rtt_ms or delay_ms; where there is a column fault that isn't null, it
            says why a record could not be read.
        nodes: the columns node (0, 1, ...) and name; None: all names in records that make sense.
        scratch: for tables in between.

    Returns:
        Records with the columns first, second, delay_ms and reason (null where a record makes sense), and the
        nodes.
    """
    measure = next((name for name in MEASURES if name in probes.columns), None)
    if measure is None or not {"from", "to"} <= set(probes.columns):
        raise ValueError(f"probes: needs the columns from, to and {' or '.join(MEASURES)}")
    fault = F.col("fault") if "fault" in probes.columns else F.lit(None).cast("string")
    records = probes.select(
        F.col("from").alias("sender"),
        F.col("to").alias("receiver"),
        F.col(measure).cast("double").alias("value"),
        fault.alias("fault"),
    )
    if nodes is None:
        good = records.where(_reason(measure, None).isNull())
        both = good.select(F.explode(F.array("sender", "receiver")).alias("name"))
        nodes = numbered(both, scratch)
    here = nodes.select(F.col("name").alias("sender"), F.col("node").alias("from_node"))
    there = nodes.select(F.col("name").alias("receiver"), F.col("node").alias("to_node"))
    found = records.join(here, "sender", "left").join(there, "receiver", "left")
    unknown = F.col("from_node").isNull() | F.col("to_node").isNull()
    rows = found.select(
        F.least("from_node", "to_node").alias("first"),
        F.greatest("from_node", "to_node").alias("second"),
        (F.lit(MEASURES[measure]) * F.col("value")).alias("delay_ms"),
        _reason(measure, unknown).alias("reason"),
    )
    return scratch.keep("records", rows), nodes


def _reason(measure: str, unknown: Column | None) -> Column:
    """The first thing that is wrong with a record, in the words of `berth.files.probes`."""
    value = F.col("value")
    reason = F.when(F.col("fault").isNotNull(), F.col("fault"))
    reason = reason.when(F.col("sender").isNull() | F.col("receiver").isNull(), "no name in from or to")
    if unknown is not None:
        reason = reason.when(unknown, "no node of the problem")
    return (
        reason.when(F.col("sender") == F.col("receiver"), "from a node to itself")
        .when(value.isNull() | F.isnan(value), f"{measure} is no number")
        .when(value <= 0, f"{measure} is not above 0")
        .when(value > LONGEST_MS, f"{measure} is more than a day")
    )


_BITS = 33
"""`monotonically_increasing_id` has the partition above so many bits, and the row's number in it below."""


def numbered(names: DataFrame, scratch: Scratch) -> DataFrame:
    """The columns node and name, for every name in the column name.

    A number of rows for each partition comes to the driver, nothing else.
    """
    ordered = names.distinct().orderBy("name").withColumn("place", F.monotonically_increasing_id())
    kept = scratch.keep("names", ordered)
    partition = F.shiftright("place", _BITS)
    counts = kept.groupBy(partition.alias("partition")).count().orderBy("partition").collect()
    starts, total = {}, 0
    for row in counts:
        starts[row["partition"]] = total
        total += row["count"]
    if not starts:
        return kept.select(F.col("place").alias("node"), "name")
    start = F.create_map(*(F.lit(value).cast("bigint") for pair in starts.items() for value in pair))
    number = start[partition] + F.col("place").bitwiseAND(F.lit(2**_BITS - 1))
    return scratch.keep("nodes", kept.select(number.cast("bigint").alias("node"), "name"))


def pooled(records: DataFrame) -> DataFrame:
    """The median delay of every pair (columns first, second, delay_ms), which needs no order of records."""
    return records.groupBy("first", "second").agg(F.median("delay_ms").alias("delay_ms"))


def averaged(pairs: DataFrame) -> DataFrame:
    """The mean of the delays of every pair that occurs twice at most, which is quicker than a median."""
    mean = (F.min("delay_ms") + F.max("delay_ms")) / 2
    return pairs.groupBy("first", "second").agg(mean.alias("delay_ms"))


def some_pairs(pairs: DataFrame, count: int, seed: int) -> DataFrame:
    """All of few pairs, about 200,000 of many: always the same ones for a seed."""
    if count <= MOST_PAIRS:
        return pairs
    chance = F.pmod(F.xxhash64(F.lit(seed), "first", "second"), F.lit(count))
    return pairs.where(chance < MOST_PAIRS)


def typical_delay(pairs: DataFrame) -> float:
    """The median of the delays above 0; 1 where there is none."""
    found = pairs.where(F.col("delay_ms") > 0).agg(F.median("delay_ms")).first()
    return 1.0 if found is None or found[0] is None else float(found[0])
