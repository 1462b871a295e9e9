"""Limits of places through every policy: capacities, processors, `apart`, `spread`, and what is occupied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berth
from berth.evaluation import Occupied, Setting, Situation
from berth.evaluation.limits import exceeded
from berth.files import problem_from
from berth.model import BadInput, Problem
from berth.policies.registry import policy_names
from tests.evaluation.test_against_oracle import some
from tests.oracle.problems import problems

WITH_CONTAINERS = {"mips", "ffd", "r-heron", "t-heron", "two-stage-exact"}
"""Policies that fill containers: they place those, not instances."""
NO_CAPACITIES = {"s-odp"}
GREEDY = {"bottom-up-bfs", "bottom-up-dfs", "random", "random-no-reuse", "top-down-bfs", "top-down-dfs"}
"""The heuristics of paper 004 never look back: they may be stuck, but must not break anything."""
POLICIES = sorted(set(policy_names()) - NO_CAPACITIES - WITH_CONTAINERS)


COUNTERS = ["one", "two", "three", "four"]


def pipeline(rule: dict[str, Any] | None = None, **node: Any) -> Problem:
    """A source and four counters on six nodes in three zones; all of them want to be on one node."""
    zones = ["a", "a", "b", "b", "c", "c"]
    nodes = [
        {
            "name": f"n{number}",
            "coordinates": [float(number), 0.0],
            "labels": {"zone": zone},
            "capacity": {"cpu": 8},
            "nic_bytes_per_s": 1e9,
            **node,
        }
        for number, zone in enumerate(zones)
    ]
    operators = [
        {"name": "source", "pinned": "n0", "output_bytes": 10},
        *(
            {"name": name, "demand": {"cpu": 1}, "work_ms": 25, "output_bytes": 10 + number}
            for number, name in enumerate(COUNTERS)
        ),
    ]
    application = {
        "name": "app",
        "throughput_per_s": 4,
        "operators": operators,
        "streams": [{"from": "source", "to": name} for name in COUNTERS],
        "rules": [rule] if rule else [],
    }
    return problem_from(
        {
            "format": "berth/v1",
            "name": "places",
            "network": {"nodes": nodes},
            "applications": [application],
            "objective": {"network_usage": 1},
        }
    )


def solved(problem: Problem, policy: str, occupied: Occupied | None = None) -> berth.Plan:
    parameters = {"search": {"steps": 20_000}, "latency-bound": {"bound_ms": 1000.0}}.get(policy, {})
    return berth.solve(problem, policy, time_limit=20, occupied=occupied, **parameters)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "rule",
    [
        {"spread": COUNTERS, "most": 2},
        {"spread": COUNTERS, "by": "zone", "most": 2},
        {"apart": COUNTERS},
    ],
)
def test_every_policy_keeps_rules(policy: str, rule: dict[str, Any]) -> None:
    """All of them find a plan, and none breaks the rule."""
    plan = solved(pipeline(rule), policy)
    assert plan.violations == (), plan.reason
    assert plan.status in ("optimal", "feasible") or policy in GREEDY, plan.reason


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("cpu", "busy"),
    [([8, 8, 7, 6, 8, 7], [0.0] * 6), ([0.0] * 6, [1.0, 0.95, 0.9, 0.8, 1.0, 0.9])],
)
def test_every_policy_leaves_alone_what_is_occupied(policy: str, cpu: list[float], busy: list[float]) -> None:
    """Two thirds of the nodes are taken; what is left has room for exactly the four counters."""
    occupied = Occupied({"cpu": np.array(cpu, dtype=float)}, np.array(busy), np.zeros(6))
    plan = solved(pipeline(), policy, occupied)
    assert plan.violations == (), plan.reason
    if policy in GREEDY and not plan.assignment:
        return
    assert plan.status in ("optimal", "feasible"), plan.reason
    free = {"n2", "n3", "n5"}
    assert {node for name, node in plan.assignment.items() if "source" not in name} == free


def test_spread_is_named_when_it_clashes() -> None:
    """Four instances, and at most one in each of three zones."""
    plan = solved(pipeline({"spread": COUNTERS, "by": "zone", "most": 1}), "odp")
    assert plan.status == "infeasible"
    assert (
        plan.reason
        == "application 'app': at most 1 of one, two, three, four per zone: 4 instances, but only 3 places"
    )


def test_spread_is_explained_when_it_binds() -> None:
    """The zone that is full is a limit like any other, and it says why better nodes are out of reach."""
    problem = pipeline({"spread": COUNTERS, "by": "zone", "most": 2})
    plan = solved(problem, "odp")
    assert plan.status == "optimal"
    explanation = berth.explain(problem, plan)
    rules = [use for use in explanation.limits if use.kind == "rule"]
    assert [(use.name, use.needed, use.limit) for use in rules] == [
        ("app: one, two, three, four at most 2 on one zone", 2.0, 2.0)
    ]
    forbidden = [line for item in explanation.operators for other in item.forbidden for line in other.breaks]
    wish, clash = (
        "one, two, three, four must be at most 2 on one zone",
        "3 instances are on nodes with zone a",
    )
    assert f"application app: {wish}, but {clash}" in forbidden


@pytest.mark.parametrize("policy", POLICIES)
@settings(some, max_examples=15)
@given(document=problems(), occupied=st.booleans(), seed=st.integers(0, 99))
def test_random_problems(policy: str, document: dict[str, Any], occupied: bool, seed: int) -> None:
    """Where there is a plan at all, whatever a policy returns exceeds no limit of a place."""
    for application in document["applications"]:
        application.pop("containers", None)
    document.pop("objective", None)
    document.pop("objective_bounds", None)
    problem = problem_from(document)
    taken = occupation(problem, seed) if occupied else None
    try:
        plan = solved(problem, policy, taken)
    except BadInput:
        return  # a rate that this policy needs is unknown
    uses = exceeded(Situation(Setting(problem, None, taken), plan)) if plan.assignment else []
    if not {use.kind for use in uses}.isdisjoint({"capacity", "processor", "rule"}):
        # what is pinned stays where it is pinned, room or not
        assert solved(problem, "odp", taken).status in ("infeasible", "unknown"), plan.violations


def occupation(problem: Problem, seed: int) -> Occupied:
    """A random part of every node is taken."""
    generator, count = np.random.default_rng(seed), len(problem.network.nodes)
    amounts = {
        name: problem.network.capacity(name) * generator.choice([0.0, 0.5, 1.0], count)
        for name in problem.instances.resources
    }
    return Occupied(amounts, generator.choice([0.0, 0.5, 1.0], count), np.zeros(count))
