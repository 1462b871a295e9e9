"""Requests in, plans out; and solving what is missing in a folder of plans.

What is finished stays, whatever happens.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
from pyspark import Accumulator, StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.many.plan_table import PLANS, QUEUE, Stored, append
from berth.pipeline.many.problem_files import Inputs, count_problems, read_problems
from berth.pipeline.many.solver import Row, SolverProcess, Terms
from berth.pipeline.many.variants_to_solve import REQUESTS, Queue, next_round, requests_for
from berth.pipeline.storage import Batches, record_batches
from berth.policies.variants import Variant

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
        self._requests: Accumulator[int] = context.accumulator(0)
        self._solved: Accumulator[int] = context.accumulator(0)
        self._errors: Accumulator[int] = context.accumulator(0)
        self._seconds: Accumulator[float] = context.accumulator(0.0)

    def add(self, failed: bool) -> None:
        """Count an answer; on executors."""
        self._solved.add(1)
        self._errors.add(int(failed))

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

    def rows(batches: Batches) -> Iterator[Row]:
        solver = _solver()
        for batch in batches:
            requests = batch.to_pylist()
            warm, began = solver.warm, time.monotonic()
            for row in solver.answers(requests, terms):
                yield row
                if tally is not None:
                    tally.add(row.get("error") is not None)
            if tally is not None and warm:
                tally.add_time(len(requests), time.monotonic() - began)

    return lambda batches: record_batches(rows(batches), PLANS, FLUSH_ROWS)


@cache
def _solver() -> SolverProcess:
    """The one of this Python worker. What it needs is loaded before it is forked: a new one has it, too."""
    import berth.exact.general  # noqa: F401

    return SolverProcess()


REQUESTS_PER_CORE = 64
MOST_VARIANTS = 10
"""Of one problem in one request: more would keep one processor busy for long."""
PROBLEMS_PER_PARTITION = 20_000


@dataclass(frozen=True)
class Job:
    """What to solve, how, and where the plans go."""

    inputs: Inputs
    variants: Sequence[Variant]
    terms: Terms
    folder: Path
    retry_errors: bool = False


@dataclass(frozen=True)
class Run:
    """What is missing, found out and lined up."""

    session: SparkSession
    terms: Terms
    stored: Stored
    queue: Queue
    tally: Tally
    problems: int
    kept: int
    """Plans that were there already."""
    dropped: int
    """Rows that left: of problems that have changed since, and errors that are tried again."""

    @property
    def missing(self) -> int:
        """Plans that there will be more when it is done."""
        return self.queue.variants

    def solve(self) -> None:
        """Solve it all; what is finished is in the table from then on."""
        cores = self.session.sparkContext.defaultParallelism
        start = number = 0
        while start < self.queue.requests:
            each = self.tally.seconds_each if number else None
            part = next_round(start, self.queue.requests, cores, number, each)
            append(solve_many(self.queue.take(part), self.terms, self.tally), self.stored.folder)
            start, number = part.end, number + 1


def prepare(session: SparkSession, job: Job) -> Run:
    """Find out what has no row in the table of plans yet; the folder should be `locked`."""
    stored = Stored(session, job.folder)
    cores = session.sparkContext.defaultParallelism
    count = count_problems(session, job.inputs)
    partitions = max(2 * cores, count // PROBLEMS_PER_PARTITION)
    together = min(max(count * len(job.variants) // (REQUESTS_PER_CORE * cores), 1), MOST_VARIANTS)
    problems = read_problems(session, job.inputs, partitions)
    if stored.empty:
        requests = requests_for(problems, job.variants, job.terms, None, together)
        queue = Queue(requests, job.folder / QUEUE)
        return Run(session, job.terms, stored, queue, Tally(session), count, 0, 0)
    problems = problems.persist(StorageLevel.DISK_ONLY)
    dropped = stored.drop(_unwanted(stored.read(), problems, job.retry_errors))
    requests = requests_for(problems, job.variants, job.terms, stored.read(), together)
    queue = Queue(requests, job.folder / QUEUE)
    kept = problems.count() * len(job.variants) - queue.variants
    problems.unpersist()
    return Run(session, job.terms, stored, queue, Tally(session), count, kept, dropped)


def _unwanted(plans: DataFrame, problems: DataFrame, retry_errors: bool) -> DataFrame:
    """Rows of problems whose content is another one now; with `retry_errors`, errors of all problems too."""
    now = problems.select("source", "digest")
    changed = plans.join(now.select("source").distinct(), "source", "left_semi").join(
        now, ["source", "digest"], "left_anti"
    )
    unwanted = changed.select("key")
    if retry_errors:
        unwanted = unwanted.unionByName(plans.where(F.col("error").isNotNull()).select("key"))
    return unwanted
