"""The columns of graphs, proposals and placed graphs."""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from berth.pipeline.many.schema import PLANS

_TEXT = StringType()
_AMOUNTS = ArrayType(DoubleType(), containsNull=False)

GRAPHS = StructType(
    [
        StructField("source", _TEXT, nullable=False),
        StructField("application", _TEXT, nullable=False),
        StructField("content", BinaryType()),  # a problem file of this application alone, without network
        StructField("mistake", _TEXT),  # why there is no content
    ]
)

CONTESTED = ArrayType(
    StructType(
        [
            StructField("node", IntegerType(), nullable=False),
            # so many nodes' worth of proposals were before this graph's
            StructField("ahead", LongType(), nullable=False),
        ]
    )
)

FIXED = MapType(StringType(), IntegerType(), valueContainsNull=False)

WAITING = StructType(
    [
        *GRAPHS.fields,
        StructField("priority", LongType(), nullable=False),
        StructField("fixed", FIXED),  # the operators that have their node
        StructField("contested", CONTESTED),
    ]
)

PLACED = StructType(
    [
        StructField("application", _TEXT),
        StructField("round", IntegerType()),
        *PLANS.fields,
    ]
)

PART = StructType(
    [
        StructField("operator", _TEXT, nullable=False),
        StructField("chosen", BooleanType(), nullable=False),  # it could go elsewhere, too
        StructField("single", BooleanType(), nullable=False),  # all its instances are on this node
        StructField("node", IntegerType(), nullable=False),
        # what it takes there, and what was left there: a number for each column of room
        StructField("amounts", _AMOUNTS, nullable=False),
        StructField("room", _AMOUNTS, nullable=False),
    ]
)

PROPOSALS = StructType(
    [
        *WAITING.fields,
        StructField("row", PLANS),
        StructField("parts", ArrayType(PART, containsNull=False)),  # null: there is no place for the graph
        StructField("returned", ArrayType(PART, containsNull=False)),  # what such a graph had taken
    ]
)
