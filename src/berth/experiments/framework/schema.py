"""The columns of tasks, runs, claims and failures."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

_TEXT = StringType()

_RUN = StructType(
    [
        StructField("experiment", _TEXT, nullable=False),
        StructField("module", _TEXT, nullable=False),
        StructField("code", _TEXT, nullable=False),
        StructField("key", _TEXT, nullable=False),
        StructField("parameters", _TEXT, nullable=False),  # JSON
    ]
)

TASKS = StructType(
    [
        StructField("task", IntegerType(), nullable=False),
        StructField("variants", ArrayType(_RUN, containsNull=False), nullable=False),
    ]
)

IDENTITY = (
    StructField("experiment", _TEXT),
    StructField("quick", BooleanType()),
    StructField("seed", LongType()),
    StructField("data", _TEXT),
    StructField("code", _TEXT),
    StructField("key", _TEXT),
)

RUNS = StructType(
    [
        *IDENTITY,
        StructField("parameters", _TEXT),
        StructField("rows", BinaryType()),  # an Arrow table with the experiment's columns
        StructField("error", _TEXT),
        StructField("seconds", DoubleType()),
        StructField("processor_seconds", DoubleType()),  # null where the process died
    ]
)

CLAIMS = StructType(
    [StructField(name, _TEXT) for name in ("experiment", "claim", "paper", "ours", "verdict", "reason")]
)

FAILURES = StructType(
    [
        *(StructField(name, _TEXT) for name in ("experiment", "key", "parameters", "error")),
        StructField("seconds", DoubleType()),
    ]
)


def results_schema(columns: StructType) -> StructType:
    """The columns of an experiment's table: the run that a row is of, then its own."""
    return StructType([StructField("key", _TEXT, nullable=False), *columns.fields])
