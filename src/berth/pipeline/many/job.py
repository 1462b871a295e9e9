"""Solving what is missing in a folder of plans, so that what is finished stays, whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.many.problems import Inputs, count_problems, read_problems
from berth.pipeline.many.requests import identified, requests_for
from berth.pipeline.many.rounds import Queue, next_round
from berth.pipeline.many.solver import Terms
from berth.pipeline.many.stored import Stored
from berth.pipeline.many.tally import Tally
from berth.pipeline.many.transform import solve_many
from berth.pipeline.many.variants import Variant

REQUESTS_PER_CORE = 64
MOST_VARIANTS = 10
"""Of one problem in one request: more would keep one processor busy for long."""
PROBLEMS_PER_PARTITION = 20_000

Watch = Callable[[Tally, int], AbstractContextManager[object]]


@dataclass(frozen=True)
class Job:
    """What to solve, how, and where the plans go."""

    inputs: Inputs
    variants: Sequence[Variant]
    terms: Terms
    folder: Path
    retry_errors: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a run has done."""

    problems: int
    solved: int
    errors: int
    kept: int
    """Plans that were there already."""
    dropped: int
    """Rows that left: of problems that have changed since, and errors that were tried again."""


def solve_missing(
    session: SparkSession, job: Job, watch: Watch = lambda tally, total: nullcontext()
) -> Outcome:
    """Solve what has no row in the table of plans yet.

    Args:
        session: where.
        job: what.
        watch: is entered for the time of solving, with the counts and how many there will be.
    """
    stored = Stored(session, job.folder)
    stored.clean()
    cores = session.sparkContext.defaultParallelism
    count = count_problems(session, job.inputs)
    partitions = max(2 * cores, count // PROBLEMS_PER_PARTITION)
    problems = identified(read_problems(session, job.inputs), partitions)
    finished, dropped, kept = None, 0, 0
    if not stored.empty:
        problems = problems.persist(StorageLevel.DISK_ONLY)
        dropped = stored.drop(_unwanted(stored.read(), problems, job.retry_errors))
        finished = stored.read()
    together = min(max(count * len(job.variants) // (REQUESTS_PER_CORE * cores), 1), MOST_VARIANTS)
    requests = requests_for(problems, job.variants, job.terms, finished, together)
    tally = Tally(session)
    with Queue(requests, stored.folder.with_name(".queue")) as queue:
        if finished is not None:
            kept = problems.count() * len(job.variants) - queue.variants
            problems.unpersist()
        with watch(tally, queue.variants):
            _run(queue, cores, job.terms, stored, tally)
    return Outcome(count, tally.solved, tally.errors, kept, dropped)


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


def _run(queue: Queue, cores: int, terms: Terms, stored: Stored, tally: Tally) -> None:
    start = number = 0
    while start < queue.requests:
        each = tally.seconds / tally.requests if tally.requests else None
        part = next_round(start, queue.requests, cores, number, each)
        stored.append(solve_many(queue.take(part), terms, tally))
        start, number = part.end, number + 1
