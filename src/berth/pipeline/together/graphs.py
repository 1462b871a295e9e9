"""Reading operator graphs: every application of every problem is one; the nodes are those of one network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from berth.files import document_from, read_bytes
from berth.files.problem_file import network_from
from berth.model import BadInput, Network
from berth.pipeline.many.problems import Inputs, read_problems
from berth.pipeline.together.schema import GRAPHS

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
    return network_from(document_from(read_bytes(path), path))


def read_graphs(session: SparkSession, inputs: Inputs, partitions: int) -> DataFrame:
    """The graphs of all problems, with the columns of `GRAPHS`; spread over so many partitions."""
    problems = read_problems(session, inputs, partitions).select("source", "content", "mistake")
    return problems.mapInArrow(_graphs_of, GRAPHS).repartition(partitions, "source", "application")


def _graphs_of(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    schema = to_arrow_schema(GRAPHS)
    rows: list[dict[str, Any]] = []
    for problem in (row for batch in batches for row in batch.to_pylist()):
        for row in _rows(problem):
            rows.append(row)
            if len(rows) >= BATCH_ROWS:
                yield pa.RecordBatch.from_pylist(rows, schema)
                rows = []
    yield pa.RecordBatch.from_pylist(rows, schema)


def _rows(problem: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each application of a problem; one with the mistake where there is none to be had."""
    source = problem["source"]
    try:
        if problem["content"] is None:
            raise BadInput([problem["mistake"]])
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
