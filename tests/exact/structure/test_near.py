"""Another goal among the plans that are nearly as fast as can be: enumeration, and the paper's settings."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import Ceiling, Goal
from berth.exact.minimise import Solution, minimise
from berth.exact.placement import Placement
from berth.exact.structure import near
from berth.files import problem_document
from berth.model import Problem
from tests.exact.instances import paper_instance
from tests.exact.structure.brute import random_problem
from tests.exact.test_goals_against_enumeration import assert_best
from tests.exact.test_minimise import QUIET
from tests.oracle.goals import best_levels

FASTEST = Goal({"response_time": 1.0})
OTHERS = ("cost_per_hour", "nodes_used", "availability", "traffic", "network_usage", "utilisation_max")


def goal_problem(seed: int, kind: str, operators: int, nodes: int) -> dict[str, Any]:
    """A random pipeline or fan with prices, availabilities and rates, and two or three goals in order."""
    generator = np.random.default_rng(seed)
    problem = problem_document(random_problem(generator, kind, operators, nodes))
    for node in problem["network"]["nodes"]:
        node["cost_per_hour"] = float(generator.integers(0, 4))
        node["availability"] = float(generator.choice([1.0, 0.99, 0.9]))
    application = problem["applications"][0]
    application.setdefault("throughput_per_s", 10.0)
    same = generator.random() < 0.5
    for stream in application["streams"]:
        stream["bytes_per_s"] = 100.0 if same else float(generator.integers(1, 4)) * 100.0
        stream["tuple_bytes"] = 10.0
    names = [item["name"] for item in application["operators"]]
    if generator.random() < 0.2:
        rules = application.setdefault("rules", [])
        rules.append({"apart": [str(name) for name in generator.choice(names, 2, replace=False)]})
    others = generator.choice(OTHERS, int(generator.integers(1, 3)), replace=False)
    problem["objective"] = [{"response_time": 1.0}, *({str(name): 1.0} for name in others)]
    if generator.random() < 0.2:
        problem["objective"][1] = {"cost_per_hour": 1.0, "traffic": 0.01, "availability": 3.0}
        problem["objective_scale"] = "raw"
    problem["objective_within"] = [float(generator.choice([0.0, 0.05, 0.5]))]
    return problem


@settings(QUIET, max_examples=150)
@given(st.integers(0, 10**6), st.sampled_from(["pipeline", "fan"]), st.integers(3, 5), st.integers(2, 4))
def test_against_enumeration(seed: int, kind: str, operators: int, nodes: int) -> None:
    """Equal and different operators, tight and loose ceilings, and what is left to the judge."""
    problem = goal_problem(seed, kind, operators, min(nodes, 3 if operators > 4 else 4))
    assert_best(problem, best_levels(problem))


def priced(problem: Problem) -> Problem:
    """With a price for every node, and availabilities."""
    generator = np.random.default_rng(7)
    nodes = tuple(
        replace(
            node,
            cost_per_hour=float(generator.integers(1, 20)),
            availability=1.0 - float(generator.integers(0, 50)) / 1000,
        )
        for node in problem.network.nodes
    )
    return replace(problem, network=replace(problem.network, nodes=nodes))


def under_a_ceiling(problem: Problem, name: str, within: float) -> Solution:
    """The best plan for a metric among those that are near to the fastest one."""
    fastest = minimise(Setting(problem), FASTEST, Budget(60))
    assert fastest.objective is not None
    setting = Setting(problem, ceilings=(Ceiling.near(FASTEST, fastest.objective, within),))
    return minimise(setting, Goal({name: 1.0}), Budget(60))


@pytest.mark.parametrize("name", ["cost_per_hour", "availability", "traffic"])
@pytest.mark.parametrize("kind", ["sequential", "fat"])
def test_settings_of_the_paper_are_proved_by_a_list(kind: str, name: str) -> None:
    """Twenty operators on twenty nodes: no general model is needed."""
    found = under_a_ceiling(priced(paper_instance(kind, 20, 20)), name, 1e-6)
    assert found.status == "optimal"
    assert found.trace["method"] == "near plans"


@pytest.mark.parametrize("kind", ["sequential", "fat"])
def test_the_general_model_agrees(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the ceiling leaves some choice, both prove the same."""
    problem = priced(paper_instance(kind, 8, 8, capacity=3))
    listed = under_a_ceiling(problem, "cost_per_hour", 0.05)
    assert listed.trace["method"] == "near plans"
    monkeypatch.setattr("berth.exact.minimise.solve_near", lambda task: None)
    general = under_a_ceiling(problem, "cost_per_hour", 0.05)
    assert (listed.status, general.status) == ("optimal", "optimal")
    assert listed.trace["method"] != general.trace["method"]
    assert listed.objective == pytest.approx(general.objective, rel=1e-9)


def test_too_many_plans_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its steps the list is given up, and the general model finds the same."""
    problem = priced(paper_instance("sequential", 6, 6, capacity=2))
    expected = under_a_ceiling(problem, "cost_per_hour", 0.05)
    monkeypatch.setattr(near, "STAGES", ((2, 100, 0),))
    found = under_a_ceiling(problem, "cost_per_hour", 0.05)
    assert found.trace["method"] != "near plans"
    assert found.objective == expected.objective


def test_different_operators_of_a_fan_keep_near_candidates() -> None:
    """No plan that is fast enough is lost, and most nodes are, before the general model goes on."""
    kept = []
    for seed in range(20):
        problem = random_problem(np.random.default_rng(seed), "fan", 5, 4)
        fastest = minimise(Setting(problem), FASTEST, Budget(60))
        placement = Placement(Setting(problem))
        if fastest.nodes is None or fastest.objective is None:
            continue
        fits = near.near_candidates(placement, fastest.objective * (1 + 1e-6))
        if fits is not None:
            there = [nodes[fit] for nodes, fit in zip(placement.candidates, fits, strict=True)]
            assert all(node in nodes for node, nodes in zip(fastest.nodes, there, strict=True))
            kept.append(sum(map(np.count_nonzero, fits)) / sum(map(len, fits)))
    assert len(kept) > 5
    assert np.mean(kept) < 0.9


def test_goals_in_order_name_the_method() -> None:
    """The trace of a plan says how its second goal was proved."""
    problem = replace(priced(paper_instance("fat", 10, 10)), then=({"cost_per_hour": 1.0},))
    plan = berth.solve(problem, ties="any")
    assert plan.status == "optimal"
    assert [level["method"] for level in plan.trace["levels"]] == ["near plans"]
