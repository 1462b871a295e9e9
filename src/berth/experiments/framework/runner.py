"""One run of an experiment, in a process of its own on some executor."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from berth.experiments.experiment import Experiment, Row, Run, Setting
from berth.experiments.registry import loaded
from berth.pipeline.many.solver import MOST_ERROR_TEXT, error_text

HARD_LIMIT_SECONDS = 1200.0
"""Runs take seconds. One that hangs becomes a failure, on a busy machine, too."""


@dataclass(frozen=True)
class Terms:
    """What holds for all runs of a job."""

    setting: Setting
    data: str
    """The mark of the setting's data."""
    hard_limit: float | None = HARD_LIMIT_SECONDS


def answer(_task: Mapping[str, Any], run: Mapping[str, Any], terms: Terms) -> dict[str, Any]:
    """Do a run; whatever it raises is in the row's `error`."""
    began, worked = time.monotonic(), time.process_time()
    try:
        experiment = loaded(run["module"])
        asked = Run(run["key"], json.loads(run["parameters"]))
        rows = packed(experiment, experiment.rows(asked, terms.setting))
        row = _row(run, terms, time.monotonic() - began) | {"rows": rows}
    except BaseException as error:  # it may even call exit(): it costs its row, nothing else
        row = failed(_task, run, terms, error_text(error), time.monotonic() - began)
    return row | {"processor_seconds": round(time.process_time() - worked, 6)}


def failed(
    _task: Mapping[str, Any], run: Mapping[str, Any], terms: Terms, error: str, seconds: float
) -> dict[str, Any]:
    """The row of a run that came to nothing."""
    return _row(run, terms, seconds) | {"error": error[:MOST_ERROR_TEXT]}


def packed(experiment: Experiment, rows: Iterable[Row]) -> bytes:
    """The rows of a run as an Arrow table in the experiment's columns.

    Raises:
        ValueError: a row has other columns than the experiment's.
    """
    found = [dict(row) for row in rows]
    names = set(experiment.schema.fieldNames())
    for row in found:
        if set(row) != names:
            odd = ", ".join(sorted(set(row) ^ names))
            raise ValueError(f"a row and the experiment's schema differ in {odd}")
    table = pa.Table.from_pylist(found, to_arrow_schema(experiment.schema))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _row(run: Mapping[str, Any], terms: Terms, seconds: float) -> dict[str, Any]:
    setting = terms.setting
    return {
        "experiment": run["experiment"],
        "quick": setting.quick,
        "seed": setting.seed,
        "data": terms.data,
        "code": run["code"],
        "key": run["key"],
        "parameters": run["parameters"],
        "seconds": round(seconds, 6),
    }
