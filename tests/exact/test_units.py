"""Amounts far below 1: what is best doesn't depend on the unit that they are counted in."""

from typing import Any

import pytest

import berth
from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.exact.normalise import objective_bounds
from berth.exact.placement import Placement
from berth.exact.units import unit_of
from berth.files import problem_from
from tests.exact.instances import document


def tiny(rate: float, objective: dict[str, float], **more: Any) -> dict[str, Any]:
    """Three operators on three nodes that take one each, with delays of some nanoseconds."""
    return document(
        [{"name": f"n{k}", "capacity": {"cpu": 1}} for k in range(3)],
        [[0, 2e-6, 5e-6], [2e-6, 0, 1e-6], [5e-6, 1e-6, 0]],
        [{"name": name, "demand": {"cpu": 1}} for name in "abc"],
        [
            {"from": "a", "to": "b", "bytes_per_s": rate},
            {"from": "b", "to": "c", "bytes_per_s": 3 * rate},
        ],
        objective=objective,
        **more,
    )


@pytest.mark.parametrize("policy", ["odp", "search", "auto"])
def test_tiny_amounts_are_told_apart(policy: str) -> None:
    """The least elastic energy of a byte in a million seconds over nanoseconds, exactly."""
    steps = {"steps": 20_000} if policy == "search" else {}
    plan = berth.solve(problem_from(tiny(1e-6, {"elastic_energy": 1.0})), policy, **steps)
    assert plan.objective == pytest.approx(1e-6 * (2e-9**2 + 3 * 1e-9**2), rel=1e-9, abs=0)
    assert [plan.assignment[f"a/{name}"] for name in "abc"] == ["n0", "n1", "n2"]
    if policy == "odp":
        assert plan.status == "optimal"


def test_the_unit_is_a_power_of_two_and_only_for_tiny_amounts() -> None:
    """Nothing is rounded by it."""
    small, large = (problem_from(tiny(rate, {"elastic_energy": 1.0})) for rate in (1e-6, 1e20))
    goal = Goal({"elastic_energy": 1.0})
    unit = unit_of(goal, Placement(Setting(small)))
    assert unit > 1e20
    assert unit.hex().startswith("0x1.0000000000000p")
    assert unit_of(goal, Placement(Setting(large))) == 1.0


def test_metrics_with_tiny_ranges_stay_in_normalised_sums() -> None:
    """The scale has their true range, whatever the unit, and no bound of the sum is below 0."""
    for rate in (1e-6, 1.0, 1e6):
        problem = problem_from(tiny(rate, {"elastic_energy": 1.0, "nodes_used": 1.0}))
        bounds = objective_bounds(Setting(problem), Budget(20.0))
        assert bounds is not None
        best, worst = bounds["elastic_energy"]
        assert best == pytest.approx(rate * (2e-9**2 + 3 * 1e-9**2), rel=1e-6, abs=0)
        assert worst == pytest.approx(rate * (2e-9**2 + 3 * 5e-9**2), rel=1e-6, abs=0)
        plan = berth.solve(problem, "odp", time_limit=20)
        assert plan.status == "optimal"
        assert plan.objective == pytest.approx(0.0, abs=1e-9)
        assert plan.bound is not None
        assert plan.bound >= 0.0


@pytest.mark.parametrize("policy", ["odp", "search"])
def test_very_small_availabilities_are_told_apart(policy: str) -> None:
    """60 instances on nodes of 50 or 60 %: the product is below a billionth of a billionth."""
    problem = document(
        [{"name": "a", "availability": 0.5}, {"name": "b", "availability": 0.6, "cost_per_hour": 1}],
        [[0, 1], [1, 0]],
        [{"name": "o", "work_ms": 1, "parallelism": 60}],
        [],
    )
    for objective in (
        {"availability": 1},
        {"availability": 10, "cost_per_hour": 1},
        [{"availability": 1}, {"cost_per_hour": 1}],
    ):
        steps = {"steps": 20_000} if policy == "search" else {}
        plan = berth.solve(problem_from({**problem, "objective": objective}), policy, **steps)
        assert set(plan.assignment.values()) == {"b"}
        assert plan.status == ("optimal" if policy == "odp" else "feasible")


@pytest.mark.parametrize("objective", ["response_time_sum", "cost_per_hour"])
def test_limits_are_missed_by_more_than_rounding(objective: str) -> None:
    """A ten millionth too little is too little, and is proved to be."""
    problem = document(
        [{"name": "n", "capacity": {"cpu": 0.59999994}}],
        [[0]],
        [{"name": "o", "work_ms": 3, "demand": {"cpu": 0.3}, "parallelism": 2}],
        [],
        objective={objective: 1},
    )
    assert berth.solve(problem_from(problem), "odp", time_limit=20).status == "infeasible"
    problem["network"]["nodes"][0]["capacity"]["cpu"] = 0.6 * (1 - 0.9e-9)
    assert berth.solve(problem_from(problem), "odp", time_limit=20).status == "optimal"
