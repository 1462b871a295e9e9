"""MIPS as a policy: its plans hold, its figures are the judge's, and what users may set does what it says."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import berth
from berth.files import problem_from
from berth.model import BadInput
from tests.policies.two_stage.cases import case, cluster, packed, solve, tiny_cases

some = settings(
    max_examples=40, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)

PIPELINE = {
    "x": {"parallelism": 2, "demand": {"cpu": 1}},
    "y": {"parallelism": 3, "demand": {"cpu": 2, "licences": 1}},
    "z": {"parallelism": 2, "demand": {"cpu": 1}},
}
RATES = {"xy": 60.0, "yz": 30.0}
SIZE = {"cpu": 4, "licences": 2}
SERVERS = [{"cpu": 8, "licences": 4}, SIZE, SIZE, SIZE]


def pipeline(**more: Any) -> Any:
    return problem_from(case(PIPELINE, RATES, (5, SIZE), SERVERS, **more))


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_figures_are_the_judge_s(alpha: float, mode: str) -> None:
    plan = solve(pipeline(), "mips", alpha=alpha, mode=mode, samples=100)
    assert (plan.status, plan.violations) == ("feasible", ())
    judged = berth.evaluate(pipeline(), plan).metrics
    assert plan.trace["T"] == judged["container_traffic_bytes_per_s"]
    assert plan.trace["U"] == judged["containers_used"]
    assert plan.trace["W"] == judged["communication_cost"]
    stages = plan.trace["applications"]["a"]
    first, second = stages["first"], stages["second"]
    goal = alpha * plan.trace["T"] + (1 - alpha) * plan.trace["U"]
    if mode == "corrected" and alpha == 0.5:
        # of 60 + 30 bytes/s and five containers
        goal = alpha * plan.trace["T"] / 90 + (1 - alpha) * plan.trace["U"] / 5
        assert plan.trace["objective_bounds"] == {"container_traffic": [0, 90], "containers_used": [0, 5]}
    assert first[f"{first['taken']}_cost"] == pytest.approx(goal)
    assert plan.objective == pytest.approx(goal)
    assert second[f"{second['taken']}_cost"] == pytest.approx(plan.trace["W"])
    assert first["rollouts"] >= first["rounds"] * 100 == 700
    assert second["rounds"] == plan.trace["U"]
    if mode == "paper":
        assert first["taken"] == second["taken"] == "committed"
        assert "polished_cost" not in first
    else:
        assert first["polished_cost"] <= first["best_leaf_cost"] + 1e-9 <= first["committed_cost"] + 2e-9


def test_the_trade_off() -> None:
    """11 cpu and 3 licences need three containers of 4 and 2; traffic alone is no more with them."""
    packed_, heavy = (solve(pipeline(), "mips", alpha=alpha).trace for alpha in (0.0, 1.0))
    assert packed_["U"] == 3
    assert heavy["T"] <= packed_["T"]


def test_together_where_it_fits() -> None:
    """All in one container costs no traffic at all: the optimum that the printed form rejects (E1.6)."""
    problem = problem_from(case({"x": 1, "y": 1, "z": 1}, {"xy": 5, "yz": 7}))
    plan = solve(problem, "mips", samples=20)
    assert packed(plan) == ["x y z"]
    assert (plan.trace["T"], plan.trace["U"], plan.trace["W"]) == (0, 1, 0)
    alone = problem_from(case({"x": 1, "y": 1, "z": 1}, {"xy": 5, "yz": 7}, (1, 4.0)))
    printed = solve(alone, "mips", samples=20, mode="paper", alpha=1)
    assert printed.status == "unknown"
    assert "mode=paper never ends" in str(printed.reason)


@some
@given(tiny_cases())
def test_plans_hold(raw: dict[str, Any]) -> None:
    """Whatever it answers, the judge has nothing against it; with symmetry and without, it costs the same."""
    problem = problem_from(raw)
    plans = [solve(problem, "mips", alpha=0.5, samples=200, symmetry=kept) for kept in (True, False)]
    for plan in plans:
        assert plan.violations == ()
        assert plan.status == "feasible" or plan.reason
    costs = [plan.objective for plan in plans]
    if None not in costs:
        assert costs[0] == pytest.approx(costs[1])


@some
@given(tiny_cases())
def test_it_finds_what_baselines_find(raw: dict[str, Any]) -> None:
    """A first stage that T-Heron can do is no dead end for the search, and costs no more traffic."""
    problem = problem_from(raw)
    other = solve(problem, "t-heron")
    if other.status == "feasible":
        plan = solve(problem, "mips", alpha=1.0, samples=200)
        if "stuck_before" in plan.trace.get("applications", {}).get("a", {}):
            return  # fewer containers than the least traffic asks for: there was no room for more
        if plan.status == "feasible":
            assert plan.trace["T"] <= other.trace["T"] + 1e-9
        else:
            assert "second stage" in str(plan.reason)


def test_the_same_seed_gives_the_same_plan() -> None:
    one, same = (solve(pipeline(), "mips", seed=-3, samples=30) for _ in range(2))
    assert one.assignment == same.assignment
    assert one.containers == same.containers
    assert one.trace == same.trace


def test_one_after_another_on_what_is_left() -> None:
    entry = {
        "operators": [{"name": "x", "demand": {"cpu": 3}}],
        "containers": {"count": 1, "capacity": {"cpu": 4}},
    }
    problem = problem_from(cluster([{"name": name, **entry} for name in "abc"], (4.0, 8.0)))
    plan = solve(problem, "mips", samples=10)
    assert plan.violations == ()
    assert sorted(plan.assignment.values()) == ["s0", "s1", "s1"]
    refused = solve(problem_from(cluster([{"name": n, **entry} for n in "abcd"], (4.0, 8.0))), "mips")
    assert refused.status == "unknown"
    assert "second stage" in str(refused.reason)


def test_servers_that_are_pinned_apart_split_a_container() -> None:
    """x and y exchange much and would share a container, but no server may host both."""
    operators = {name: {"demand": {"cpu": 1}, "pinned": node} for name, node in (("x", "s0"), ("y", "s1"))}
    plan = solve(problem_from(case(operators, {"xy": 50})), "mips", samples=20)
    assert plan.violations == ()
    assert packed(plan) in (["x", "y"], ["y", "x"])
    assert dict(plan.assignment) == {"a/x": "s0", "a/y": "s1"}


def test_any_second_stage() -> None:
    fit = solve(pipeline(), "mips", samples=50, second_stage="best-fit")
    assert fit.trace["second_stage"] == "best-fit"
    assert "rollouts" in fit.trace["applications"]["a"]["first"]
    other = solve(pipeline(), "ffd", samples=50, second_stage="mips")
    assert other.violations == ()
    assert other.trace["applications"]["a"]["second"]["rollouts"] >= 50


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"alpha": 1.5}, "--set alpha: 1.5"),
        ({"alpha": float("nan")}, "--set alpha: nan"),
        ({"samples": 0}, "--set samples: 0"),
        ({"exploration": -1}, "--set exploration: -1.0"),
        ({"mode": "printed"}, "--set mode: expected 'corrected' or 'paper'"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], line: str) -> None:
    with pytest.raises(BadInput) as error:
        solve(pipeline(), "mips", **parameters)
    assert error.value.args[0][0].startswith(line) or str(error.value).startswith(line)


def test_too_little_room_is_said() -> None:
    plan = solve(problem_from(case({"x": 3, "y": 3}, {"xy": 1}, (1, 4.0))), "mips")
    assert plan.status == "unknown"
    assert "first stage, mips: no way to map the instances into 1 container(s)" in str(plan.reason)
