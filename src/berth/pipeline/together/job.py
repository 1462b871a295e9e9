"""From problems to a table of plans, for every method to place them; and one after the other, to compare."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import BadInput, Network
from berth.pipeline.many.plan_table import PLANS_FOLDER, QUEUE
from berth.pipeline.many.problem_files import Inputs
from berth.pipeline.storage import Batches, Row, Scratch, record_batches, rows_in
from berth.pipeline.together.graphs import PLACED, WAITING, read_graphs
from berth.pipeline.together.rounds import FLUSH_ROWS, Outcome, Round, place_together, with_priority
from berth.pipeline.together.solving import POLICIES, Method, SharedRoom, propose
from berth.spark.paths import written_path

Report = Callable[[str], None]


@dataclass(frozen=True)
class Together:
    """What to place, on which nodes, how, and where the plans go."""

    inputs: Inputs
    network: Network
    methods: Sequence[Method]
    folder: Path
    in_turn: bool = False
    """Whether to place them one after the other, too, and compare."""


def check_methods(methods: Sequence[Method]) -> None:
    """Refuse policies that graphs are not placed together by.

    Raises:
        BadInput: a line for each.
    """
    wrong = dict.fromkeys(method.policy for method in methods if method.policy not in POLICIES)
    if wrong:
        raise BadInput(
            f"--policy {name}: --together works only with {' or '.join(POLICIES)}" for name in wrong
        )


def run_together(session: SparkSession, job: Together, report: Report) -> list[dict[str, Any]]:
    """Place all graphs by every method; the table is there when all are done. Returns a summary of each.

    Raises:
        BadInput: there are plans in the folder already.
    """
    plans = job.folder.resolve() / PLANS_FOLDER
    if next(plans.glob("*.parquet"), None) is not None:
        raise BadInput([f"{plans}: there are plans already; take another folder"])
    queue = Scratch(job.folder.resolve() / QUEUE)
    partitions = 2 * session.sparkContext.defaultParallelism
    graphs = queue.keep("graphs", read_graphs(session, job.inputs, partitions))
    summaries = []
    for method in job.methods:
        outcome = place_together(graphs, job.network, method, job.folder, _progress(method, report))
        outcome.plans.write.mode("append").parquet(written_path(queue.folder / "done"))
        summaries.append(_summary(method, outcome, queue.read(session, "done")))
        if job.in_turn:
            report(f"{method.policy}: one after the other")
            summaries[-1] |= _compared(summaries[-1], graphs, job.network, method)
    shutil.rmtree(plans, ignore_errors=True)
    (queue.folder / "done").rename(plans)
    return summaries


def _progress(method: Method, report: Report) -> Callable[[Round], None]:
    def progress(done: Round) -> None:
        left = done.proposed - done.accepted - done.stuck
        report(f"{method.policy}: round {done.number}, {done.accepted:,} placed, {left:,} try again")

    return progress


def _summary(method: Method, outcome: Outcome, plans: DataFrame) -> dict[str, Any]:
    mine = plans.where((F.col("policy") == method.policy) & (F.col("seed") == method.seed))
    usage = mine.where("status = 'feasible'").agg(F.sum("network_usage_bytes")).first()
    return {
        "policy": method.policy,
        "seed": method.seed,
        "graphs": outcome.rounds[0].proposed if outcome.rounds else 0,
        "placed": sum(each.accepted for each in outcome.rounds),
        "without_place": sum(each.stuck for each in outcome.rounds),
        "rounds": len(outcome.rounds),
        "accepted_by_round": [each.accepted for each in outcome.rounds],
        "network_usage_bytes": (usage[0] if usage else None) or 0.0,
    }


def _compared(summary: dict[str, Any], graphs: DataFrame, network: Network, method: Method) -> dict[str, Any]:
    """How many get a place one after the other, and the network usage of these against that of the rounds."""
    placed = placed_in_turn(with_priority(graphs, method.seed), network, method).where("status = 'feasible'")
    found = placed.agg(F.count("*").alias("plans"), F.sum("network_usage_bytes").alias("usage")).first()
    assert found is not None
    usage = found.usage or 0.0
    return {
        "placed_in_turn": found.plans,
        "network_usage_bytes_in_turn": usage,
        "network_usage_against_in_turn": summary["network_usage_bytes"] / usage if usage else None,
    }


def placed_in_turn(waiting: DataFrame, network: Network, method: Method) -> DataFrame:
    """The same graphs one after the other, in the order of their priority: what rounds are compared with.

    The columns of `PLACED`; all in one task, for each graph takes what those before have left.
    """
    shared = waiting.sparkSession.sparkContext.broadcast(network)

    def placing(batches: Batches) -> Iterator[pa.RecordBatch]:
        room = SharedRoom.of(shared.value, method.most)

        def placed(row: Row) -> Row:
            proposal = propose(row, shared.value, room, method)
            room.take(proposal.parts or [])
            return proposal.row | {"application": row["application"], "round": None}

        return record_batches(map(placed, rows_in(batches)), PLACED, FLUSH_ROWS)

    order = waiting.select(*WAITING.fieldNames()).repartition(1)
    return order.sortWithinPartitions("priority", "source", "application").mapInArrow(placing, PLACED)
