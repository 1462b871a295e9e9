"""Both stages against all maps, and the price of deciding in two stages."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.files import plan_document, problem_from
from berth.model.arrays import IndexArray
from berth.model.randomness import generator_for
from berth.policies.two_stage import exact_stages as exact
from berth.policies.two_stage import mips
from berth.policies.two_stage.packing import Packing
from berth.policies.two_stage.stages import Assigned, Stuck
from berth.policies.two_stage.two_stage_exact import TwoStageExactParameters
from tests.exact.packed_problems import packed_problems
from tests.oracle import reference
from tests.oracle.enumerate import optimum as best_of_all_plans
from tests.policies.two_stage.cases import case, no_limit, solve, stage_one, stage_two, tiny_cases
from tests.policies.two_stage.packings import fits, optimum

QUIET = settings(
    deadline=None,
    max_examples=20,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=[Phase.generate],
)
ALPHAS = st.sampled_from([0.5, 1.0, 0.0, 0.9])
SCALES = st.sampled_from(["normalised", "raw"])


def check(found: Assigned | Stuck, packing: Packing) -> IndexArray | None:
    """The least cost of all maps, proved; stuck only where there is no map."""
    expected = optimum(packing)
    if isinstance(found, Stuck):
        assert expected is None
        assert "proved" in found.reason
        return None
    assert expected is not None
    assert fits(packing, found.bins)
    assert packing.cost(found.bins) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert found.trace["proved"]
    assert found.trace["bound"] == pytest.approx(expected, rel=1e-6, abs=1e-12)
    return found.bins


@QUIET
@given(tiny_cases(), ALPHAS, SCALES)
def test_the_first_stage_against_all_maps(raw: dict[str, Any], alpha: float, scale: Any) -> None:
    """Nothing costs less; of maps that cost the same, none has less of what doesn't count."""
    stage, parameters = stage_one(raw), TwoStageExactParameters(alpha=alpha, scale=scale, samples=5)
    packing = mips.instances_packing(stage, parameters)
    bins = check(exact.first_stage(stage, generator_for(0), parameters, no_limit()), packing)
    if bins is None:
        return
    for maps in np.ndindex(*([len(packing.room)] * len(packing.demand))):
        other = np.array(maps)
        assert not (fits(packing, other) and packing.better(other, bins))
    searched = mips.first_stage(stage, generator_for(0), parameters, no_limit())
    assert isinstance(searched, Stuck) or packing.cost(searched.bins) >= packing.cost(bins) - 1e-9


@QUIET
@given(tiny_cases(), st.lists(st.integers(0, 3), min_size=6, max_size=6), st.booleans())
def test_the_second_stage_against_all_maps(raw: dict[str, Any], containers: list[int], links: bool) -> None:
    """Nothing costs less, with any costs of links, and links that are missing."""
    if not links:
        raw["network"]["delay_ms"][0][1] = None
    count = sum(operator.get("parallelism", 1) for operator in raw["applications"][0]["operators"])
    stage = stage_two(raw, containers[:count])
    packing = mips.containers_packing(stage)
    parameters = TwoStageExactParameters(samples=5)
    bins = check(exact.second_stage(stage, generator_for(0), parameters, no_limit()), packing)
    searched = mips.second_stage(stage, generator_for(0), parameters, no_limit())
    if bins is not None and isinstance(searched, Assigned):
        assert packing.cost(searched.bins) >= packing.cost(bins) - 1e-9


@pytest.mark.parametrize("distances", ["tree", "plane"])
def test_servers_in_a_tree_and_in_a_plane(distances: str) -> None:
    """Few distances, or all of them different: the bounds by distance cut nothing off."""
    rng = np.random.default_rng(3)
    for _ in range(3):
        if distances == "tree":
            first, second = np.indices((5, 5))
            cost = np.where(first // 2 == second // 2, 2.0, 6.0) * (first != second)
        else:
            places = rng.random((5, 2))
            cost = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        traffic = np.triu(rng.integers(0, 9, (5, 5)) * rng.random((5, 5)), 1)
        size, room = np.full((5, 1), 2.0), rng.integers(2, 6, (5, 1)).astype(float)
        allowed = rng.random((5, 5)) < 0.9
        packing = Packing(size, room, traffic, cost, allowed, np.zeros((5, 0), dtype=bool), capacity=room)
        found = exact._answer(packing, None, _solver(packing), no_limit(), generator_for(0), "the containers")
        check(found, packing)


def _solver(packing: Packing) -> Any:
    from berth.policies.two_stage.exact_stages import Containers

    return Containers(packing)


@settings(QUIET, max_examples=12)
@given(packed_problems())
def test_the_plan_and_its_price(raw: dict[str, Any]) -> None:
    """The joint plan has the least W of all; no plan of two stages that breaks nothing is below."""
    raw["applications"] = [entry for entry in raw["applications"] if "containers" in entry]
    plan = solve(problem_from(raw), "two-stage-exact", price=True, samples=5)
    if not plan.found:
        assert plan.reason
        return
    metrics, broken = reference.evaluate(raw, plan_document(plan))
    price = plan.trace["price_of_two_stages"]
    least = best_of_all_plans(raw, "communication_cost")
    assert price["W"].get("joint") == (None if least is None else pytest.approx(least))
    assert price["W"]["two_stages"] == metrics.get("communication_cost")
    if broken:
        assert price["ratio"] is None
        assert price["no_ratio"]
        return
    assert least is not None
    assert metrics["communication_cost"] >= least - 1e-9
    if least > 0:
        assert price["ratio"] == pytest.approx(metrics["communication_cost"] / least)


def test_what_two_stages_cost() -> None:
    """Least traffic between containers puts y with x, at 5 a second; then z's 4 go the dear way, at 10 each.

    With y beside z, the 5 from x go the cheap way.
    """
    operators = {
        "x": {"demand": {"cpu": 2}, "pinned": "s0"},
        "y": {"demand": {"cpu": 2}},
        "z": {"demand": {"cpu": 2}, "pinned": "s1"},
    }
    raw = case(operators, {"xy": 5.0, "zy": 4.0}, (3, 4.0), (4.0, 4.0))
    raw["network"]["cost"] = [[0, 1], [10, 0]]
    plan = solve(problem_from(raw), "two-stage-exact", price=True, alpha=1.0)
    assert (plan.status, plan.objective, plan.bound) == ("optimal", 4.0, 4.0)
    assert plan.trace["price_of_two_stages"] == {
        "ratio": 8.0,
        "status": "optimal",
        "W": {"two_stages": 40.0, "joint": 5.0, "joint_bound": 5.0},
        "first_stage_goal": {"two_stages": 4.0, "joint": 5.0},
    }


def test_without_time_the_bounds_are_told() -> None:
    """The first map is kept; the trace says that it is not proved, and why."""
    stage = stage_one(case({"x": {"parallelism": 3, "demand": {"cpu": 1}}, "y": 1}, {"xy": 3.0}, (4, 2.0)))
    budget = Budget(None)
    start = mips.first_stage(stage, generator_for(0), TwoStageExactParameters(), budget)
    assert isinstance(start, Assigned)
    packing = mips.instances_packing(stage, TwoStageExactParameters())
    large: Any = SimpleNamespace(size=exact.LARGEST_MODEL + 1)
    found = exact._answer(packing, start.bins, large, budget, generator_for(0), "the instances")
    assert isinstance(found, Assigned)
    assert not found.trace["proved"]
    assert found.trace["gap"] == 1.0
    assert "too large" in found.trace["ended"]


def test_any_first_stage_with_the_exact_second() -> None:
    """The same containers, and no second stage places them better."""
    rates = {"xy": 7.0, "yz": 2.0, "xz": 3.0}
    raw = case(
        {name: {"parallelism": 2, "demand": {"cpu": 2}} for name in "xyz"}, rates, (6, 2.0), (4.0,) * 4
    )
    raw["network"]["cost"] = [[abs(here - there) for there in range(4)] for here in range(4)]
    for first in ("ffd", "r-heron", "t-heron", "mips"):
        plans = {
            second: solve(problem_from(raw), first, second_stage=second)
            for second in ("best-fit", "mips", "exact")
        }
        assert plans["exact"].containers == plans["best-fit"].containers
        assert plans["exact"].trace["W"] <= min(plan.trace["W"] for plan in plans.values()) + 1e-9
        assert plans["exact"].trace["applications"]["a"]["second"]["proved"]


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"alpha": 2}, "alpha: 2.0 is not from 0"),
        ({"second_stage": "none"}, "second_stage: expected 'best-fit' or 'exact' or 'mips'"),
        ({"price": "perhaps"}, "price: expected true or false"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], line: str) -> None:
    """One line with the name, the value and what is right."""
    with pytest.raises(berth.BadInput, match=line):
        solve(problem_from(case({"x": 1}, {})), "two-stage-exact", **parameters)
