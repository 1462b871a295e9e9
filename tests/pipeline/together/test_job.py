"""Graphs that share nodes: nobody gets more room than there is, and the order of tasks doesn't matter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession

from berth.files.problem_file import network_from
from berth.model import BadInput, Network
from berth.pipeline.many.problem_files import Inputs
from berth.pipeline.together import (
    Method,
    Outcome,
    Together,
    check_methods,
    place_together,
    placed_in_turn,
    read_graphs,
    run_together,
    shared_network,
    with_priority,
)

pytestmark = pytest.mark.spark

NODES = 30
Document = dict[str, Any]


def document(graphs: int, cpu: float = 2.0, **changes: Any) -> Document:
    """Nodes in a square; graphs of two sources, two operators and a sink, all of which want the middle."""
    random = np.random.default_rng(1)
    nodes = [
        {
            "name": f"n{number}",
            "coordinates": random.uniform(0, 50, 2).round(3).tolist(),
            "capacity": {"cpu": cpu},
        }
        for number in range(NODES)
    ]
    applications = []
    for number in range(graphs):
        pins = [f"n{node}" for node in random.integers(0, NODES, 3)]
        operators = [
            {"name": "left", "pinned": pins[0], "emits_bytes_per_s": 1000},
            {"name": "right", "pinned": pins[1], "emits_bytes_per_s": 1200},
            {"name": "join", "demand": {"cpu": 1}, "selectivity": 0.5},
            {"name": "sum", "demand": {"cpu": 0.5}, "selectivity": 0.9, "parallelism": 2},
            {"name": "sink", "pinned": pins[2]},
        ]
        ends = [("left", "join"), ("right", "join"), ("join", "sum"), ("sum", "sink")]
        streams = [{"from": sender, "to": receiver} for sender, receiver in ends]
        applications.append({"name": f"g{number}", "operators": operators, "streams": streams})
    whole = {
        "format": "berth/v1",
        "name": "square",
        "network": {"nodes": nodes},
        "applications": applications,
    }
    return whole | changes


def put(folder: Path, content: Document) -> Inputs:
    (folder / "problem.json").write_text(json.dumps(content))
    return Inputs(files=(str(folder / "problem.json"),))


def loads(plans: DataFrame, network: Network) -> dict[str, float]:
    """What every node has to bear."""
    demand = {"join": 1.0, "sum": 0.5}
    borne = dict.fromkeys(network.index, 0.0)
    for row in plans.where("status = 'feasible'").collect():
        for instance, node in row.assignment.items():
            borne[node] += demand.get(instance.partition("/")[2].partition("#")[0], 0.0)
    return borne


@pytest.fixture(scope="module")
def crowded(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[DataFrame, Network, Outcome]:
    """Room for 30 graphs and 25 of them: nodes refuse many, and all find a place."""
    folder = tmp_path_factory.mktemp("crowded")
    inputs = put(folder, document(25))
    network = shared_network(inputs, None)
    graphs = read_graphs(spark, inputs, 3).persist()
    return graphs, network, place_together(graphs, network, Method(), folder)


def test_all_get_a_place_and_no_node_more_than_it_has(crowded: tuple[DataFrame, Network, Outcome]) -> None:
    _, network, outcome = crowded
    assert sum(each.accepted for each in outcome.rounds) == 25
    assert len(outcome.rounds) > 1
    borne = loads(outcome.plans, network)
    assert max(borne.values()) <= 2.0 + 1e-9
    assert sum(borne.values()) == 25 * 2.0
    taken = dict(zip(network.index, outcome.room.taken[:, 0], strict=True))
    assert taken == pytest.approx(borne)


def test_the_same_plans_whatever_the_tasks(
    spark: SparkSession, crowded: tuple[DataFrame, Network, Outcome], tmp_path: Path
) -> None:
    graphs, network, outcome = crowded
    again = place_together(graphs.repartition(1), network, Method(), tmp_path)

    def plans(outcome: Outcome) -> list[Any]:
        return sorted(
            (row.application, row.round, sorted(row.assignment.items())) for row in outcome.plans.collect()
        )

    assert plans(again) == plans(outcome)


def test_little_is_lost_against_one_after_the_other(crowded: tuple[DataFrame, Network, Outcome]) -> None:
    graphs, network, outcome = crowded
    in_turn = placed_in_turn(with_priority(graphs, 0), network, Method()).collect()
    assert [row.status for row in in_turn] == ["feasible"] * 25
    together = sum(row.network_usage_bytes for row in outcome.plans.collect())
    assert together == pytest.approx(sum(row.network_usage_bytes for row in in_turn), rel=0.3)


def test_too_many_and_wrong_ones_cost_their_own_rows(spark: SparkSession, tmp_path: Path) -> None:
    """Room for 30: of 40 graphs some are left over, with the reason; a wrong one is an error."""
    content = document(40)
    content["applications"][0]["operators"][0]["pinned"] = "nowhere"
    job = Together(
        put(tmp_path, content),
        network_from(document(1)),
        [Method("sbon", 1)],
        tmp_path / "out",
        in_turn=True,
    )
    summaries = run_together(spark, job, lambda text: None)
    plans = spark.read.parquet(f"file:{tmp_path / 'out' / 'plans'}")
    assert plans.count() == 40
    for summary in summaries:
        mine = plans.where(f"policy = '{summary['policy']}'")
        assert summary["graphs"] == 40
        assert 20 <= summary["placed"] == mine.where("status = 'feasible'").count() <= 30
        assert summary["placed"] + summary["without_place"] == 40
        assert max(loads(mine, job.network).values()) <= 2.0 + 1e-9
        (error,) = [row.error for row in mine.where("error IS NOT NULL").collect()]
        assert error.startswith("applications[0].operators[0].pinned: no node named 'nowhere'")
        reasons = {row.reason for row in mine.where("status = 'unknown'").collect()}
        assert all("no node that may host it has room" in reason for reason in reasons)
        assert summary["placed_in_turn"] > 20
    with pytest.raises(BadInput, match="there are plans already"):
        run_together(spark, job, lambda text: None)


def test_whose_nodes_has_to_be_clear() -> None:
    with pytest.raises(BadInput, match="say whose with --network"):
        shared_network(Inputs(files=("a.json", "b.json")), None)


def test_policies_that_heed_others() -> None:
    check_methods([Method("sbon")])
    with pytest.raises(BadInput, match="--policy odp: --together works only with mopa or sbon"):
        check_methods([Method("odp")])
