"""The transformation: requests in, plans out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache

import pyarrow as pa
from pyspark import Accumulator, SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from berth.pipeline.many.isolation import SolverProcess
from berth.pipeline.many.plans import PLANS
from berth.pipeline.many.requests import REQUESTS
from berth.pipeline.many.solver import Row, Terms
from berth.pipeline.storage import Batches

SETTINGS = {
    # libraries below must not start threads of their own
    "spark.executorEnv.OMP_NUM_THREADS": "1",
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
    "spark.executorEnv.MKL_NUM_THREADS": "1",
    # problems may be large, and answers should flow
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    # the driver has little to do: its second compiler would take more of a small machine than it gives back
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1",
}
"""Spark's settings for solving: the work is in Python, and a task is one processor's."""


class Tally:
    """How many variants are answered, with how many errors, and how long requests take.

    Executors add to it, the driver reads it. The counts of a task arrive when it ends; those of one that
    Spark had to run again count twice: this is for progress and for sizes of tasks, not for results.
    """

    def __init__(self, session: SparkSession) -> None:
        context = session.sparkContext
        end_in_silence(context)
        self._requests: Accumulator[int] = context.accumulator(0)
        self._solved: Accumulator[int] = context.accumulator(0)
        self._errors: Accumulator[int] = context.accumulator(0)
        self._seconds: Accumulator[float] = context.accumulator(0.0)

    def add(self, solved: int, errors: int) -> None:
        """Count answers; on executors."""
        self._solved.add(solved)
        self._errors.add(errors)

    def add_time(self, requests: int, seconds: float) -> None:
        """Count what some requests took; on executors."""
        self._requests.add(requests)
        self._seconds.add(seconds)

    @property
    def solved(self) -> int:
        """Variants answered, errors among them; on the driver, as the others."""
        return self._solved.value

    @property
    def errors(self) -> int:
        """Variants answered by an error."""
        return self._errors.value

    @property
    def seconds_each(self) -> float:
        """Seconds that a request takes; a second where that is not known."""
        return self._seconds.value / self._requests.value if self._requests.value else 1.0


def end_in_silence(context: SparkContext) -> None:
    """On Ctrl-C the JVM ends before pyspark's counter does, which would print a traceback for that."""
    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        server.handle_error = lambda request, address: None


FLUSH_ROWS = 64


def solve_many(requests: DataFrame, terms: Terms, tally: Tally | None = None) -> DataFrame:
    """The plans of some requests.

    Args:
        requests: the columns of `REQUESTS`; each row is solved as a whole, in the partition that it is in.
        terms: time limit and objective.
        tally: counts what is answered.

    Returns:
        The columns of `PLANS`, a row for each variant of each request. Nothing that a problem or a policy
        does fails the job: it is in the row's `error`.
    """
    wanted = requests.select(*REQUESTS.fieldNames())
    return wanted.mapInArrow(answering(terms, tally), PLANS)


def answering(terms: Terms, tally: Tally | None = None) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """What each task does with its batches of requests."""

    def answer(batches: Batches) -> Iterator[pa.RecordBatch]:
        schema = to_arrow_schema(PLANS)
        solver = _solver()
        for batch in batches:
            requests = batch.to_pylist()
            warm, began, rows = solver.warm, time.monotonic(), []
            for row in solver.answers(requests, terms):
                rows.append(row)
                if len(rows) >= FLUSH_ROWS:
                    yield pa.RecordBatch.from_pylist(rows, schema)
                    _count(tally, rows)
                    rows = []
            if tally is not None and warm:
                tally.add_time(len(requests), time.monotonic() - began)
            if rows:
                yield pa.RecordBatch.from_pylist(rows, schema)
                _count(tally, rows)

    return answer


def _count(tally: Tally | None, rows: list[Row]) -> None:
    if tally is not None:
        tally.add(len(rows), sum(row.get("error") is not None for row in rows))


@cache
def _solver() -> SolverProcess:
    """The one of this Python worker. What it needs is loaded before it is forked: a new one has it, too."""
    import berth.exact.general  # noqa: F401

    return SolverProcess()
