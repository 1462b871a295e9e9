"""Several plans: each against the enumeration of all plans, and what is said where there are fewer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pytest

import berth
from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting, evaluate
from berth.evaluation.evaluate import evaluation_of
from berth.evaluation.goal import Goal
from berth.evaluation.situation import Situation, Unlike, assigned_nodes, assignment_of
from berth.exact.minimise import minimise
from berth.files import problem_from
from berth.model import BadInput, Plan, Problem
from berth.policies.alternatives import Alternatives
from tests.exact.instances import document
from tests.oracle.enumerate import feasible_situations
from tests.oracle.metrics import metric
from tests.policies.test_front import chain


def with_copies(seed: int) -> dict[str, Any]:
    """Three operators, the middle one twice, and twins: what can be swapped must not be lost."""
    raw = chain(seed)
    operators = raw["applications"][0]["operators"][:3]
    operators[1]["parallelism"] = 2
    operators.append({**operators[2], "name": "twin"})
    raw["applications"][0]["operators"] = operators
    raw["applications"][0]["streams"] = [
        {"from": "o0", "to": "o1", "bytes_per_s": 40},
        {"from": "o1", "to": "o2", "bytes_per_s": 20},
        {"from": "o1", "to": "twin", "bytes_per_s": 20},
    ]
    raw["network"]["nodes"] = [{**node, "capacity": {"cpu": 3}} for node in raw["network"]["nodes"][:3]]
    raw["network"]["delay_ms"] = [row[:3] for row in raw["network"]["delay_ms"][:3]]
    return raw


def homes(assignment: dict[str, str]) -> dict[str, Counter[str]]:
    """The nodes of each operator, whichever instance is on which."""
    found: dict[str, Counter[str]] = {}
    for instance, node in assignment.items():
        found.setdefault(instance.partition("#")[0], Counter())[node] += 1
    return found


def differing(one: dict[str, str], other: dict[str, str]) -> int:
    return sum(homes(one)[name] != homes(other)[name] for name in homes(one))


def enumerated(raw: dict[str, Any], objective: str) -> list[tuple[float, dict[str, str]]]:
    key = METRIC_BY_NAME[objective].key
    found = []
    for situation in feasible_situations(raw):
        value = metric(situation, key)
        assert value is not None
        nodes = {name: situation.node_name(number) for name, number in situation.assignment.items()}
        found.append((value, nodes))
    return found


def check(raw: dict[str, Any], objective: str, found: Alternatives, count: int) -> None:
    """Each plan is the best of those that differ enough from all before it, and there are no more."""
    problem, everything = problem_from(raw), enumerated(raw, objective)
    sign = -1.0 if METRIC_BY_NAME[objective].maximise else 1.0
    best = min(sign * value for value, _ in everything)
    limit = best + found.within * abs(best)
    chosen: list[dict[str, str]] = []
    for plan in found.plans:
        verdict = evaluate(problem, plan)
        assert verdict.violations == ()
        assert plan.objective is not None
        left = _left(everything, chosen, found.differ)
        assert sign * plan.objective <= limit + 1e-9 * abs(limit)
        assert math.isclose(sign * plan.objective, min(sign * v for v, _ in left), rel_tol=1e-6, abs_tol=1e-9)
        chosen.append(dict(plan.assignment))
    for one, other in combinations(chosen, 2):
        assert differing(one, other) >= found.differ
    for plan, names in zip(found.plans, found.elsewhere, strict=True):
        assert len(names) == differing(chosen[0], dict(plan.assignment))
        assert plan.trace["alternative"]["differs"] == len(names)
    if len(chosen) < count:
        rest = _left(everything, chosen, found.differ)
        assert all(sign * value > limit - 1e-6 * abs(limit) for value, _ in rest)
        assert found.exhausted
        assert "no other plan is within" in str(found.reason)


def _left(everything: Any, chosen: list[dict[str, str]], least: int) -> list[tuple[float, dict[str, str]]]:
    return [
        (value, plan) for value, plan in everything if all(differing(plan, one) >= least for one in chosen)
    ]


CASES = [("response_time", 0.3, 1), ("cost_per_hour", 0.2, 2), ("availability", 0.02, 1), ("traffic", 0.5, 3)]


@pytest.mark.parametrize("make", [chain, with_copies])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("objective", "within", "differ"), CASES)
def test_against_enumeration(make: Any, seed: int, objective: str, within: float, differ: int) -> None:
    raw = {**make(seed), "objective": {objective: 1}}
    found = berth.alternatives(problem_from(raw), 6, within, differ, time_limit=300)
    check(raw, objective, found, 6)


def test_all_there_are() -> None:
    """Nine plans for two operators on three nodes; none is left out because nodes or operators are alike."""
    raw = document(
        [{"name": name} for name in "abc"],
        [[0 if one == other else 1 for one in range(3)] for other in range(3)],
        [{"name": "x"}, {"name": "y"}],
        [],
        objective={"cost_per_hour": 1},
    )
    found = berth.alternatives(problem_from(raw), 20, 0.0, 1)
    assert len(found.plans) == 9
    assert found.exhausted
    assert len({tuple(plan.assignment.items()) for plan in found.plans}) == 9


def search_steps(problem: Problem, count: int, **more: Any) -> Alternatives:
    return berth.alternatives(problem, count, 0.5, 2, "search", steps=4_000, **more)


def test_searched_plans_differ_and_are_near() -> None:
    raw = {**with_copies(0), "objective": {"cost_per_hour": 1}}
    found = search_steps(problem_from(raw), 4)
    assert len(found.plans) > 1
    assert found.plans[0].bound is None
    values = [plan.objective or 0.0 for plan in found.plans]
    assert values == sorted(values)
    assert values[-1] <= 1.5 * values[0] * (1 + 1e-9)
    for one, other in combinations(found.plans, 2):
        assert differing(dict(one.assignment), dict(other.assignment)) >= 2
    for plan in found.plans:
        assert evaluate(problem_from(raw), plan).violations == ()


def test_the_same_seed_gives_the_same_plans() -> None:
    problem = problem_from({**chain(1), "objective": {"response_time": 1}})
    runs = [[plan.assignment for plan in berth.alternatives(problem, 4, 0.5, seed=5).plans] for _ in range(2)]
    assert runs[0] == runs[1]


def test_proofs_are_about_all_plans() -> None:
    """The bound is the best plan's, and only plans that reach it are optimal."""
    problem = problem_from({**chain(0), "objective": {"response_time": 1}})
    found = berth.alternatives(problem, 4, 1.0)
    best, *others = found.plans
    assert best.status == "optimal"
    for plan in others:
        assert plan.bound == best.bound
        assert plan.gap is not None
        assert plan.objective is not None
        assert plan.status == ("optimal" if plan.gap <= 1e-6 else "feasible")
    assert any(plan.status == "feasible" for plan in others)


def test_sums_stay_on_one_scale() -> None:
    """A normalised sum: within is absolute, and all plans are measured by the same bounds."""
    weights = {"response_time": 1.0, "cost_per_hour": 1.0}
    problem = problem_from({**chain(0), "objective": weights})
    found = berth.alternatives(problem, 5, 0.3)
    assert len(found.plans) > 1
    scales = [plan.trace["objective_bounds"] for plan in found.plans]
    assert all(scale == scales[0] for scale in scales)
    goal = Goal(weights, bounds={name: (low, high) for name, (low, high) in scales[0].items()})
    values = [goal.value(plan.metrics) or 0.0 for plan in found.plans]
    assert values == pytest.approx([plan.objective for plan in found.plans])
    assert max(values) <= values[0] + 0.3 + 1e-9


def test_goals_in_order() -> None:
    """The first goal says who is near enough; levels beyond it prove nothing of alternatives."""
    problem = problem_from({**chain(2), "objective": [{"response_time": 1}, {"cost_per_hour": 1}]})
    found = berth.alternatives(problem, 3, 0.5)
    best, *others = found.plans
    assert others
    for plan in others:
        assert plan.metrics["response_time_ms"] <= 1.5 * best.metrics["response_time_ms"] * (1 + 1e-9)
        assert [level["bound"] for level in plan.levels] == [best.bound, None]
        assert plan.status == "feasible"


def test_no_plan_at_all() -> None:
    raw = document(
        [{"name": "n"}, {"name": "m"}], [[0, 1], [1, 0]], [{"name": "o", "demand": {"cpu": 1}}], []
    )
    found = berth.alternatives(problem_from(raw), 3)
    assert [plan.status for plan in found.plans] == ["infeasible"]
    assert "cpu" in str(found.reason)


def test_what_is_there_when_it_is_stopped() -> None:
    problem = problem_from({**chain(1), "objective": {"response_time": 1}})
    budget = Budget()
    heard = []

    def stop(told: Any) -> None:
        heard.append(told.stage)
        if told.stage.startswith("plan 2"):
            budget.stop("interrupted")

    found = search_steps(problem, 4, budget=budget, progress=stop)
    assert 1 <= len(found.plans) <= 2
    assert {"plan 1 of 4", "plan 2 of 4"} <= set(heard)
    assert not found.exhausted
    assert found.reason == "interrupted" or "no other plan was found" in str(found.reason)


def test_a_default_for_the_difference() -> None:
    """A tenth of the operators that have a choice, and at least one."""
    nodes, delays = [{"name": "n"}, {"name": "m"}], [[0, 1], [1, 0]]
    for count, expected in ((3, 1), (29, 2)):
        operators = [{"name": f"o{k}", **({"pinned": "n"} if k % 10 == 9 else {})} for k in range(count)]
        found = berth.alternatives(problem_from(document(nodes, delays, operators, [])), 1)
        assert found.differ == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "--alternatives: 0 is below 1"),
        ((2, -0.1), "--within: -0.1 is no share of at least 0"),
        ((2, 0.1, 0), "--differ: 0 is below 1"),
        ((2, 0.1, 5), "--differ: 5 is too much; 4 operators may run on more than one node"),
        (
            (2, 0.1, 1, "ffd"),
            "ffd can't keep one goal while it seeks another; choose one of auto, odp, search",
        ),
    ],
)
def test_mistakes(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        berth.alternatives(problem_from(chain(0)), *arguments)


def assignments(problem: Problem) -> Iterator[Plan]:
    names = [node.name for node in problem.network.nodes]
    for nodes in product(names, repeat=len(problem.instances)):
        yield Plan(dict(zip(problem.instances.names, nodes, strict=True)))


def test_the_judge_counts_operators() -> None:
    """Instances of one operator that swap places are where they were."""
    problem = problem_from(with_copies(0))
    known = next(assignments(problem))
    unlike = Unlike(assigned_nodes(problem, known), 2)
    for plan in assignments(problem):
        count = differing(dict(plan.assignment), dict(known.assignment))
        lines = evaluation_of(Situation(Setting(problem, unlike=(unlike,)), plan)).violations
        told = [line for line in lines if "known plan" in line]
        operators = "1 operator" if count == 1 else f"{count} operators"
        assert told == ([] if count >= 2 else [f"differs from a known plan in {operators}, 2 asked"])


def test_a_model_without_any_plan_left() -> None:
    """Where all plans but one are known, that one is found; where all are known, none, by proof."""
    problem = problem_from({**with_copies(0), "objective": {"nodes_used": 1}})
    last = Plan(dict(zip(problem.instances.names, ("n0", "n1", "n2", "n1", "n2"), strict=True)))
    assert evaluate(problem, last).violations == ()
    others = (
        plan for plan in assignments(problem) if differing(dict(plan.assignment), dict(last.assignment))
    )
    known = tuple(Unlike(assigned_nodes(problem, plan), 1) for plan in others)
    goal = Goal({"nodes_used": 1.0})
    found = minimise(Setting(problem, unlike=known), goal, Budget())
    assert found.status == "optimal"
    assert found.nodes is not None
    assert differing(dict(assignment_of(problem, found.nodes)), dict(last.assignment)) == 0
    all_of_them = (*known, Unlike(assigned_nodes(problem, last), 1))
    assert minimise(Setting(problem, unlike=all_of_them), goal, Budget()).status == "infeasible"
