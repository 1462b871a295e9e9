"""Runs of the toy experiment, done here and written to a journal without Spark."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema

from berth.experiments.experiment import Run, Setting
from berth.experiments.framework.job import Terms, answer
from berth.experiments.framework.journal import RUNS, Stored, identity_of
from berth.experiments.registry import Chosen
from tests.experiments.toy import EXPERIMENT

PLACE = "tests.experiments.toy:EXPERIMENT"
CHOSEN = Chosen("X9.1", PLACE, EXPERIMENT)


def done(setting: Setting, runs: Iterable[Run] | None = None, **other: Any) -> list[dict[str, Any]]:
    """The rows of some runs, with some columns made other ones."""
    identity = identity_of(setting, PLACE)
    terms = Terms(setting, identity.data)
    chosen = EXPERIMENT.runs(setting) if runs is None else runs
    return [
        answer(
            {},
            {
                "experiment": "X9.1",
                "place": PLACE,
                "code": identity.code,
                "key": run.key,
                "parameters": json.dumps(run.parameters),
            },
            terms,
        )
        | other
        for run in chosen
    ]


def add(stored: Stored, rows: list[dict[str, Any]]) -> Path:
    """Write rows as a task does."""
    stored.runs_folder.mkdir(parents=True, exist_ok=True)
    file = stored.runs_folder / f"part-{len(list(stored.runs_folder.iterdir()))}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, to_arrow_schema(RUNS)), file)
    return file
