"""Any first stage with any second one."""

from itertools import product
from typing import Any

import pytest

from berth.files import plan_document, problem_from
from berth.policies.two_stage.stages import FIRST_STAGES, SECOND_STAGES
from tests.oracle import reference
from tests.policies.two_stage.cases import cluster, solve

COMBINATIONS = [*product(FIRST_STAGES, SECOND_STAGES)]


def two_applications() -> dict[str, Any]:
    """A chain and a diamond with processors, memory and slots; one operator is bound to two servers."""
    demand = {"cpu": 2, "memory": 3, "slots": 1}
    operators = [{"name": name, "parallelism": 2, "demand": demand} for name in "xyz"]
    operators[2]["candidates"] = ["s1", "s2"]
    chain = [
        {"from": "x", "to": "y", "bytes_per_s": 9},
        {"from": "y", "to": "z", "bytes_per_s": 4},
    ]
    diamond = [*chain, {"from": "x", "to": "z", "bytes_per_s": 1.5}]
    containers = {"count": 6, "capacity": {"cpu": 4, "memory": 8, "slots": 3}}
    applications = [
        {"name": name, "operators": operators, "streams": streams, "containers": containers}
        for name, streams in (("a", chain), ("b", diamond))
    ]
    return cluster(applications, [{"cpu": 12, "memory": 24, "slots": 9}] * 4)


@pytest.mark.parametrize(("first", "second"), COMBINATIONS)
def test_any_two_stages(first: str, second: str) -> None:
    """The plan breaks nothing, by an evaluation that is not berth's, and says which stages made it."""
    raw = two_applications()
    policy = "two-stage-exact" if first == "exact" else first
    plan = solve(problem_from(raw), policy, second_stage=second, samples=20)
    metrics, broken = reference.evaluate(raw, plan_document(plan))
    assert not broken
    assert (plan.trace["first_stage"], plan.trace["second_stage"]) == (first, second)
    assert plan.trace["U"] == metrics["containers_used"]
    assert plan.trace["T"] == pytest.approx(metrics["container_traffic_bytes_per_s"])
    assert plan.trace["W"] == pytest.approx(metrics["communication_cost"])


def test_a_better_second_stage() -> None:
    """The same containers, less cost between servers: best fit fills servers, whoever talks to whom."""
    raw = two_applications()
    plans = [solve(problem_from(raw), "ffd", second_stage=second) for second in SECOND_STAGES]
    assert plans[0].containers == plans[1].containers
    assert plans[1].trace["W"] < plans[0].trace["W"]
