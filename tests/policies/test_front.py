"""Fronts against the enumeration of all plans, and what a front says of itself."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, evaluate
from berth.files import plan_from, problem_from
from berth.model import BadInput, Front, Plan
from berth.policies.front import _knee
from berth.policies.odp import Odp
from berth.policies.policy import Answer, Progress, Task
from tests.exact.instances import document
from tests.oracle.enumerate import feasible_situations
from tests.oracle.metrics import metric
from tests.oracle.problems import previous_plans, solvable_problems

Values = tuple[float, float]
PAIRS = [
    ("response_time", "cost_per_hour"),
    ("availability", "response_time"),
    ("traffic", "nodes_used"),
    ("cost_per_hour", "availability"),
    ("carbon", "network_usage"),
    ("bandwidth_max", "placement_cost"),
    ("utilisation_max", "nodes_used"),
    ("moved_instances", "response_time_sum"),
    ("failover_response_time", "cost_per_hour"),
]
NEAR = 3e-6
"""Proofs tell no smaller differences apart."""
# Where a front is to be whole, or the same again, there is no time limit: a busy machine only takes longer.


def chain(seed: int, operators: int = 4, nodes: int = 4) -> dict[str, Any]:
    """Fast nodes are dear, and all figures differ: fronts of many points."""
    dice = random.Random(seed)
    delay = [[0 if a == b else dice.randint(1, 40) for b in range(nodes)] for a in range(nodes)]
    speeds = [dice.choice([0.5, 1.0, 1.5, 2.0, 4.0]) for _ in range(nodes)]
    return document(
        [
            {
                "name": f"n{k}",
                "speed": speed,
                "capacity": {"cpu": 2},
                "availability": round(dice.uniform(0.9, 0.999), 4),
                "cost_per_hour": round(speed * dice.uniform(0.5, 1.5), 3),
                "carbon_g_per_hour": round(dice.uniform(5, 50), 2),
            }
            for k, speed in enumerate(speeds)
        ],
        delay,
        [{"name": f"o{k}", "work_ms": dice.randint(1, 30), "demand": {"cpu": 1}} for k in range(operators)],
        [
            {"from": f"o{dice.randrange(k)}", "to": f"o{k}", "bytes_per_s": dice.randint(10, 99)}
            for k in range(1, operators)
        ],
    )


def costs(objectives: tuple[str, str], values: Values) -> Values:
    signs = [-1.0 if METRIC_BY_NAME[name].maximise else 1.0 for name in objectives]
    return signs[0] * values[0], signs[1] * values[1]


def enumerated(raw: dict[str, Any], objectives: tuple[str, str], before: Any = None) -> list[Values]:
    """The whole front as costs, from the best first one on; what is nearly the same is there once."""
    first, second = (METRIC_BY_NAME[name].key for name in objectives)
    found: list[Values] = []
    everything = set()
    for situation in feasible_situations(raw, before):
        values = metric(situation, first), metric(situation, second)
        assert values[0] is not None
        assert values[1] is not None
        everything.add(costs(objectives, (values[0], values[1])))
    for one in sorted(everything):
        if not found or one[1] < found[-1][1] - NEAR * abs(found[-1][1]):
            if found and math.isclose(found[-1][0], one[0], rel_tol=NEAR, abs_tol=1e-12):
                found.pop()
            found.append(one)
    return found


def same(one: Values, other: Values) -> bool:
    return all(math.isclose(a, b, rel_tol=NEAR, abs_tol=1e-9) for a, b in zip(one, other, strict=True))


def check_front(raw: dict[str, Any], front: Front, before: Plan | None = None) -> None:
    """What holds of every front: no point is as good as another, and the judge agrees."""
    problem, found = problem_from(raw), [costs(front.objectives, point.values) for point in front.points]
    for one, other in pairwise(found):
        assert one[0] < other[0]
        assert one[1] > other[1]
    for point in front.points:
        verdict = evaluate(problem, point.plan, before)
        assert verdict.violations == ()
        assert point.values == tuple(verdict.metrics[METRIC_BY_NAME[name].key] for name in front.objectives)
        assert point.plan.objective == point.values[0]


@pytest.mark.parametrize("objectives", PAIRS, ids="-".join)
def test_random_problems_against_enumeration(objectives: tuple[str, str]) -> None:
    """With points enough, all of the front is found, and it is proved that nothing else is on it."""

    @settings(
        deadline=None,
        max_examples=6,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        phases=[Phase.generate],
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        raw = {**data.draw(solvable_problems(objectives[0])), "sharing": False}
        if any(operator.get("reads") for each in raw["applications"] for operator in each["operators"]):
            return
        moved = objectives[0].startswith("moved")
        before = data.draw(previous_plans(raw)) if moved else None
        previous = None if before is None else plan_from(before)
        front = berth.front(problem_from(raw), *objectives, 50, previous=previous, time_limit=None)
        wanted = enumerated(raw, objectives, before)
        check_front(raw, front, previous)
        assert front.status == ("found" if wanted else "infeasible")
        assert front.complete
        assert len(front.points) == len(wanted)
        for point, values in zip(front.points, wanted, strict=True):
            assert point.proved
            assert same(costs(objectives, point.values), values)

    check()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "objectives",
    [("response_time", "cost_per_hour"), ("availability", "carbon"), ("network_usage", "availability")],
    ids="-".join,
)
def test_many_points_against_enumeration(objectives: tuple[str, str], seed: int) -> None:
    """The whole front where points allow; with fewer points, every one of them is on it."""
    raw = chain(seed)
    wanted = enumerated(raw, objectives)
    whole = berth.front(problem_from(raw), *objectives, len(wanted) + 1, time_limit=None)
    check_front(raw, whole)
    assert whole.complete
    assert [point.proved for point in whole.points] == [True] * len(wanted)
    for point, values in zip(whole.points, wanted, strict=True):
        assert same(costs(objectives, point.values), values)
    some = berth.front(problem_from(raw), *objectives, points=3, time_limit=None)
    check_front(raw, some)
    assert len(some.points) == min(3, len(wanted))
    for point in some.points:
        assert point.proved
        assert any(same(costs(objectives, point.values), values) for values in wanted)
    ends = [costs(objectives, point.values) for point in (some.points[0], some.points[-1])]
    assert same(ends[0], wanted[0])
    assert same(ends[1], wanted[-1])


@pytest.mark.parametrize("first", ["response_time", "network_usage", "nodes_used"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_alike_for_one_metric_only(first: str, seed: int) -> None:
    """Three operators that differ in their prices alone may not be swapped below a ceiling on these."""
    dice, nodes, names = random.Random(seed), range(3), ("left", "middle", "right")
    prices = {name: {f"n{k}": dice.randint(0, 9) for k in nodes} for name in names}
    raw = document(
        [{"name": f"n{k}", "speed": dice.choice([1, 2])} for k in nodes],
        [[0 if a == b else dice.randint(1, 9) for b in nodes] for a in nodes],
        [
            {"name": "begin", "pinned": "n0"},
            *({"name": name, "work_ms": 4, "placement_cost": prices[name]} for name in names),
            {"name": "end", "pinned": "n1"},
        ],
        [
            *({"from": "begin", "to": name, "bytes_per_s": 5} for name in names),
            *({"from": name, "to": "end", "bytes_per_s": 5} for name in names),
        ],
    )
    objectives = (first, "placement_cost")
    wanted = enumerated(raw, objectives)
    assert len(wanted) > 1
    front = berth.front(problem_from(raw), *objectives, time_limit=None)
    assert front.complete
    for point, values in zip(front.points, wanted, strict=True):
        assert same(costs(objectives, point.values), values)


def test_searched_points_are_not_proved() -> None:
    raw = chain(3)
    front = berth.front(
        problem_from(raw), "response_time", "cost_per_hour", 4, "search", time_limit=None, steps=3_000
    )
    check_front(raw, front)
    assert len(front.points) > 1
    assert not any(point.proved for point in front.points)
    assert not front.complete
    assert all(point.plan.bound is None for point in front.points)


def test_the_same_seed_gives_the_same_front() -> None:
    problem = problem_from(chain(1))

    def told() -> list[Any]:
        front = berth.front(problem, "response_time", "availability", 6, time_limit=None, seed=3)
        return [(point.values, point.proved, point.plan.assignment) for point in front.points]

    assert told() == told()


def test_plans_are_those_of_the_first_metric() -> None:
    """Their bound holds for all plans, not only below the ceiling that they were found under."""
    problem = problem_from(chain(0))
    front = berth.front(problem, "response_time", "cost_per_hour", time_limit=None)
    best = berth.solve(problem.for_goal({"response_time": 1.0}), time_limit=None).objective
    first, *others = (point.plan for point in front.points)
    assert first.status == "optimal"
    assert "ceiling" not in first.trace["front"]
    assert others
    for plan in (first, *others):
        assert plan.goal == {"response_time": 1.0}
        assert plan.bound == pytest.approx(best)
    for plan in others:
        assert plan.status == "feasible"
        assert plan.metrics["cost_per_hour"] <= plan.trace["front"]["ceiling"]["cost_per_hour"]


@pytest.mark.parametrize(
    ("costs", "knee"),
    [
        ([(0.0, 1.0), (1.0, 0.0)], None),
        ([(0.0, 100.0), (1.0, 10.0), (9.0, 9.0), (10.0, 0.0)], 1),
        ([(0.0, 1.0), (0.9, 0.9), (1.0, 0.0)], None),
        ([(-0.9, 5.0), (-0.8, 1.0), (-0.1, 0.0)], 1),
    ],
)
def test_the_knee(costs: list[Values], knee: int | None) -> None:
    """Farthest from the line between both ends, on the better side of it."""
    assert _knee(costs) == knee


def test_one_plan_that_is_best_for_both() -> None:
    raw = document([{"name": "n"}], [[0]], [{"name": "o", "work_ms": 1}], [])
    front = berth.front(problem_from(raw), "response_time", "cost_per_hour")
    assert [(point.values, point.proved, point.knee) for point in front.points] == [((1.0, 0.0), True, False)]
    assert front.complete


def test_no_plan() -> None:
    raw = document([{"name": "n"}], [[0]], [{"name": "o", "demand": {"cpu": 1}}], [])
    front = berth.front(problem_from(raw), "response_time", "cost_per_hour")
    assert front.points == ()
    assert front.status == "infeasible"
    assert "cpu" in str(front.reason)


def test_points_so_far_when_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither complete nor silent about it."""
    budget, solves = Budget(), []
    solve = Odp.solve

    def stopping(self: Odp, task: Task) -> Answer:
        solves.append(task)
        if len(solves) == 8:
            budget.stop("interrupted")
        return solve(self, task)

    monkeypatch.setattr(Odp, "solve", stopping)
    raw = chain(1)
    front = berth.front(problem_from(raw), "response_time", "cost_per_hour", policy="odp", budget=budget)
    check_front(raw, front)
    assert len(front.points) >= 2
    assert not front.complete
    assert front.reason == "interrupted"


def test_without_time_there_is_a_plan_and_no_claim() -> None:
    raw = chain(1)
    over = Budget(1e-9)
    front = berth.front(problem_from(raw), "response_time", "cost_per_hour", budget=over)
    check_front(raw, front)
    assert len(front.points) == 1
    assert not front.complete
    assert str(front.reason).startswith("out of time")


def test_progress_names_the_point_and_the_goal() -> None:
    heard: list[Progress] = []
    berth.front(
        problem_from(chain(0)),
        "response_time",
        "cost_per_hour",
        points=3,
        policy="search",
        time_limit=None,
        progress=heard.append,
        steps=500,
    )
    stages = {each.stage for each in heard}
    assert {"point 1 of 3: response time", "point 1 of 3: cost per hour", "point 2 of 3"} <= stages


def test_moves_count_from_the_plan_before() -> None:
    """At one end nothing moves."""
    raw = chain(2)
    problem = problem_from(raw)
    before = berth.solve(problem.for_goal({"cost_per_hour": 1.0}))
    front = berth.front(problem, "moved_instances", "response_time", previous=before, time_limit=None)
    check_front(raw, front, before)
    assert front.points[0].values[0] == 0
    assert front.points[0].plan.assignment == before.assignment
    with pytest.raises(BadInput, match="needs a previous plan"):
        berth.front(problem, "moved_instances", "response_time")


def test_cards_are_counted_though_they_are_no_objective_of_the_problem() -> None:
    raw = chain(0)
    for number, node in enumerate(raw["network"]["nodes"]):
        node["nic_bytes_per_s"] = 1000 * (number + 1)
    raw["applications"][0]["streams"] = []
    problem = replace(problem_from(raw), sharing=False)
    front = berth.front(problem, "response_time", "enrolled_card", time_limit=None)
    assert front.complete
    assert len(front.points) > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("respons_time", "traffic"), "no metric named 'respons_time'; did you mean 'response_time'"),
        (("traffic", "traffic"), "traffic twice; a front lies between two different metrics"),
        (("response_time", "traffic", 1), "--points: 1 is below 2"),
        (("response_time", "traffic", 3, "round-robin"), "choose one of auto, odp, search"),
        (("response_time", "failover_response_time"), r"nothing is lost without 'survive'"),
    ],
)
def test_mistakes(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        berth.front(problem_from(chain(0)), *arguments)
