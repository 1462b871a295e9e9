"""Rounds of proposals and answers, until every graph has a place or there is none for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Network
from berth.pipeline.many.lock import QUEUE
from berth.pipeline.together.acceptance import GRAPH, answers_of, kept_of, takes_of, verdicts_of
from berth.pipeline.together.proposals import proposals_of
from berth.pipeline.together.room import SharedRoom
from berth.pipeline.together.schema import CONTESTED, FIXED, PLACED, WAITING
from berth.pipeline.together.solving import Way
from berth.spark.paths import spark_path

GRAPHS_PER_PARTITION = 2_000
"""More in a partition would leave processors idle at the end of a round."""


@dataclass(frozen=True)
class Round:
    """How far it is after a round."""

    number: int
    proposed: int
    accepted: int
    stuck: int
    """Graphs for which there is no place, or that make no sense."""


@dataclass(frozen=True)
class Outcome:
    """All graphs with their places, and how it went."""

    plans: DataFrame
    """The columns of `PLACED`; as long as the folder of the rounds is there."""
    rounds: list[Round]
    room: SharedRoom


def place_together(
    graphs: DataFrame,
    network: Network,
    way: Way,
    folder: Path,
    report: Callable[[Round], None] = lambda done: None,
) -> Outcome:
    """Place graphs on nodes that they share.

    Args:
        graphs: the columns of `GRAPHS`.
        network: the nodes.
        way: by which policy, with which seed; it also draws the order in which nodes prefer graphs.
        folder: its part `.queue` is written to, and belongs to whoever calls.
        report: hears of every round.
    """
    session = graphs.sparkSession
    queue = folder / QUEUE / f"{way.policy}-{way.seed}"
    shutil.rmtree(queue, ignore_errors=True)
    room = SharedRoom.of(network, way.most)
    shared = session.sparkContext.broadcast(network)
    waiting = _stored(session, with_priority(graphs, way.seed), queue / "waiting-0")
    left = waiting.count()
    rounds: list[Round] = []
    try:
        while left:
            done, room, waiting = _round(waiting, shared, room, way, queue, len(rounds))
            rounds.append(done)
            report(done)
            left -= done.accepted + done.stuck
    finally:
        shared.unpersist()
    return Outcome(_placed(session, queue, len(rounds)), rounds, room)


def with_priority(graphs: DataFrame, seed: int) -> DataFrame:
    """Graphs with the columns of `WAITING`: the seed draws the order in which nodes prefer them."""
    priority = F.xxhash64(F.lit(seed), "source", "application")
    nothing = {"fixed": F.lit(None).cast(FIXED), "contested": F.lit(None).cast(CONTESTED)}
    return graphs.withColumns({"priority": priority, **nothing})


def _stored(session: SparkSession, rows: DataFrame, place: Path) -> DataFrame:
    """Rows written and read again: what comes after doesn't compute them anew."""
    rows.write.parquet(f"file:{place.resolve()}")
    return session.read.schema(rows.schema).parquet(spark_path(str(place)))


def _round(
    waiting: DataFrame, network: Broadcast[Network], room: SharedRoom, way: Way, queue: Path, number: int
) -> tuple[Round, SharedRoom, DataFrame]:
    session = waiting.sparkSession
    partitions = max(session.sparkContext.defaultParallelism, waiting.count() // GRAPHS_PER_PARTITION)
    there = session.sparkContext.broadcast(room)
    proposing = proposals_of(waiting.repartition(partitions, "priority"), network, there, way)
    proposals = _stored(session, proposing, queue / f"proposals-{number}")
    there.unpersist()
    takes = takes_of(proposals)
    answers = _stored(session, answers_of(takes, room.taken.shape[1]), queue / f"answers-{number}")
    verdicts = _stored(session, verdicts_of(answers), queue / f"verdicts-{number}")
    counts = proposals.agg(F.count("*"), F.count_if(F.col("parts").isNull())).first()
    assert counts is not None
    done = Round(number + 1, counts[0], verdicts.where("whole").count(), counts[1])
    kept = kept_of(takes, answers, verdicts).select("node", "amounts", F.lit(1.0).alias("sign"))
    returned = proposals.select(F.inline("returned")).select("node", "amounts", F.lit(-1.0).alias("sign"))
    rest = _stored(session, _still_waiting(proposals, verdicts), queue / f"waiting-{number + 1}")
    return done, _less(room, kept.unionByName(returned)), rest


def _still_waiting(proposals: DataFrame, verdicts: DataFrame) -> DataFrame:
    """The graphs that were refused somewhere, with what they have by now."""
    refused = verdicts.where("NOT whole").select(*GRAPH, "homeless", "newly_fixed", "contested")
    known = F.coalesce("fixed", F.create_map().cast(FIXED))
    fixed = F.when(F.col("homeless"), known).otherwise(F.map_concat(known, "newly_fixed")).alias("fixed")
    again = proposals.drop("contested").join(refused, [*GRAPH])
    return again.withColumn("fixed", fixed).select(*WAITING.fieldNames())


def _less(room: SharedRoom, takes: DataFrame) -> SharedRoom:
    """The room without what was accepted: a row for each node at most comes to the driver."""
    columns = room.taken.shape[1]
    sums = [F.sum(F.col("sign") * F.col("amounts")[n]).alias(f"sum_{n}") for n in range(columns)]
    table = takes.groupBy("node").agg(*sums).toArrow()
    taken = room.taken.copy()
    change = np.stack([table[f"sum_{number}"].to_numpy() for number in range(columns)], axis=1)
    taken[table["node"].to_numpy()] += change
    return SharedRoom(room.resources, taken, room.most)


def _placed(session: SparkSession, queue: Path, rounds: int) -> DataFrame:
    """The plans of all rounds: those that were accepted, and what is said of those without a place."""
    parts = list(_parts(session, queue, rounds))
    united = parts[0]
    for part in parts[1:]:
        united = united.unionByName(part)
    return united


def _parts(session: SparkSession, queue: Path, rounds: int) -> Iterator[DataFrame]:
    empty = session.createDataFrame([], PLACED)
    yield empty
    for number in range(rounds):
        proposals = session.read.parquet(spark_path(str(queue / f"proposals-{number}")))
        verdicts = session.read.parquet(spark_path(str(queue / f"verdicts-{number}")))
        refused = verdicts.where("NOT whole")
        final = proposals.join(refused, [*GRAPH], "left_anti")
        yield final.select("application", F.lit(number + 1).alias("round"), "row.*").select(
            *PLACED.fieldNames()
        )
