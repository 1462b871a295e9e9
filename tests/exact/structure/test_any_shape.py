"""The search over small graphs of any shape: the same optimum and the same verdict as the general model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.exact import minimise as engine
from berth.exact.minimise import METHODS, Solution, minimise
from berth.exact.structure import any_shape
from berth.model import Apart, Problem
from tests.exact.structure.brute import best_response_time, random_problem
from tests.exact.test_minimise import braid

GOAL = Goal({"response_time": 1.0})


def by_the_general_model(problem: Problem) -> Solution:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "METHODS", {"general": METHODS["general"]})
        return minimise(Setting(problem), GOAL, Budget(60))


def zoned(problem: Problem, generator: np.random.Generator) -> Problem:
    """The same with nodes in two zones, and two operators that must not be in one."""
    nodes = tuple(
        replace(node, labels={"zone": "xy"[k]})
        for node, k in zip(problem.network.nodes, generator.integers(0, 2, 4).tolist(), strict=False)
    )
    application = problem.applications[0]
    names = tuple(item.name for item in application.operators[:2])
    rules = (*application.rules, Apart(names, by="zone"))
    return replace(
        problem,
        network=replace(problem.network, nodes=nodes),
        applications=(replace(application, rules=rules),),
    )


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.integers(0, 10**6), st.booleans())
def test_against_the_general_model(seed: int, zones: bool) -> None:
    """Tight room, missing links, deadlines and, by zone, a rule."""
    generator = np.random.default_rng(seed)
    problem = random_problem(generator, "dag", int(generator.integers(3, 7)), 4)
    problem = zoned(problem, generator) if zones else problem
    found, general = minimise(Setting(problem), GOAL, Budget(60)), by_the_general_model(problem)
    assert found.status == general.status
    if found.status == "infeasible":
        return
    assert found.objective == pytest.approx(general.objective, rel=1e-9)
    assert found.bound == pytest.approx(general.bound, rel=1e-9)
    if not zones:
        assert found.objective == pytest.approx(best_response_time(problem), rel=1e-9)


def test_it_settles_small_graphs() -> None:
    """Two operators on each of some levels, with as much room as a level and a half needs."""
    found = minimise(Setting(braid(6, 6)), GOAL, Budget(60))
    assert found.trace["method"] == "search"
    assert found.status == "optimal"
    assert found.objective == pytest.approx(by_the_general_model(braid(6, 6)).objective)


def test_what_takes_too_long_goes_on_to_the_general_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its plan is not lost, and the trace names the method that proved."""
    monkeypatch.setattr(any_shape, "MOST_STEPS", 50)
    monkeypatch.setattr(any_shape, "AT_ONCE", 10)
    found = minimise(Setting(braid(8, 6)), GOAL, Budget(60))
    assert found.trace["method"] == "general"
    assert found.status == "optimal"


def test_no_solver_is_loaded_for_the_example() -> None:
    """Tag-and-Count is proved by the search: what the solver takes to load, it takes for nothing."""
    plan = berth.solve(berth.load("examples/tag-and-count.yaml"), "odp")
    assert plan.status == "optimal"
    assert plan.trace["method"] == "search"
