"""Which problems have to be solved in which variants, and how they are dealt to tasks in rounds.

Nobody knows beforehand whether a problem takes 5 ms or 60 s. The first round is a few requests, one to a
task; what they took says how many make a task that is long against Spark's own costs, and short against the
whole. Each round is longer than the one before, so that processors seldom wait for the last task of a round;
and its last tasks are small, so that they don't wait long. Requests are in no particular order: neighbours
are as good as any.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, LongType, MapType, StringType, StructField, StructType

from berth.pipeline.many.plan_table import TEXTS_BY_NAME
from berth.pipeline.many.problem_files import PROBLEMS
from berth.pipeline.many.solver import Terms
from berth.policies.variants import Variant
from berth.spark.paths import spark_path

VARIANT = StructType(
    [
        StructField("key", StringType()),
        StructField("policy", StringType()),
        StructField("parameters", TEXTS_BY_NAME),
        StructField("seed", LongType()),
    ]
)

REQUESTS = StructType(
    [
        *PROBLEMS.fields,
        StructField("variants", ArrayType(VARIANT), nullable=False),
    ]
)

_LISTED = ArrayType(StructType([*VARIANT.fields[1:], StructField("fingerprint", StringType())]))
_IDENTITY = ("source", "digest")


def requests_for(
    problems: DataFrame,
    variants: Sequence[Variant],
    terms: Terms,
    finished: DataFrame | None = None,
    most_variants: int = 1,
) -> DataFrame:
    """The columns of `REQUESTS`: what of problems times variants is not finished yet.

    Args:
        problems: the columns of `PROBLEMS`.
        variants: the ways to solve each.
        terms: what holds for all of them.
        finished: plans that are there already; only `source`, `digest` and `key` count.
        most_variants: of one problem in one request. Its content is copied for each request.
    """
    requests = problems.withColumn("variants", _with_keys(variants, terms))
    if finished is not None:
        keys = finished.groupBy(*_IDENTITY).agg(F.collect_set("key").alias("finished"))
        there = F.coalesce("finished", F.array().cast("array<string>"))
        missing = F.filter("variants", lambda variant: ~F.array_contains(there, variant.key))
        requests = requests.join(keys, [*_IDENTITY], "left").withColumn("variants", missing)
    starts = F.sequence(F.lit(1), F.size("variants"), F.lit(most_variants))
    parts = F.transform(starts, lambda start: F.slice("variants", start, most_variants))
    dealt = requests.where(F.size("variants") > 0).withColumn("variants", F.explode(parts))
    return dealt.select(*REQUESTS.fieldNames())


def _with_keys(variants: Sequence[Variant], terms: Terms) -> Column:
    """All variants of a problem, each with the key of its row."""
    listed = [
        {
            "policy": variant.policy,
            "parameters": dict(variant.parameters),
            "seed": variant.seed,
            "fingerprint": variant.fingerprint + terms.fingerprint,
        }
        for variant in variants
    ]
    # one literal however many there are: a column expression for each would take the planner minutes
    all_variants = F.from_json(F.lit(json.dumps(listed)), _LISTED)
    return F.transform(
        all_variants,
        lambda variant: F.struct(
            F.sha2(F.concat_ws("\n", "source", "digest", variant.fingerprint), 256).alias("key"),
            variant.policy.alias("policy"),
            variant.parameters.alias("parameters"),
            variant.seed.alias("seed"),
        ),
    )


FIRST_TASKS_PER_CORE = 4
LARGE_TASKS_PER_CORE = 4
SHORTEST_TASK, LONGEST_TASK = 0.5, 10.0
"""Seconds: below, Spark's own costs show; above, too much is lost when the run is killed."""
SMALLER = 8
"""How much smaller the last tasks are: the processors end at nearly the same time."""
FIRST_ROUND, GROWTH = 10.0, 8.0
"""Seconds of the round after the first one, and how much longer each is than the one before."""
MOST_TASKS = 20_000


@dataclass(frozen=True)
class Round:
    """The requests from `start` up to `end`: large tasks up to `split`, small ones from there."""

    start: int
    split: int
    end: int
    large: int = 1
    small: int = 1

    @property
    def large_tasks(self) -> int:
        """How many tasks come before the small ones."""
        return math.ceil((self.split - self.start) / self.large)

    @property
    def tasks(self) -> int:
        """How many there are."""
        return self.large_tasks + math.ceil((self.end - self.split) / self.small)

    def task(self, number: Column) -> Column:
        """The task of a request; Spark starts tasks in their order."""
        large = F.floor((number - self.start) / self.large)
        small = self.large_tasks + F.floor((number - self.split) / self.small)
        return F.when(number < self.split, large).otherwise(small).cast("int")


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
        return Round(start, start, start + min(rest, FIRST_TASKS_PER_CORE * cores))
    each = max(seconds_each, 1e-4)
    seconds = rest * each / cores / LARGE_TASKS_PER_CORE
    large = max(1, int(min(max(seconds, SHORTEST_TASK), LONGEST_TASK) / each))
    length = FIRST_ROUND * GROWTH ** max(0, number - 1)
    size = max(int(length * cores / each), large * cores)
    if rest < 1.5 * size:
        size = rest  # no short last round: its end would cost more than a longer one here
    size = min(size, rest, large * MOST_TASKS)
    last = min(size, large * cores)
    small = min(max(large // SMALLER, int(SHORTEST_TASK / each), 1), math.ceil(last / cores))
    return Round(start, start + size - last, start + size, large, small)


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
        """The requests of a round, in its tasks."""
        number = F.col("number")
        dealt = self._requests.withColumn("number", self._number())
        dealt = dealt.where((number >= part.start) & (number < part.end))
        return dealt.repartitionById(part.tasks, part.task(number)).drop("number")

    def _number(self) -> Column:
        """A request's number, from its file and its place in it."""
        starts = F.from_json(F.lit(json.dumps(self._starts)), MapType(StringType(), LongType()))
        return F.element_at(starts, F.col("_metadata.file_name")) + F.col("_metadata.row_index")
