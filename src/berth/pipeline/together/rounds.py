"""Rounds of proposals and answers, until every graph has a place or there is none for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Network
from berth.pipeline.many.plan_table import QUEUE
from berth.pipeline.storage import Batches, Row, Scratch, record_batches, rows_in
from berth.pipeline.together.graphs import CONTESTED, FIXED, PLACED, PROPOSALS, WAITING
from berth.pipeline.together.solving import Method, Part, SharedRoom, propose

FLUSH_ROWS = 100
"""Rows that a task hands over at once."""


def proposals_of(
    waiting: DataFrame, network: Broadcast[Network], room: Broadcast[SharedRoom], method: Method
) -> DataFrame:
    """What each of the graphs that wait would take; the columns of `PROPOSALS`."""

    def answered(row: Row) -> Row:
        proposal = propose(row, network.value, room.value, method)
        parts = None if proposal.parts is None else _rows(proposal.parts, network.value, room.value)
        returned = _rows(proposal.returned, network.value, room.value)
        return row | {"row": proposal.row, "parts": parts, "returned": returned}

    def proposing(batches: Batches) -> Iterator[pa.RecordBatch]:
        return record_batches(map(answered, rows_in(batches)), PROPOSALS, FLUSH_ROWS)

    return waiting.select(*WAITING.fieldNames()).mapInArrow(proposing, PROPOSALS)


def _rows(parts: list[Part], network: Network, room: SharedRoom) -> list[Row]:
    left = room.left(network, np.array([part.node for part in parts], dtype=np.intp))
    return [
        {**vars(part), "amounts": part.amounts.tolist(), "room": there}
        for part, there in zip(parts, left.tolist(), strict=True)
    ]


ROUNDING = 1e-9
"""Amounts are compared with this relative tolerance, as the judge does."""
GRAPH = ("source", "application")


def takes_of(proposals: DataFrame) -> DataFrame:
    """A row for each operator and node of a proposal: what it takes there, and what is left there."""
    return proposals.where(F.col("parts").isNotNull()).select(*GRAPH, "priority", F.inline("parts"))


def answers_of(takes: DataFrame, columns: int) -> DataFrame:
    """For each operator of each graph whether all its nodes accept it.

    What has no choice comes first: others must not take its room. Then the graphs' priority decides.
    """
    order = Window.partitionBy("node").orderBy("chosen", "priority", *GRAPH, "operator")
    before = order.rowsBetween(Window.unboundedPreceding, -1)
    ahead = [F.coalesce(F.sum(F.col("amounts")[n]).over(before), F.lit(0.0)) for n in range(columns)]
    counted = takes.select("*", *(column.alias(f"ahead_{n}") for n, column in enumerate(ahead)))
    fits = F.forall(F.array(*(_fits(n) for n in range(columns))), lambda each: each)
    rooms = F.greatest(F.lit(0.0), *(_rooms_ahead(n) for n in range(columns)))
    judged = counted.select("*", fits.alias("fits"), F.ceil(rooms).alias("ahead"))
    refusal = F.when(~F.col("fits"), F.struct("node", "ahead"))
    return judged.groupBy(*GRAPH, "operator").agg(
        F.bool_and("fits").alias("accepted"),
        F.bool_and("chosen").alias("chosen"),
        F.bool_and("single").alias("single"),
        F.first("node").alias("node"),
        F.collect_list(refusal).alias("contested"),
    )


def verdicts_of(answers: DataFrame) -> DataFrame:
    """For each graph: whether it is `whole`, `homeless`, what is `fixed` now and what is `contested`.

    An operator that is accepted stays where it is, whatever becomes of the others; but not in a graph with
    something that has no choice and no room, and instances on several nodes only with all the rest.
    """
    whole = F.bool_and("accepted").alias("whole")
    homeless = F.bool_or(~F.col("chosen") & ~F.col("accepted")).alias("homeless")
    fixed = F.collect_list(F.when(F.col("accepted") & F.col("single"), F.struct("operator", "node")))
    contested = F.sort_array(F.flatten(F.collect_list("contested"))).alias("contested")
    return answers.groupBy(*GRAPH).agg(
        whole, homeless, F.map_from_entries(F.sort_array(fixed)).alias("newly_fixed"), contested
    )


def kept_of(takes: DataFrame, answers: DataFrame, verdicts: DataFrame) -> DataFrame:
    """The takes that hold from now on."""
    graphs = verdicts.where("NOT homeless").select(*GRAPH, "whole")
    stays = F.col("accepted") & (F.col("single") | F.col("whole"))
    operators = answers.join(graphs, [*GRAPH]).where(stays).select(*GRAPH, "operator")
    return takes.join(operators, [*GRAPH, "operator"], "left_semi")


def _fits(number: int) -> Column:
    needed = F.col(f"ahead_{number}") + F.col("amounts")[number]
    return (F.col("amounts")[number] == 0.0) | (needed <= F.col("room")[number] * (1.0 + ROUNDING))


def _rooms_ahead(number: int) -> Column:
    """How often what is left of the node is wanted by those before, where this operator needs any of it."""
    room = F.col("room")[number]
    wanted = F.col(f"ahead_{number}") / room
    return F.when((F.col("amounts")[number] > 0.0) & (room > 0.0), wanted).otherwise(0.0)


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
    method: Method,
    folder: Path,
    report: Callable[[Round], None] = lambda done: None,
) -> Outcome:
    """Place graphs on nodes that they share.

    Args:
        graphs: the columns of `GRAPHS`.
        network: the nodes.
        method: by which policy, with which seed; it also draws the order in which nodes prefer graphs.
        folder: its part `.queue` is written to, and belongs to whoever calls.
        report: hears of every round.
    """
    session = graphs.sparkSession
    queue = Scratch(folder / QUEUE / f"{method.policy}-{method.seed}")
    shutil.rmtree(queue.folder, ignore_errors=True)
    room = SharedRoom.of(network, method.most)
    shared = session.sparkContext.broadcast(network)
    waiting = queue.keep("waiting-0", with_priority(graphs, method.seed))
    left = waiting.count()
    rounds: list[Round] = []
    try:
        while left:
            done, room, waiting = _round(waiting, shared, room, method, queue, len(rounds))
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


def _round(
    waiting: DataFrame,
    network: Broadcast[Network],
    room: SharedRoom,
    method: Method,
    queue: Scratch,
    number: int,
) -> tuple[Round, SharedRoom, DataFrame]:
    session = waiting.sparkSession
    partitions = max(session.sparkContext.defaultParallelism, waiting.count() // GRAPHS_PER_PARTITION)
    there = session.sparkContext.broadcast(room)
    proposing = proposals_of(waiting.repartition(partitions, "priority"), network, there, method)
    proposals = queue.keep(f"proposals-{number}", proposing)
    there.unpersist()
    takes = takes_of(proposals)
    answers = queue.keep(f"answers-{number}", answers_of(takes, room.taken.shape[1]))
    verdicts = queue.keep(f"verdicts-{number}", verdicts_of(answers))
    counts = proposals.agg(F.count("*"), F.count_if(F.col("parts").isNull())).first()
    assert counts is not None
    done = Round(number + 1, counts[0], verdicts.where("whole").count(), counts[1])
    kept = kept_of(takes, answers, verdicts).select("node", "amounts", F.lit(1.0).alias("sign"))
    returned = proposals.select(F.inline("returned")).select("node", "amounts", F.lit(-1.0).alias("sign"))
    rest = queue.keep(f"waiting-{number + 1}", _still_waiting(proposals, verdicts))
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


def _placed(session: SparkSession, queue: Scratch, rounds: int) -> DataFrame:
    """The plans of all rounds: those that were accepted, and what is said of those without a place."""
    placed = session.createDataFrame([], PLACED)
    for number in range(rounds):
        refused = queue.read(session, f"verdicts-{number}").where("NOT whole")
        final = queue.read(session, f"proposals-{number}").join(refused, [*GRAPH], "left_anti")
        rows = final.select("application", F.lit(number + 1).alias("round"), "row.*")
        placed = placed.unionByName(rows.select(*PLACED.fieldNames()))
    return placed
