"""Requests in rounds: how many tasks of what size, learnt from the rounds before.

Nobody knows beforehand whether a problem takes 5 ms or 60 s. The first round is a few requests, one to a
task; what they took says how many make a task that is long against Spark's own costs, and short against the
whole. Each round is longer than the one before, so that processors seldom wait for the last task of a round.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import LongType, MapType, StringType

from berth.pipeline.many.problems import spark_path
from berth.pipeline.many.schema import REQUESTS

FIRST_TASKS_PER_CORE = 4
TASKS_PER_CORE = 40
SHORTEST_TASK, LONGEST_TASK = 0.5, 10.0
"""Seconds: below, Spark's own costs show; above, too much is lost when the run is killed."""
FIRST_ROUND, GROWTH = 10.0, 8.0
"""Seconds of the round after the first one, and how much longer each is than the one before."""
MOST_TASKS = 20_000


@dataclass(frozen=True)
class Round:
    """The requests from `start` up to `end`, in so many tasks."""

    start: int
    end: int
    tasks: int


def next_round(start: int, total: int, cores: int, number: int, seconds_each: float | None) -> Round:
    """The round that begins with request `start`.

    Args:
        start: how many requests are done.
        total: how many there are.
        cores: how many tasks run at once.
        number: how many rounds there were before.
        seconds_each: what a request takes; None: not known yet.
    """
    rest = total - start
    if seconds_each is None:
        size = min(rest, FIRST_TASKS_PER_CORE * cores)
        return Round(start, start + size, size)
    each = max(seconds_each, 1e-4)
    task_seconds = min(max(rest * each / cores / TASKS_PER_CORE, SHORTEST_TASK), LONGEST_TASK)
    per_task = max(1, min(int(task_seconds / each), math.ceil(rest / (4 * cores))))
    length = FIRST_ROUND * GROWTH ** max(0, number - 1)
    size = min(rest, max(int(length * cores / each), per_task * cores), per_task * MOST_TASKS)
    if rest - size < size / 2:
        # no short last round: its tail would cost more than a longer one here
        size = min(rest, per_task * MOST_TASKS)
    return Round(start, start + size, math.ceil(size / per_task))


class Queue:
    """Requests on disk, numbered, so that rounds and tasks are exact shares of them.

    They are written and read again, not cached: Spark would make a cache anew, without what is solved by
    then, whenever plans are added to the table that the requests were derived from.
    """

    def __init__(self, requests: DataFrame, folder: Path) -> None:
        place = folder.resolve()
        counted = Observation()
        variants = F.coalesce(F.sum(F.size("variants")), F.lit(0)).alias("variants")
        requests.observe(counted, variants).write.parquet(f"file:{place}")
        self.variants = int(counted.get["variants"])
        self._starts: dict[str, int] = {}
        self.requests = 0
        for file in sorted(place.glob("*.parquet")):
            self._starts[file.name] = self.requests
            self.requests += pq.read_metadata(file).num_rows
        self._requests = requests.sparkSession.read.schema(REQUESTS).parquet(spark_path(str(place)))

    def take(self, part: Round) -> DataFrame:
        """The requests of a round, dealt to its tasks like cards."""
        number = F.col("number")
        dealt = self._requests.withColumn("number", self._number())
        dealt = dealt.where((number >= part.start) & (number < part.end))
        return dealt.repartitionById(part.tasks, (number % part.tasks).cast("int")).drop("number")

    def _number(self) -> Column:
        """A request's number, from its file and its place in it."""
        starts = F.from_json(F.lit(json.dumps(self._starts)), MapType(StringType(), LongType()))
        return F.element_at(starts, F.col("_metadata.file_name")) + F.col("_metadata.row_index")
