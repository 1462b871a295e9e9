"""Plain sums in dense arrays: the same sums as the judge's, and the best plans of small problems."""

from itertools import product

import numpy as np
import pytest

import berth
from berth.evaluation import Setting, evaluate
from berth.evaluation.goal import Goal
from berth.evaluation.situation import assignment_of
from berth.exact.placement import Placement
from berth.files import problem_from
from berth.model import Plan, Problem
from berth.model.randomness import generator_for
from berth.policies.local_search import engine, plain
from berth.policies.local_search.case import IndexArray
from berth.policies.local_search.energy import WHOLE
from berth.policies.local_search.engine import LocalSearch
from berth.policies.local_search.plain_anneal import plain_anneal
from berth.policies.search import Search
from tests.exact.instances import document, paper_instance

WEIGHTS = {"communication_cost": 2.0, "placement_cost": 1.0}


def quadratic(seed: int, operators: int, nodes: int, tightness: float, candidates: bool = False) -> Problem:
    """Rates between most operators, distances that differ by direction, two resources."""
    generator = generator_for(seed)
    names = [f"n{node}" for node in range(nodes)]
    need = generator.integers(1, 20, (operators, 2)).astype(float)
    share = generator.uniform(0.6, 1.4, nodes)
    room = np.ceil(need.sum(axis=0) * (share / share.sum())[:, None] / tightness) + need.max(axis=0)
    items = [
        {
            "name": f"o{number}",
            "demand": {"cpu": need[number, 0], "memory": need[number, 1]},
            "placement_cost": dict(zip(names, generator.integers(0, 300, nodes).tolist(), strict=True)),
            **({"candidates": names[number % 2 :]} if candidates else {}),
        }
        for number in range(operators)
    ]
    streams = [
        {"from": f"o{one}", "to": f"o{other}", "bytes_per_s": float(generator.integers(1, 30))}
        for one in range(operators)
        for other in range(one + 1, operators)
        if generator.random() < 0.95
    ]
    distance = generator.integers(1, 10, (nodes, nodes)) * (1 - np.eye(nodes))
    raw = document(
        [
            {"name": name, "capacity": {"cpu": cpu, "memory": memory}}
            for name, (cpu, memory) in zip(names, room.tolist(), strict=True)
        ],
        (1.0 - np.eye(nodes)).tolist(),
        items,
        streams,
        network={"cost": distance.tolist()},
        objective=WEIGHTS,
        objective_scale="raw",
    )
    return problem_from(raw)


def search_of(problem: Problem, goal: Goal | None = None) -> LocalSearch:
    """A search before its first plan."""
    return LocalSearch(Placement(Setting(problem), prune=False), goal or Goal(WEIGHTS, "raw"), seed=0)


@pytest.mark.parametrize("seed", range(6))
def test_sums_and_table_are_the_judges(seed: int) -> None:
    """After shifts, swaps, pushes, exchanges of two for one and rings; hot, so that much is broken."""
    problem = quadratic(seed, 9, 4, 0.95, candidates=seed % 2 == 1)
    search = search_of(problem)
    search.start()
    case = plain.plain_of(search.case)
    assert case is not None
    walk = plain.walk_from(case, search._state)
    walk.numbers[[plain.PENALTY, plain.LEAST_PENALTY, plain.MOST_PENALTY]] = 50.0, 1.0, 1e4
    random = np.array([seed], dtype=np.uint64)
    for _ in range(8):
        plain_anneal(case, walk, random, np.array([0, 60, 60, 20, 0, 0]), 200.0, 20.0)
        check_walk(problem, search, case, walk)
    assert walk.numbers[plain.EVALUATED] > 100


def check_walk(problem: Problem, search: LocalSearch, case: plain.Plain, walk: plain.Walk) -> None:
    """Costs, what is broken, loads and the table, against the judge."""
    placement, goal = search.placement, Goal(WEIGHTS, "raw")

    def judged(blocks: IndexArray) -> tuple[float, bool]:
        nodes = placement.nodes_of_instances(blocks)
        found = evaluate(problem, Plan(assignment_of(problem, nodes)))
        value = goal.value(found.metrics)
        assert value is not None
        return value, not found.violations

    cost, whole = judged(walk.node)
    assert walk.numbers[plain.COST] == pytest.approx(cost)
    assert (walk.numbers[plain.BROKEN] <= WHOLE) == whole
    for block, node in np.argwhere(case.allowed):
        other = walk.node.copy()
        other[block] = node
        change = walk.table[block, node] - walk.table[block, walk.node[block]]
        assert cost + change == pytest.approx(judged(other)[0])
    for node in range(len(case.limit)):
        assert walk.load[node] == pytest.approx(case.need[walk.node == node].sum(axis=0))
    value, kept = judged(walk.best)
    assert kept
    assert walk.numbers[plain.BEST] == pytest.approx(value)


@pytest.mark.parametrize("seed", range(4))
def test_no_plan_is_better(seed: int) -> None:
    """Every plan of seven operators on three nodes, by plain arithmetic."""
    problem = quadratic(seed, 7, 3, 0.9, candidates=True)
    search = search_of(problem)
    case = plain.plain_of(search.case)
    assert case is not None
    search.start()
    prices = plain.walk_from(case, search._state)
    nodes = prices.node
    own = case.between @ case.distance[:, nodes].T + case.between.T @ case.distance[nodes]
    price = prices.table - own
    best = np.inf
    for plan in map(np.array, product(range(3), repeat=7)):
        load = np.array([case.need[plan == node].sum(axis=0) for node in range(3)])
        if (load <= case.limit).all() and case.allowed[np.arange(7), plan].all():
            streams = (case.between * case.distance[np.ix_(plan, plan)]).sum()
            best = min(best, price[np.arange(7), plan].sum() + streams)
    found = berth.solve(problem, Search(), steps=40_000, time_limit=None)
    assert found.objective == pytest.approx(best)


def test_what_is_not_plain() -> None:
    """Response times, prices of nodes, availability; and graphs in which blocks have few neighbours."""
    problem = quadratic(0, 9, 4, 0.9)
    assert plain.plain_of(search_of(problem, Goal({"network_usage": 1.0})).case) is not None
    for objective in ("response_time", "nodes_used", "availability"):
        assert plain.plain_of(search_of(problem, Goal({objective: 1.0})).case) is None
    few = paper_instance("fat", 8, 6)
    assert plain.plain_of(search_of(few, Goal({"network_usage": 1.0})).case) is None


def test_the_same_steps_give_the_same_plan() -> None:
    """However often the clock is looked at in between."""
    problem = quadratic(1, 30, 6, 1.1)
    one = berth.solve(problem, Search(), steps=60_000, seed=3, time_limit=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "SLICE", 1e-5)
        patch.setattr(engine, "FIRST_SLICE", 77)
        other = berth.solve(problem, Search(), steps=60_000, seed=3, time_limit=None)
    assert one.assignment == other.assignment
