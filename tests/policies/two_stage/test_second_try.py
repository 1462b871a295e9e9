"""Where servers are too full for the containers of a first stage, fuller ones are tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import berth
from berth.files import problem_from
from berth.policies.two_stage.both_stages import _worth_it
from tests.policies.two_stage.cases import case, packed, solve, tiny_cases


def small_ones_first() -> dict[str, Any]:
    """In this order worst fit takes three containers; two are enough, and there is room for two."""
    return case({"w": 1, "x": 1, "y": 3, "z": 3}, {"wx": 9, "yz": 9}, (3, 4), (4, 4))


def test_fewer_containers_where_there_is_no_room_for_more() -> None:
    problem = problem_from(small_ones_first())
    plan = solve(problem, "ffd")
    assert plan.status == "feasible"
    assert berth.evaluate(problem, plan).violations == ()
    assert len(set(plan.containers.values())) == 2
    told = plan.trace["applications"]["a"]
    assert told["first"] == {"first_stage": "ffd", "variant": "heron"}
    assert [entry["containers"] for entry in told["stuck_before"]] == [3]
    assert "no server that may host it has room" in told["stuck_before"][0]["stuck"]


def test_nothing_is_said_where_the_first_try_does_it() -> None:
    plan = solve(problem_from(case({"x": 1, "y": 1}, {"xy": 9})), "r-heron")
    assert plan.status == "feasible"
    assert "applications" not in plan.trace


def test_mips_counts_containers_only_in_its_second_try() -> None:
    """With alpha 1 containers are free, and ties leave some of them open."""
    problem = problem_from(case(dict.fromkeys("uvwxyz", 1), {}, (6, 6), (6,)))
    plan = solve(problem, "mips", alpha=1.0, samples=5)
    assert plan.status == "feasible"
    assert berth.evaluate(problem, plan).violations == ()
    assert len(set(plan.containers.values())) == 1


def test_as_printed_is_not_repaired() -> None:
    plan = solve(problem_from(small_ones_first()), "ffd", mode="paper")
    assert plan.status == "unknown"
    assert "second stage" in str(plan.reason)


def test_the_first_reason_is_kept_where_nothing_helps() -> None:
    raw = case({"x": 3, "y": 3}, {"xy": 9}, (2, 4), (4,))
    plan = solve(problem_from(raw), "r-heron")
    assert plan.reason == (
        "second stage, best-fit: stuck at container a/c1: no server that may host it has room for cpu 4"
    )


@pytest.mark.parametrize(
    ("packing", "worth"),
    [([0, 0, 0], True), ([1, 0, 0], False), ([0, 1, 1], False), ([0, 1, 0], True), ([0, 1, 2], False)],
)
def test_only_packings_that_can_help(packing: list[int], worth: bool) -> None:
    """Before: the first instance alone."""
    assert _worth_it(np.array(packing), [np.array([0, 1, 1])]) is worth


@settings(max_examples=30, deadline=None)
@given(tiny_cases())
def test_what_is_found_again_breaks_nothing_more(raw: dict[str, Any]) -> None:
    """Containers and capacities hold, however a plan was found."""
    problem = problem_from(raw)
    plan = solve(problem, "r-heron")
    for line in berth.evaluate(problem, plan).violations if plan.found else ():
        assert not line.startswith(("container", "instance", "node")), line


@pytest.mark.parametrize(
    ("policy", "second_stage"), [("mips", "mips"), ("ffd", "best-fit"), ("two-stage-exact", "exact")]
)
def test_pinned_instances_share_the_only_container_that_their_server_has_room_for(
    policy: str, second_stage: str
) -> None:
    """s1 takes one container of 4: the two y must share it, though any two instances fit as well."""
    operators = {"x": {"demand": {"cpu": 2}}, "y": {"demand": {"cpu": 2}, "parallelism": 2, "pinned": "s1"}}
    problem = problem_from(case(operators, {}, (3, 4.0), (8.0, 6.0)))
    plan = solve(problem, policy, second_stage=second_stage)
    assert plan.violations == ()
    assert sorted(packed(plan)) == ["x", "y#0 y#1"]
