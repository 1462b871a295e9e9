"""`forest` against the exact policies, the 24 heuristics and the judge."""

import time
from dataclasses import replace
from itertools import product
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.evaluation.goal import goal_mistakes
from berth.files import problem_from
from berth.model import BadInput, Plan, Problem
from berth.policies.sharing.goals import GOALS
from berth.policies.sharing.heuristics import Processors
from tests.oracle.problems import sharing_problems
from tests.policies.sharing.occupation import taken

HEURISTICS = ("random-no-reuse", "random", "top-down-bfs", "top-down-dfs", "bottom-up-bfs", "bottom-up-dfs")
EXACT = {"enrolled_speed": "proc-power", "nodes_used": "proc-nb", "bandwidth_sum": "bw-sum"}


def small(seed: int, **more: Any) -> Problem:
    """Two trees on a few processors, too much work for one of them."""
    made = {"processors": 5, "applications": 2, "most_operators": 6, "objects": 3, "replicas": 2}
    return berth.generate("forest", seed=seed, least_work=20.0, most_work=40.0, **(made | more))


def planned(problem: Problem, **more: Any) -> Plan:
    """What `forest` says; steps alone limit it."""
    return berth.solve(problem, "forest", time_limit=None, **more)


def best_of_24(problem: Problem, seed: int) -> float | None:
    plans = [
        berth.solve(problem, name, seed=seed, processors=processors)
        for name, processors in product(HEURISTICS, get_args(Processors))
    ]
    return min((plan.metrics["enrolled_speed"] for plan in plans if plan.status == "feasible"), default=None)


@pytest.mark.parametrize(("goal", "seed"), [*product(EXACT, range(3)), ("enrolled_speed", 3)])
def test_against_exact(goal: str, seed: int) -> None:
    """Within 3 % of the optimum, and the bound is one."""
    problem = small(seed)
    optimum = berth.solve(problem, EXACT[goal], time_limit=20.0)
    plan = planned(problem, goal=goal, steps=20_000)
    assert optimum.status == "optimal"
    assert plan.violations == ()
    assert plan.objective is not None
    assert plan.bound is not None
    assert optimum.objective is not None
    assert plan.objective <= 1.03 * optimum.objective + 1e-6
    assert plan.objective >= optimum.objective * (1 - 1e-6)
    assert plan.bound <= optimum.objective * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_beside_others(seed: int) -> None:
    """What is left of the processors is kept: as cheap as the optimum there, and the bound is one there."""
    problem = small(seed)
    others = taken(problem, seed)
    optimum = berth.solve(problem, "proc-power", time_limit=20.0, occupied=others)
    plan = planned(problem, occupied=others, steps=20_000)
    assert optimum.status in ("optimal", "infeasible")
    if optimum.status == "infeasible":
        assert plan.status == "unknown"
        return
    assert plan.status in ("feasible", "optimal"), plan.reason
    assert berth.evaluate(problem, plan, occupied=others).violations == ()
    assert plan.objective == pytest.approx(optimum.objective, rel=0.03)
    assert plan.bound is not None
    assert optimum.objective is not None
    assert plan.bound <= optimum.objective * (1 + 1e-9)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"applications": 3, "functions": 3},
        {"ccr": 60.0, "processors": 12},
        {"processors": 4},
    ],
)
def test_against_the_heuristics(more: dict[str, Any]) -> None:
    """Never worse than the best of the 24; clearly better where that is far from the bound."""
    problem = berth.generate("forest", seed=3, most_operators=20, **({"processors": 10} | more))
    best = best_of_24(problem, 3)
    plan = planned(problem, seed=3, steps=20_000)
    assert plan.violations == ()
    assert plan.goal == {"enrolled_speed": 1.0}
    assert plan.objective is not None
    assert plan.bound is not None
    assert plan.bound <= plan.objective * (1 + 1e-9)
    if best is not None:
        assert plan.objective <= best
        if not more:
            assert plan.objective <= (best + plan.bound) / 2


def test_same_seed_same_plan() -> None:
    """Steps and seed decide, not the time."""
    problem = berth.generate("forest", seed=1, most_operators=15, processors=8)
    plans = [planned(problem, seed=seed, steps=5_000) for seed in (4, 4)]
    assert plans[0].assignment == plans[1].assignment
    assert plans[0].reuse == plans[1].reuse
    assert plans[0].downloads == plans[1].downloads


def test_progress() -> None:
    """Every better plan is told, with the bound."""
    told: list[float] = []
    problem = berth.generate("forest", seed=1, most_operators=15, processors=8)
    plan = planned(problem, steps=5_000, progress=lambda now: told.append(now.objective or 0.0))
    assert told == sorted(told, reverse=True)
    assert told[-1] == pytest.approx(plan.objective)


@st.composite
def any_problem(draw: st.DrawFn) -> Problem:
    """Graphs of any shape with equal operators, without what the engine doesn't know."""
    document: dict[str, Any] = draw(sharing_problems())
    for application in document["applications"]:
        for name in ("containers", "max_response_time_ms", "min_availability"):
            application.pop(name, None)
    document.pop("objective", None)
    document.pop("objective_bounds", None)
    return problem_from(document)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(any_problem(), st.sampled_from(GOALS), st.booleans())
def test_any_problem(problem: Problem, goal: str, occupied: bool) -> None:
    """What it calls a plan breaks nothing, costs what the judge says, and no bound is above it."""
    others = taken(problem, 1) if occupied else None
    if list(goal_mistakes(replace(problem, objective={goal: 1.0}))):
        with pytest.raises(BadInput, match="--policy forest"):
            planned(problem, goal=goal, steps=300)
        return
    told: list[float] = []
    plan = planned(
        problem,
        goal=goal,
        steps=300,
        occupied=others,
        progress=lambda now: told.append(now.objective or 0.0),
    )
    if plan.status == "unknown":
        assert plan.violations
        return
    assert plan.violations == ()
    assert berth.evaluate(problem, plan, occupied=others).violations == ()
    if plan.objective is not None:
        assert told[-1] == pytest.approx(plan.objective, rel=1e-9, abs=1e-12)
        assert plan.bound is not None
        assert plan.bound <= plan.objective * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(("most", "nodes"), [(1, 3), (2, 2), (3, 1)])
def test_spread(most: int, nodes: int) -> None:
    """So many in one place and no more: the fewest nodes that this leaves, by proof."""
    operators = [{"name": name} for name in "abc"]
    rules = [{"spread": ["a", "b", "c"], "most": most}]
    problem = problem_from(
        {
            "format": "berth/v1",
            "name": "spread",
            "network": {"nodes": [{"name": f"n{k}", "coordinates": [k]} for k in range(4)]},
            "applications": [{"name": "app", "operators": operators, "rules": rules}],
        }
    )
    plan = planned(problem, goal="nodes_used", steps=2_000)
    assert (plan.status, plan.objective) == ("optimal", nodes)


def test_out_of_time() -> None:
    """A search that is stopped at once says so, and comes back at once."""
    problem = berth.generate("forest", seed=1)
    budget = Budget()
    budget.stop("interrupted")
    start = time.process_time()
    plan = berth.solve(problem, "forest", budget=budget)
    assert time.process_time() - start < 1.0
    assert plan.reason is not None
    assert "interrupted" in plan.reason


@pytest.mark.parametrize(
    ("given", "told"), [({"goal": "response_time"}, "goal"), ({"steps": -1}, "steps: -1 is below 0")]
)
def test_bad_parameters(given: dict[str, Any], told: str) -> None:
    """Named, with the value."""
    with pytest.raises(BadInput, match=told):
        berth.solve(small(0), "forest", **given)


def test_together_moves_as_one() -> None:
    """Two operators that must be together reach the node where their object is, though neither may alone."""
    problem = problem_from(
        {
            "format": "berth/v1",
            "name": "pair",
            "network": {
                "nodes": [
                    {"name": "big", "capacity": {"cpu": 10}},
                    {"name": "small", "capacity": {"cpu": 1}, "holds": ["camera"]},
                ],
                "links": [{"from": "big", "to": "small", "delay_ms": 1}],
            },
            "objects": [{"name": "camera", "bytes": 5}],
            "applications": [
                {
                    "name": "app",
                    "throughput_per_s": 1,
                    "operators": [
                        {"name": "scale", "output_bytes": 0, "demand": {"cpu": 1}},
                        {"name": "tag", "output_bytes": 3, "reads": [{"object": "camera", "per_s": 1}]},
                        {"name": "join", "output_bytes": 0, "demand": {"cpu": 2}},
                    ],
                    "streams": [{"from": "scale", "to": "join"}, {"from": "tag", "to": "join"}],
                    "rules": [{"together": ["scale", "tag"]}],
                }
            ],
            "objective": {"bandwidth_sum": 1},
        }
    )
    plan = planned(problem, steps=5_000)
    assert plan.violations == ()
    assert plan.objective == 3.0
