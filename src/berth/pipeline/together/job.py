"""From problems to a table of plans, for every way to place them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import BadInput, Network
from berth.pipeline.many.lock import PLANS_FOLDER, QUEUE
from berth.pipeline.many.problems import Inputs
from berth.pipeline.together.graphs import read_graphs
from berth.pipeline.together.in_turn import usage_in_turn
from berth.pipeline.together.rounds import Outcome, Round, place_together, with_priority
from berth.pipeline.together.solving import POLICIES, Way

Report = Callable[[str], None]


@dataclass(frozen=True)
class Together:
    """What to place, on which nodes, how, and where the plans go."""

    inputs: Inputs
    network: Network
    ways: Sequence[Way]
    folder: Path
    in_turn: bool = False
    """Whether to place them one after the other, too, and compare."""


def check_ways(ways: Sequence[Way]) -> None:
    """Refuse policies that don't heed what others have taken.

    Raises:
        BadInput: a line for each.
    """
    wrong = dict.fromkeys(way.policy for way in ways if way.policy not in POLICIES)
    if wrong:
        raise BadInput(
            f"--policy {name}: --together needs a policy that heeds others: {' or '.join(POLICIES)}"
            for name in wrong
        )


def run_together(session: SparkSession, job: Together, report: Report) -> list[dict[str, Any]]:
    """Place all graphs in every way; the table is there when all are done. Returns a summary for each way.

    Raises:
        BadInput: there are plans in the folder already.
    """
    plans = job.folder.resolve() / PLANS_FOLDER
    if next(plans.glob("*.parquet"), None) is not None:
        raise BadInput([f"{plans}: there are plans already; take another folder"])
    queue = job.folder.resolve() / QUEUE
    partitions = 2 * session.sparkContext.defaultParallelism
    graphs = read_graphs(session, job.inputs, partitions)
    graphs.write.parquet(f"file:{queue / 'graphs'}")
    graphs = session.read.schema(graphs.schema).parquet(f"file:{queue / 'graphs'}")
    summaries = []
    for way in job.ways:
        outcome = place_together(graphs, job.network, way, job.folder, _told(way, report))
        outcome.plans.write.mode("append").parquet(f"file:{queue / 'done'}")
        summaries.append(_summary(way, outcome, session.read.parquet(f"file:{queue / 'done'}")))
        if job.in_turn:
            report(f"{way.policy}: one after the other")
            summaries[-1] |= _compared(summaries[-1], graphs, job.network, way)
    shutil.rmtree(plans, ignore_errors=True)
    (queue / "done").rename(plans)
    return summaries


def _told(way: Way, report: Report) -> Callable[[Round], None]:
    def told(done: Round) -> None:
        left = done.proposed - done.accepted - done.stuck
        report(f"{way.policy}: round {done.number}, {done.accepted:,} placed, {left:,} try again")

    return told


def _summary(way: Way, outcome: Outcome, plans: DataFrame) -> dict[str, Any]:
    mine = plans.where((F.col("policy") == way.policy) & (F.col("seed") == way.seed))
    usage = mine.where("status = 'feasible'").agg(F.sum("network_usage_bytes")).first()
    return {
        "policy": way.policy,
        "seed": way.seed,
        "graphs": outcome.rounds[0].proposed if outcome.rounds else 0,
        "placed": sum(each.accepted for each in outcome.rounds),
        "without_place": sum(each.stuck for each in outcome.rounds),
        "rounds": len(outcome.rounds),
        "accepted_by_round": [each.accepted for each in outcome.rounds],
        "network_usage_bytes": (usage[0] if usage else None) or 0.0,
    }


def _compared(summary: dict[str, Any], graphs: DataFrame, network: Network, way: Way) -> dict[str, Any]:
    placed, usage = usage_in_turn(with_priority(graphs, way.seed), network, way)
    ratio = summary["network_usage_bytes"] / usage if usage else None
    return {
        "placed_in_turn": placed,
        "network_usage_bytes_in_turn": usage,
        "network_usage_against_in_turn": ratio,
    }
