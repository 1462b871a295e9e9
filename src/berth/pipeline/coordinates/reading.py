"""Tables of measured round trips for Spark: CSV, JSON lines or Parquet, files or folders."""

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

from berth.files.probes import ENDS, MEASURE, begins_as_parquet, probe_files, without_columns
from berth.model import BadInput
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
