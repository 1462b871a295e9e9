"""The search's own sums against the judge, and its plans against the best there are."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting, evaluate
from berth.evaluation.goal import Goal
from berth.evaluation.situation import assignment_of
from berth.exact.paths import PathTimes
from berth.exact.placement import Placement
from berth.exact.start import first_plan
from berth.files import plan_from, problem_from
from berth.model import BadInput, Plan, Problem
from berth.policies.policy import Task
from berth.policies.search import Search, SearchParameters, cycles
from berth.policies.search.cycles import LocalSearch
from tests.exact.instances import best_fat_response_time, document, paper_instance
from tests.oracle.enumerate import optimum
from tests.oracle.problems import CONTAINER_OBJECTIVES, OBJECTIVES, previous_plans, solvable_problems

QUIET = settings(deadline=None, max_examples=12, suppress_health_check=list(HealthCheck))
SEARCHED = [name for name in OBJECTIVES if name not in CONTAINER_OBJECTIVES]


def without_reads(problem: dict[str, Any]) -> dict[str, Any]:
    """Downloads are chosen after the search: they are not part of its sums."""
    problem = {**problem, "sharing": False}
    for application in problem["applications"]:
        for operator in application["operators"]:
            operator.pop("reads", None)
    return problem


def searched(problem: Problem, goal: Goal, previous: Plan | None, steps: int) -> LocalSearch | None:
    """A search that has run; None where some block fits nowhere."""
    search = LocalSearch(Placement(Setting(problem, previous), prune=False), goal, seed=1)
    if (search.case.choices == 0).any():
        return None
    search.start()
    search.run(Budget(None), steps, lambda: None)
    return search


def check_sums(problem: Problem, goal: Goal, previous: Plan | None) -> None:
    """Value and broken constraints are the judge's, of the plan of the moment and of the best one."""
    search = searched(problem, goal, previous, steps=400)
    if search is None:
        return
    nodes, value, broken = search.current
    states = [(nodes, value, broken)]
    if search.whole:
        states.append((search.nodes, search.value, 0.0))
    for blocks, total, excess in states:
        plan = Plan(assignment_of(problem, search.placement.nodes_of_instances(blocks)))
        judged = evaluate(problem, plan, previous)
        assert (excess <= 1e-9) == (not judged.violations), judged.violations
        objective = goal.value(judged.metrics)
        unavailable = judged.metrics.get("availability", 1.0) < 1e-11
        if objective is not None and not (unavailable and "availability" in goal.weights):
            assert math.isclose(goal.from_costs(total), objective, rel_tol=1e-6, abs_tol=1e-9)


@pytest.mark.parametrize("objective", SEARCHED)
def test_every_sum_is_the_judges(objective: str) -> None:
    """Whatever the objective, and however tight the constraints."""

    @QUIET
    @given(st.data())
    def check(data: st.DataObject) -> None:
        raw = without_reads(data.draw(solvable_problems(objective, max_nodes=5, max_instances=8)))
        before = data.draw(previous_plans(raw)) if objective.startswith("moved") else None
        previous = None if before is None else plan_from(before)
        check_sums(problem_from(raw), Goal({objective: 1.0}), previous)

    check()


@settings(QUIET, max_examples=25)
@given(st.data())
def test_weighted_sums_are_the_judges(data: st.DataObject) -> None:
    """Several metrics at once, raw: availability is the product itself then."""
    raw = without_reads(data.draw(solvable_problems("traffic", max_nodes=5, max_instances=8)))
    weights = {"traffic": 1.0, "response_time": 0.3, "availability": 2.0, "nodes_used": 0.5}
    check_sums(problem_from(raw), Goal(weights, "raw"), None)


@settings(QUIET, max_examples=25)
@given(st.data())
def test_weighted_times_are_the_judges(data: st.DataObject) -> None:
    """Both kinds of response time beside a sum: paths are judged exactly then, not only within bounds."""
    raw = without_reads(data.draw(solvable_problems("response_time", max_nodes=5, max_instances=8)))
    weights = {"response_time": 1.0, "loaded_response_time": 0.5, "traffic": 0.1}
    check_sums(problem_from(raw), Goal(weights, "raw"), None)


def test_where_paths_count_it_begins_no_worse_than_the_exact_engine() -> None:
    """Without a single step."""
    problem = paper_instance("fat", 20, 20)
    placement = Placement(Setting(problem), prune=False)
    blocks = first_plan(placement, Goal({"response_time": 1.0}), PathTimes(placement))
    assert blocks is not None
    greedy = evaluate(problem, Plan(assignment_of(problem, placement.nodes_of_instances(blocks))))
    assert not greedy.violations
    plan = berth.solve(problem, Search(), steps=0, time_limit=None)
    assert plan.objective is not None
    assert plan.objective <= greedy.metrics["response_time_ms"] * (1 + 1e-12)


@pytest.mark.parametrize("objective", ["response_time", "network_usage", "availability", "nodes_used"])
def test_small_problems_are_solved_to_the_optimum(objective: str) -> None:
    """Of all plans that keep the constraints, none is better; where there is none, none is found."""

    @QUIET
    @given(st.data())
    def check(data: st.DataObject) -> None:
        raw = without_reads(data.draw(solvable_problems(objective)))
        metric = METRIC_BY_NAME[objective]
        best = optimum(raw, metric.key, metric.maximise)
        plan = berth.solve(problem_from(raw), Search(), steps=30_000, time_limit=None)
        if best is None:
            assert plan.status == "unknown"
            assert plan.reason is not None
            assert plan.reason.startswith("no plan found")
        else:
            assert plan.status == "feasible"
            assert plan.bound is None
            assert plan.objective == pytest.approx(best, rel=1e-9, abs=1e-9)

    check()


def test_a_fat_application() -> None:
    """Twenty operators on twenty nodes, where the optimum is known."""
    problem = paper_instance("fat", 20, 20)
    plan = berth.solve(problem, Search(), steps=300_000, time_limit=None)
    assert plan.objective == pytest.approx(best_fat_response_time(problem, 4))
    seconds, objectives = np.array(plan.trace["incumbents"]).T
    assert (np.diff(seconds) >= 0).all()
    assert (np.diff(objectives) < 0).all()
    assert objectives[-1] == plan.objective


def test_the_same_steps_give_the_same_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often the clock is looked at in between."""
    problem = paper_instance("sequential", 12, 8)
    one = berth.solve(problem, Search(), steps=20_000, seed=3, time_limit=None)
    monkeypatch.setattr(cycles, "SLICE", 1e-5)
    monkeypatch.setattr(cycles, "FIRST_SLICE", 77)
    other = berth.solve(problem, Search(), steps=20_000, seed=3, time_limit=None)
    assert one.assignment == other.assignment


def test_a_plan_that_is_known_is_where_it_begins() -> None:
    """Without a single step, the better of its own first plan and the one that it is given."""
    problem = paper_instance("fat", 20, 20)
    setting, parameters = Setting(problem), SearchParameters(steps=0)
    good = Search().solve(Task(setting, SearchParameters(steps=20_000), 0, Budget(None))).nodes
    assert good is not None
    first = Search().solve(Task(setting, parameters, 0, Budget(None))).nodes
    again = Search().solve(Task(setting, parameters, 0, Budget(None), start=good)).nodes
    assert first is not None
    assert again is not None
    assert not np.array_equal(first, good)
    assert np.array_equal(again, good)


def test_what_can_not_be_is_named() -> None:
    """Two operators that need a whole node each, and only one node."""
    operators = [{"name": name, "demand": {"cpu": 3}} for name in "st"]
    raw = document([{"name": "u", "capacity": {"cpu": 4}}, {"name": "v"}], [[0, 1], [1, 0]], operators, [])
    plan = berth.solve(problem_from(raw), Search(), steps=2_000, time_limit=None)
    assert plan.status == "unknown"
    assert plan.reason is not None
    assert "cpu 6 needed, 4 there" in plan.reason
    raw["network"]["nodes"][0]["capacity"] = {"cpu": 2}
    plan = berth.solve(problem_from(raw), Search(), steps=2_000, time_limit=None)
    assert plan.reason == "no plan found: no node may host a/s and has room for it"


def test_containers_are_refused_with_a_way_out() -> None:
    """It fills no containers, and says who does."""
    containers = {"containers": {"count": 1, "capacity": {}}}
    raw = document([{"name": "u"}], [[0]], [{"name": "s"}], [], application=containers)
    plan = berth.solve(problem_from(raw), Search())
    assert plan.status == "unknown"
    assert plan.reason == "search fills no containers; try --policy mips"


def test_bad_parameters_are_named() -> None:
    """Steps can't be negative."""
    with pytest.raises(BadInput, match="steps: -1 is below 0"):
        berth.solve(paper_instance("fat", 5, 5), Search(), steps=-1)
