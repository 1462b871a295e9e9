"""The columns of problems, requests and plans."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from berth.evaluation import METRICS

_TEXT, _NUMBER = StringType(), DoubleType()
_TEXTS_BY_NAME = MapType(StringType(), StringType(), valueContainsNull=False)

PROBLEMS = StructType(
    [
        StructField(
            "source", _TEXT, nullable=False
        ),  # the file; of a table's row, the table and the row's name
        StructField("name", _TEXT),
        StructField("content", BinaryType()),
        StructField("mistake", _TEXT),  # why there is no content
        StructField("digest", _TEXT, nullable=False),
    ]
)

VARIANT = StructType(
    [
        StructField("key", _TEXT),
        StructField("policy", _TEXT),
        StructField("parameters", _TEXTS_BY_NAME),
        StructField("seed", LongType()),
    ]
)

REQUESTS = StructType(
    [
        *PROBLEMS.fields,
        StructField("variants", ArrayType(VARIANT), nullable=False),
    ]
)

PLANS = StructType(
    [
        StructField("problem", _TEXT),
        StructField("source", _TEXT),
        StructField("digest", _TEXT),
        StructField("key", _TEXT),
        StructField("policy", _TEXT),
        StructField("parameters", _TEXTS_BY_NAME),
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
        StructField("assignment", _TEXTS_BY_NAME),
        StructField("plan", _TEXT),
        StructField("error", _TEXT),
    ]
)
