"""Limits of places through both stages: `apart`, `spread`, processors, and what is occupied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import berth
from berth.evaluation import Occupied
from berth.files import problem_from
from berth.model import Problem
from tests.policies.two_stage.cases import case

FIRST = ("ffd", "r-heron", "t-heron", "mips", "two-stage-exact")
SECOND = ("best-fit", "mips", "exact")
RULES = [
    {"apart": ["w", "x", "y", "z"]},
    {"spread": ["w", "x", "y", "z"], "most": 2},
    {"spread": ["w", "x", "y", "z"], "by": "zone", "most": 2},
    {"apart": ["w", "x"], "by": "zone"},
]


def cluster(rule: dict[str, Any] | None = None, **application: Any) -> Problem:
    """Four operators that fit into one container and exchange much, on six servers in three zones."""
    operators = {name: {"demand": {"cpu": 1}, "work_ms": 25} for name in "wxyz"}
    raw = case(operators, {"wx": 10.0, "xy": 10.0, "yz": 10.0}, (4, 4), [8] * 6)
    for number, node in enumerate(raw["network"]["nodes"]):
        node["labels"] = {"zone": "aabbcc"[number]}
    raw["applications"][0] |= {"rules": [rule] if rule else [], **application}
    return problem_from(raw)


def solved(problem: Problem, first: str, second: str, occupied: Occupied | None = None) -> berth.Plan:
    return berth.solve(problem, first, second_stage=second, occupied=occupied, time_limit=20)


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_without_a_rule_one_container_is_enough(first: str, second: str) -> None:
    """So the rules below are what keeps operators from each other."""
    plan = solved(cluster(), first, second)
    assert len(set(plan.assignment.values())) == 1


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_rules_hold(first: str, second: str, rule: dict[str, Any]) -> None:
    plan = solved(cluster(rule), first, second)
    assert plan.assignment
    assert plan.violations == ()


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_processors_keep_up(first: str, second: str) -> None:
    """Each keeps a processor busy for half of the time: two on a server, whatever containers take."""
    plan = solved(cluster(throughput_per_s=20), first, second)
    assert plan.assignment
    assert plan.violations == ()
    assert len(set(plan.assignment.values())) >= 2


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_what_others_have_taken_is_gone(first: str, second: str) -> None:
    problem = cluster({"spread": ["w", "x", "y", "z"], "most": 2})
    taken = Occupied({"cpu": np.array([8.0, 8.0, 8.0, 5.0, 0.0, 0.0])}, np.zeros(6), np.zeros(6))
    plan = solved(problem, first, second, taken)
    assert plan.assignment
    assert set(plan.assignment.values()) <= {"s4", "s5"}
    assert len(set(plan.assignment.values())) == 2
