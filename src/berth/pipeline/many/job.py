"""Solving what is missing in a folder of plans, so that what is finished stays, whatever happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.many.plans import QUEUE, Stored
from berth.pipeline.many.problems import Inputs, count_problems, read_problems
from berth.pipeline.many.requests import Queue, next_round, requests_for
from berth.pipeline.many.solver import Terms
from berth.pipeline.many.transform import Tally, solve_many
from berth.policies.variants import Variant

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
            self.stored.append(solve_many(self.queue.take(part), self.terms, self.tally))
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
