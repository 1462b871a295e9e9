"""All runs that are missing, of all experiments at once, on Spark; what is finished stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from berth.experiments.framework.runner import Terms, answer, failed
from berth.experiments.framework.schema import RUNS, TASKS
from berth.experiments.framework.stored import Stored
from berth.experiments.framework.tally import Count, Tally
from berth.experiments.framework.tasks import (
    Missing,
    Task,
    remaining_tasks,
    sample_tasks,
    typical_seconds,
)
from berth.pipeline.many.isolation import SolverProcess
from berth.pipeline.many.plans import append

Batches = Iterable[pa.RecordBatch]


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
