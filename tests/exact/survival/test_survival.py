"""Plans that survive losses, against enumeration of all plans and all ways to survive each loss."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berth
from berth.exact.survival import threats
from berth.files import problem_from
from tests.exact.instances import document
from tests.exact.test_goals_against_enumeration import assert_best
from tests.exact.test_minimise import QUIET
from tests.oracle.additions import addable_objectives, goal_problems
from tests.oracle.goals import best_levels


@settings(QUIET, max_examples=40)
@given(goal_problems(survive=True), st.booleans())
def test_failovers_as_a_goal(problem: dict[str, Any], then: bool) -> None:
    """The worst response time after any loss, first of all or among the cheapest plans."""
    goals = [{"failover_response_time": 1}, {"traffic": 1}]
    if problem["objective_scale"] == "raw" and "failover_response_time" in addable_objectives(problem):
        problem = {**problem, "objective": goals[::-1] if then else goals, "objective_within": [0.2, 0]}
        assert_best(problem, best_levels(problem))


def test_losses_that_come_into_the_model_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where the model learns of a loss only from a plan that doesn't survive it."""
    monkeypatch.setattr(threats, "AT_ONCE", 0)

    @settings(QUIET, max_examples=40)
    @given(goal_problems(survive=True))
    def check(problem: dict[str, Any]) -> None:
        assert_best(problem, best_levels(problem))

    check()


def three_nodes(capacity: int, **operator: Any) -> dict[str, Any]:
    """A source on the first of three nodes, and three operators behind it."""
    nodes = [{"name": f"n{k}", "capacity": {"cpu": capacity}} for k in range(3)]
    delays: list[list[float | None]] = [[0, 5, 9], [5, 0, 7], [9, 7, 0]]
    operators = [{"name": "source", "pinned": "n0", "demand": {"cpu": 1}}] + [
        {"name": name, "demand": {"cpu": 1}, **operator} for name in ("a", "b", "c")
    ]
    streams = [{"from": "source", "to": name, "bytes_per_s": 10} for name in ("a", "b", "c")]
    return document(nodes, delays, operators, streams, survive="node")


def test_room_is_kept_for_what_moves() -> None:
    """Alone, everything fits on the first node; what is left must have room for it."""
    problem = problem_from({**three_nodes(4), "objective": {"traffic": 1}})
    plan = berth.solve(problem, "odp")
    assert (plan.status, plan.objective) == ("optimal", 0.0)
    assert set(plan.failover) == {"n0"}
    tight = berth.solve(problem_from({**three_nodes(2), "objective": {"traffic": 1}}), "odp")
    assert tight.status == "optimal"
    assert tight.objective is not None
    assert tight.objective > 0
    assert not tight.violations


def test_reason_names_the_loss() -> None:
    """No plan: too little is left after the loss of one node."""
    plan = berth.solve(problem_from(three_nodes(2, candidates=["n1", "n2"])), "odp")
    assert plan.status == "infeasible"
    assert plan.reason is not None
    assert plan.reason == "loss of n1: node n2: at most cpu 2"


def test_losses_that_clash_only_together() -> None:
    """The middle stays where it is: near the way out of one loss, and far from that of the other."""
    nodes = [{"name": f"n{k}"} for k in range(6)]
    operators = [
        {"name": "left", "candidates": ["n0", "n1"]},
        {"name": "middle", "candidates": ["n2", "n3"]},
        {"name": "right", "candidates": ["n4", "n5"]},
    ]
    streams = [{"from": "left", "to": "middle"}, {"from": "middle", "to": "right"}]
    linked = ["n0 n2", "n0 n3", "n4 n2", "n4 n3", "n1 n2", "n5 n3"]
    links = [{"from": pair[:2], "to": pair[3:], "delay_ms": 1} for pair in linked]
    problem = document(nodes, [], operators, streams, network={"links": links}, survive="node")
    del problem["network"]["delay_ms"]
    plan = berth.solve(problem_from(problem), "odp")
    assert plan.status == "infeasible"
    lines = plan.trace["conflict"]
    assert {line.partition(":")[0] for line in lines} == {"loss of n0", "loss of n4"}


def test_equal_operators_that_differ_after_a_loss() -> None:
    """Two operators that could be swapped in every fast plan have different places to go to."""
    nodes = [{"name": f"n{k}", "capacity": {"cpu": 1}} for k in range(4)]
    delays: list[list[float | None]] = [[0, 1, 90, 90], [1, 0, 90, 90], [90, 90, 0, 90], [90, 90, 90, 0]]
    operators = [
        {"name": "first", "candidates": ["n0", "n1", "n2"], "demand": {"cpu": 1}, "work_ms": 1},
        {"name": "second", "candidates": ["n0", "n1", "n3"], "demand": {"cpu": 1}, "work_ms": 1},
    ]
    problem = document(nodes, delays, operators, [], survive="node", objective={"response_time": 1})
    assert_best(problem, best_levels(problem))
