"""Operator graphs: every application of every problem is one; the nodes are those of one network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
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

from berth.files import document_from, read_bytes
from berth.files.document import mistakes_in
from berth.files.problem_file import network_from
from berth.model import BadInput, Network
from berth.pipeline.many.plan_table import PLANS
from berth.pipeline.many.problem_files import Inputs, read_problems
from berth.pipeline.storage import Batches, record_batches, rows_in

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


BATCH_ROWS = 500


def shared_network(inputs: Inputs, network: Path | None) -> Network:
    """The network whose nodes all graphs share: that of a problem file, or of the only one there is.

    Raises:
        BadInput: it isn't said which, or the file has mistakes.
    """
    if network is None and len(inputs.files) != 1:
        raise BadInput(
            ["--together: several problems, and all need the same nodes: say whose with --network PROBLEM"]
        )
    path = str(network) if network is not None else inputs.files[0]
    content = read_bytes(path)
    with mistakes_in(path, content):
        return network_from(document_from(content, path))


def read_graphs(session: SparkSession, inputs: Inputs, partitions: int) -> DataFrame:
    """The graphs of all problems, with the columns of `GRAPHS`; spread over so many partitions."""
    problems = read_problems(session, inputs, partitions).select("source", "content", "mistake")
    return problems.mapInArrow(_graphs_of, GRAPHS).repartition(partitions, "source", "application")


def _graphs_of(batches: Batches) -> Iterator[pa.RecordBatch]:
    rows = (row for problem in rows_in(batches) for row in _rows(problem))
    return record_batches(rows, GRAPHS, BATCH_ROWS)


def _rows(problem: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each application of a problem; one with the mistake where there is none to be had."""
    source = problem["source"]
    try:
        if problem["content"] is None:
            raise BadInput([problem["mistake"]])
        with mistakes_in(source, problem["content"]):
            document = document_from(problem["content"], source.partition("#")[0])
            if not isinstance(document, dict) or not isinstance(document.get("applications"), list):
                raise BadInput(["applications: a list of applications is needed"])
    except BadInput as error:
        yield {"source": source, "application": "", "content": None, "mistake": "\n".join(error.mistakes)}
        return
    rest = {key: value for key, value in document.items() if key not in ("applications", "network")}
    for application in document["applications"]:
        name = application.get("name") if isinstance(application, dict) else None
        content = json.dumps(rest | {"applications": [application]}).encode()
        yield {"source": source, "application": str(name), "content": content, "mistake": None}
