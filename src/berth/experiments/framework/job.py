"""All runs that are missing, of all experiments at once, on Spark; what is finished stays."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from berth.experiments.experiment import Experiment, Row, Run, Setting
from berth.experiments.framework.journal import RUNS, TASKS, Stored
from berth.experiments.framework.missing import (
    Missing,
    Task,
    remaining_tasks,
    sample_tasks,
    typical_seconds,
)
from berth.experiments.registry import loaded
from berth.pipeline.many.plan_table import append
from berth.pipeline.many.solver import MOST_ERROR_TEXT, SolverProcess, error_text

HARD_LIMIT_SECONDS = 1200.0
"""Runs take seconds. One that hangs becomes a failure, on a busy machine, too."""
Batches = Iterable[pa.RecordBatch]
LONGEST_SECONDS = 3600.0
"""An application that runs for real takes minutes."""


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
        experiment = loaded(run["place"])
        chosen = Run(run["key"], json.loads(run["parameters"]))
        rows = packed(experiment, experiment.rows(chosen, terms.setting))
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


class Count(NamedTuple):
    """Of some runs: how many, how many of them failed, and what they took."""

    done: int = 0
    failed: int = 0
    seconds: float = 0.0


class Tally:
    """Executors add to it, the driver reads it. A task's counts arrive when it ends: for progress only."""

    def __init__(self, session: SparkSession, experiments: Iterable[str]) -> None:
        context = session.sparkContext
        self._counts = {name: [context.accumulator(zero) for zero in Count()] for name in experiments}

    def add(self, experiment: str, count: Count) -> None:
        """Count some runs; on executors."""
        for total, more in zip(self._counts[experiment], count, strict=True):
            total.add(more)

    def of(self, experiment: str) -> Count:
        """What is counted of an experiment; on the driver."""
        done, failed, seconds = (total.value for total in self._counts[experiment])
        return Count(int(done), int(failed), seconds)


@dataclass(frozen=True)
class Job:
    """What is to be done, and where it goes."""

    session: SparkSession
    stored: Stored
    terms: Terms
    missing: Sequence[Missing]
    tally: Tally

    def do(self) -> None:
        """Do all runs: a few of each experiment that nothing is known of, then all others."""
        seconds = self._seconds()
        unknown = [item for item in self.missing if item.name not in seconds]
        sample = sample_tasks(unknown)
        self._do(sample)
        done = {(run["experiment"], run["key"]) for task in sample for run in task}
        rest = [
            replace(item, runs=[run for run in item.runs if (item.name, run.key) not in done])
            for item in self.missing
        ]
        self._do(remaining_tasks(rest, self._seconds()))

    def _do(self, tasks: Sequence[Task]) -> None:
        if tasks:
            append(done_by(self._frame(tasks), self.terms, self.tally), self.stored.runs_folder)

    def _frame(self, tasks: Sequence[Task]) -> DataFrame:
        rows = pa.Table.from_pylist(
            [{"task": number, "variants": task} for number, task in enumerate(tasks)],
            to_arrow_schema(TASKS),
        )
        frame = self.session.createDataFrame(rows, TASKS)
        # Spark starts tasks in the order of their numbers
        return frame.repartitionById(len(tasks), "task")

    def _seconds(self) -> dict[str, float]:
        """What a run of each experiment takes, where some were done before."""
        journal, found = self.stored.journal(), {}
        for item in self.missing:
            seen = [entry["seconds"] for entry in journal.succeeded(item.name, item.identity).values()]
            if seen:
                found[item.name] = typical_seconds(seen)
        return found


def done_by(tasks: DataFrame, terms: Terms, tally: Tally) -> DataFrame:
    """The rows of `RUNS` that come of some tasks. Nothing that a run does fails the job."""
    return tasks.mapInArrow(_doing(terms, tally), RUNS)


def _doing(terms: Terms, tally: Tally) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def do(batches: Batches) -> Iterator[pa.RecordBatch]:
        schema = to_arrow_schema(RUNS)
        for batch in batches:
            for row in _process().answers(batch.to_pylist(), terms):
                yield pa.RecordBatch.from_pylist([row], schema)
                tally.add(row["experiment"], Count(1, int(row.get("error") is not None), row["seconds"]))

    return do


@cache
def _process() -> SolverProcess:
    """The one of this Python worker. What it needs is loaded before it is forked: a new one has it, too."""
    import berth.exact.general  # noqa: F401

    return SolverProcess(answer, failed, "the run")


def do_in_driver(
    stored: Stored, terms: Terms, missing: Iterable[Missing], step: Callable[[str], None]
) -> None:
    """Do runs in a process of their own; each is in the journal when it is done.

    Args:
        stored: where they go.
        terms: what holds for all.
        missing: the runs.
        step: is told what is being done.
    """
    patient = replace(terms, hard_limit=LONGEST_SECONDS)
    with SolverProcess(answer, failed, "the run") as process:
        for item in missing:
            for run in item.runs:
                step(f"{item.name} {run.key}")
                for row in process.answers([{"variants": item.task([run])}], patient):
                    stored.add_run(row)
