"""Pipelines, fans and several of them: the optimum of enumeration, or of the general model."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import berth
from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.exact.minimise import Solution, minimise
from berth.exact.placement import Placement, Sampling
from berth.exact.structure.by_shape import solve_by_structure
from berth.exact.structure.shape import Fan, Pipeline, parts_of
from berth.exact.task import ExactTask
from berth.files import problem_from
from berth.model import Problem
from tests.exact.instances import best_fat_response_time, document, paper_instance
from tests.exact.structure.brute import best_response_time, random_problem

GOAL = Goal({"response_time": 1.0})
QUIET = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck), derandomize=True)


def solved(problem: Problem, **more: Any) -> Solution:
    return minimise(Setting(problem), GOAL, Budget(60), **more)


def assert_optimal(problem: Problem, expected: float) -> None:
    found = solved(problem)
    if np.isinf(expected):
        assert found.status == "infeasible"
    else:
        assert found.status == "optimal"
        assert found.objective == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert found.bound == pytest.approx(expected, rel=1e-9, abs=1e-12)


@QUIET
@given(st.integers(0, 10**6), st.sampled_from(["pipeline", "fan"]), st.integers(3, 7), st.integers(1, 4))
def test_against_enumeration(seed: int, kind: str, operators: int, nodes: int) -> None:
    """Asymmetric delays, missing links, resources, speeds, pins, candidates, deadlines, `together`."""
    problem = random_problem(
        np.random.default_rng(seed), kind, operators, min(nodes, 3 if operators > 6 else 4)
    )
    assert_optimal(problem, best_response_time(problem))


@QUIET
@given(st.integers(0, 10**6), st.integers(3, 6))
def test_other_graphs_against_enumeration(seed: int, operators: int) -> None:
    """What a path of a graph shows is never more than the optimum, which the general model then finds."""
    problem = random_problem(np.random.default_rng(seed), "dag", operators, 4)
    expected = best_response_time(problem)
    assert_optimal(problem, expected)
    placement = Placement(Setting(problem))
    if all(map(len, placement.candidates)) and parts_of(placement) is None:
        path = solve_by_structure(ExactTask(placement, GOAL, Budget(60), lambda _: None))
        assert path is None or path.bound <= expected * (1 + 1e-9)


def test_a_path_bounds_the_rest() -> None:
    """Forks and joins one after the other: the path through them needs many nodes, and says so."""
    streams = [(k, k + step) for k in (0, 3, 6) for step in (1, 2)]
    streams += [(k + step, k + 3) for k in (0, 3, 6) for step in (1, 2)]
    delays = (5 * (1 - np.eye(6))).tolist()
    nodes = [{"name": f"n{k}", "capacity": {"cpu": 2}} for k in range(6)]
    operators = [{"name": f"o{k}", "demand": {"cpu": 1}} for k in range(10)]
    pairs = [{"from": f"o{one}", "to": f"o{other}"} for one, other in streams]
    problem = problem_from(document(nodes, delays, operators, pairs))
    found = solved(problem)
    assert found.status == "optimal"
    assert found.trace["structure"]["path"] == 7
    assert found.trace["structure"]["bound"] == pytest.approx(15.0)


@settings(QUIET, max_examples=25)
@given(st.integers(0, 10**6))
def test_several_parts_against_enumeration(seed: int) -> None:
    """Two applications on the same nodes: alone, one after the other, or by the general model."""
    generator = np.random.default_rng(seed)
    one = random_problem(generator, "pipeline", int(generator.integers(1, 4)), 3)
    other = random_problem(generator, "pipeline", int(generator.integers(1, 4)), 3)
    second = replace(other.applications[0], name="b")
    both = replace(one, applications=(*one.applications, second))
    assert_optimal(both, best_response_time(both))


@pytest.mark.parametrize("kind", ["sequential", "fat"])
@pytest.mark.parametrize(("operators", "nodes", "capacity"), [(8, 5, 2), (6, 6, 1), (9, 5, 4)])
def test_against_the_general_model(kind: str, operators: int, nodes: int, capacity: int) -> None:
    """The paper's instances: the general model proves the same response time."""
    problem = paper_instance(kind, operators, nodes, seed=5, capacity=capacity)
    found, general = solved(problem), solved(problem, ties="first")
    assert found.trace["method"] in ("pipeline", "fan")
    assert general.trace["method"] == "general"
    assert found.status == general.status == "optimal"
    assert found.objective == pytest.approx(general.objective, rel=1e-9)


@pytest.mark.parametrize(("operators", "nodes", "capacity"), [(20, 20, 4), (50, 20, 4), (20, 100, 2)])
def test_large_fans(operators: int, nodes: int, capacity: int) -> None:
    """Equal operators in the middle: the optimum that filling by detour gives."""
    problem = paper_instance("fat", operators, nodes, capacity=capacity)
    assert_optimal(problem, best_fat_response_time(problem, capacity))


def test_hardly_different_operators_come_to_the_same() -> None:
    """Operators that are all alike, and the same with a little more of everything."""
    problem = paper_instance("sequential", 20, 12, seed=2, capacity=3)
    graph = problem.applications[0]
    uneven = replace(
        graph,
        operators=tuple(
            replace(item, demand={**item.demand, "cpu": 1.0 + 1e-3 * (k == 0)})
            for k, item in enumerate(graph.operators)
        ),
    )
    nodes = tuple(replace(node, capacity={"cpu": 3.0 + 1e-3}) for node in problem.network.nodes)
    other = replace(problem, applications=(uneven,), network=replace(problem.network, nodes=nodes))
    one, two = solved(problem), solved(other)
    assert (one.trace["method"], two.trace["method"]) == ("pipeline", "pipeline")
    assert one.status == two.status == "optimal"
    assert one.objective == pytest.approx(two.objective, rel=1e-9)


def test_a_node_is_used_again() -> None:
    """Where the way through a node that was visited is shorter, or only it has room left, it is taken."""
    nodes = [{"name": name, "capacity": {"cpu": size}} for name, size in (("a", 2), ("b", 5))]
    operators = [{"name": f"o{k}", "demand": {"cpu": size}} for k, size in enumerate((1, 5, 1))]
    streams = [{"from": one, "to": other} for one, other in pairwise(["o0", "o1", "o2"])]
    problem = problem_from(document(nodes, [[0, 3], [4, 0]], operators, streams))
    plan = berth.solve(problem)
    assert plan.assignment == {"a/o0": "a", "a/o1": "b", "a/o2": "a"}
    assert plan.objective == 7
    delays = [[0, 1, 9], [1, 0, 1], [9, 9, 0]]
    equal = [{"name": f"o{k}", "demand": {"cpu": 1}} for k in range(4)]
    nodes = [{"name": name, "capacity": {"cpu": size}} for name, size in (("a", 1), ("b", 2), ("c", 1))]
    streams = [{"from": f"o{k}", "to": f"o{k + 1}"} for k in range(3)]
    again = problem_from(document(nodes, delays, [{**equal[0], "pinned": "b"}, *equal[1:]], streams))
    assert_optimal(again, best_response_time(again))
    assert berth.solve(again).objective == 3


def test_other_constraints_are_kept() -> None:
    """A link that bears no stream is none; where a rule is broken, a method that holds rules goes on."""
    nodes = [{"name": f"n{k}", "capacity": {"cpu": 1}} for k in range(3)]
    delays = [[0, 1, 5], [1, 0, 9], [5, 9, 0]]
    operators = [{"name": name, "demand": {"cpu": 1}, "emits_bytes_per_s": 100} for name in ("s", "t")]
    bandwidth = [[None, 10, None], [10, None, None], [None, None, None]]
    network = {"bandwidth_bytes_per_s": bandwidth}
    problem = problem_from(document(nodes, delays, operators, [{"from": "s", "to": "t"}], network=network))
    plan = berth.solve(problem)
    assert plan.status == "optimal"
    assert plan.objective == 5
    assert plan.trace["method"] == "pipeline"
    rule = {"rules": [{"apart": ["s", "t"], "by": "zone"}]}
    zones = [{**node, "labels": {"zone": zone}} for node, zone in zip(nodes, "xxy", strict=True)]
    streams = [{"from": "s", "to": "t"}]
    apart = berth.solve(problem_from(document(zones, delays, operators, streams, application=rule)))
    assert apart.status == "optimal"
    assert apart.objective == 5
    assert apart.trace["method"] == "search"
    assert apart.trace["structure"]["bound"] <= 1


def test_a_deadline_that_nothing_meets() -> None:
    """No plan is fast enough: infeasible, by the bound."""
    problem = paper_instance("sequential", 20, 20)
    late = replace(problem.applications[0], max_response_time_ms=30.0)
    assert solved(replace(problem, applications=(late,))).status == "infeasible"


def test_out_of_time_keeps_the_best_plan() -> None:
    """A plan and a bound below it, also when there was no time to search."""
    problem = random_problem(np.random.default_rng(7), "pipeline", 30, 12)
    found = minimise(Setting(problem), GOAL, Budget(1e-9))
    if found.objective is not None:
        assert found.bound is not None
        assert found.bound <= found.objective * (1 + 1e-9)


def test_shapes() -> None:
    """What is a pipeline, what is a fan, and what is neither."""

    def shape(streams: list[tuple[str, str]], **more: Any) -> Any:
        names = sorted({name for pair in streams for name in pair} | {"a"})
        operators = [{"name": name, **more} for name in names]
        pairs = [{"from": one, "to": other} for one, other in streams]
        return parts_of(Placement(Setting(problem_from(document([{"name": "n"}], [[0]], operators, pairs)))))

    assert shape([]) == [Pipeline((0,))]
    assert shape([("b", "a"), ("a", "c")]) == [Pipeline((1, 0, 2))]
    assert shape([("a", "b"), ("c", "d")]) == [Pipeline((0, 1)), Pipeline((2, 3))]
    assert shape([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]) == [Fan(0, (1, 2), 3)]
    assert shape([("a", "b"), ("a", "c")]) == [Fan(0, (1, 2), None)]
    assert shape([("a", "c"), ("b", "c")]) == [Fan(None, (0, 1), 2)]
    assert shape([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")]) is None
    assert shape([("a", "b"), ("a", "c"), ("c", "d")]) is None


def test_sampled_candidates() -> None:
    """With a share of the candidates the search over runs and the general model agree."""
    problem = paper_instance("sequential", 8, 8, seed=3, capacity=2)
    sampling = Sampling(0.5, 1)
    found = solved(problem, sampling=sampling)
    general = solved(problem, sampling=sampling, ties="first")
    assert found.trace["method"] == "pipeline"
    assert found.status == "optimal"
    assert found.objective == pytest.approx(general.objective, rel=1e-9)
