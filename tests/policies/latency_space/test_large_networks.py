"""Policies on networks that have no matrices: the same plans, or a clear reason."""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import berth
from berth.files import problem_from
from berth.model import Problem
from berth.model.pair_fields import PairField, whole
from berth.policies.policy import About, Answer, NoParameters, Task

MANY = 20_000


def document_of(size: int, objective: dict[str, float]) -> dict[str, Any]:
    """Three sources, a tree of operators and a sink, on nodes with coordinates and a few slow links."""
    places = np.random.default_rng(size).normal(0.0, 30.0, (size, 3)).round(3).tolist()
    demand = {"demand": {"cpu": 1}, "work_ms": 2.0}
    sources = [{"name": f"s{k}", "pinned": f"n{k}", "emits_bytes_per_s": 100.0 * (k + 1)} for k in range(3)]
    operators = [{"name": name, "selectivity": 0.5, **demand} for name in ("a", "b", "c")]
    streams = [("s0", "a"), ("s1", "a"), ("s2", "b"), ("a", "c"), ("b", "c"), ("c", "sink")]
    return {
        "format": "berth/v1",
        "name": "large",
        "network": {
            "nodes": [
                {"name": f"n{k}", "capacity": {"cpu": 1}, "coordinates": place}
                for k, place in enumerate(places)
            ],
            "links": [
                {"from": "n0", "to": "n3", "delay_ms": 500, "bandwidth_bytes_per_s": 10},
                {"from": "n4", "to": "n2", "delay_ms": 0.5, "availability": 0.9},
            ],
        },
        "applications": [
            {
                "name": "app",
                "operators": [*sources, *operators, {"name": "sink", "pinned": "n3"}],
                "streams": [{"from": sender, "to": receiver} for sender, receiver in streams],
            }
        ],
        "objective": objective,
    }


@pytest.fixture(scope="module")
def large() -> Problem:
    return problem_from(document_of(MANY, {"network_usage": 1.0}))


OBJECTIVES: list[dict[str, float]] = [
    {"network_usage": 1},
    {"response_time": 1},
    {"bandwidth_max": 1},
    {"response_time": 0.6, "communication_cost": 0.4},
    {"loaded_response_time": 0.5, "availability": 0.5},
]


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_odp_finds_the_same_without_matrices(objective: dict[str, float]) -> None:
    document = document_of(7, objective)
    expected = berth.solve(problem_from(document), "odp", ties="any")
    with patch("berth.model.network.MOST_IN_MATRICES", 0):
        problem = problem_from(document)
    assert isinstance(problem.network.table.delay_ms, PairField)
    found = berth.solve(problem, "odp", ties="any")
    assert (found.status, found.assignment) == (expected.status, expected.assignment)
    assert found.status == "optimal"
    assert found.metrics == expected.metrics


@pytest.mark.parametrize("policy", ["odp", "round-robin"])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_many_nodes_get_a_plan(large: Problem, policy: str, objective: dict[str, float]) -> None:
    problem = Problem("large", large.network, large.applications, objective=objective)
    plan = berth.solve(problem, policy, time_limit=20)
    assert plan.status in ("feasible", "optimal")
    assert not plan.violations
    assert plan.objective is not None
    assert plan.bound is None or plan.bound <= plan.objective


class WantsMatrices:
    about = About("wants-matrices", "none", "nothing", "nothing")
    parameters = NoParameters

    def solve(self, task: Task) -> Answer:
        return Answer("feasible", whole(task.problem.network.table.delay_ms).argmin(axis=0))


def test_a_policy_for_small_networks_says_so(large: Problem) -> None:
    plan = berth.solve(large, WantsMatrices())
    assert plan.status == "unknown"
    assert not plan.found
    assert plan.reason is not None
    assert plan.reason.startswith("wants-matrices can't place on so many nodes: ")
    assert "20,000 nodes" in plan.reason
    assert plan.reason.endswith("try --policy mopa")


def test_round_robin_goes_far_to_find_room() -> None:
    document = document_of(5_000, {"response_time": 1.0})
    for node in document["network"]["nodes"][:2_500]:
        node["capacity"] = {"cpu": 0.5}
    plan = berth.solve(problem_from(document), "round-robin")
    assert [plan.assignment[f"app/{name}"] for name in "abc"] == ["n2500", "n2501", "n2502"]


def test_odp_says_why_it_has_no_plan() -> None:
    """Links only to nodes that have no room: the greedy pass is stuck, and time is not the reason."""
    document = document_of(5_000, {"response_time": 1.0})
    for node in document["network"]["nodes"]:
        del node["coordinates"]
    plan = berth.solve(problem_from(document), "odp")
    assert plan.status == "unknown"
    assert plan.reason == (
        "no plan found: too large for an exact model, and a greedy plan violates some constraints"
    )


def test_what_nobody_has_is_named() -> None:
    """That no plan exists is proved, and why, however many nodes there are."""
    document = document_of(MANY, {"response_time": 1.0})
    document["applications"][0]["operators"][3]["demand"] = {"cpu": 2}
    plan = berth.solve(problem_from(document), "odp")
    assert plan.status == "infeasible"
    assert plan.reason == "operator 'a' needs cpu 2; the most is 1 on n0"
