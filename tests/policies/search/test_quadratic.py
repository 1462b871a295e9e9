"""Quadratic assignment has a loop of its own: the judge's sums, and the best plans of small problems."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import berth
from berth.core import engine
from berth.engine import case_of
from berth.evaluation import Setting, evaluate
from berth.evaluation.goal import Goal
from berth.evaluation.situation import assignment_of
from berth.exact.placement import Placement
from berth.files import problem_from
from berth.model import Plan, Problem
from berth.model.randomness import generator_for
from berth.policies.search import Search, cycles
from tests.exact.instances import document, paper_instance

WEIGHTS = {"communication_cost": 2.0, "placement_cost": 1.0}
GOAL = Goal(WEIGHTS, "raw")


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


def case_for(problem: Problem, goal: Goal = GOAL) -> engine.Case:
    """The engine's case of a problem."""
    return case_of(Placement(Setting(problem), prune=False), goal)


def feasible_nodes(problem: Problem) -> NDArray[np.int64]:
    """The nodes of a plan that breaks nothing."""
    plan = berth.solve(problem, Search(), steps=2_000, time_limit=None)
    assert plan.status == "feasible"
    index = problem.network.index
    return np.array([index[plan.assignment[name]] for name in problem.instances.names])


def need_of(problem: Problem) -> NDArray[np.float64]:
    """What each operator needs of both resources."""
    graph = problem.instances
    return np.stack([graph.demand(name) for name in graph.resources], axis=1)


@pytest.mark.parametrize("seed", range(6))
def test_sums_and_table_are_the_judges(seed: int) -> None:
    """After shifts, swaps, pushes, exchanges of two for one and rings; hot, so that much is broken."""
    problem = quadratic(seed, 9, 4, 0.95, candidates=seed % 2 == 1)
    plan = engine.Plan(case_for(problem))
    plan.place(feasible_nodes(problem))
    walk = engine.QuadraticWalk(plan)
    evaluated, broken = 0, 0
    for turn in range(8):
        evaluated += walk.anneal(steps=60, seed=100 * seed + turn, hot=200.0, cold=20.0, price=50.0)
        broken += walk.broken > 1e-9
        check_walk(problem, walk)
    assert evaluated > 100
    assert seed > 0 or broken > 0


def check_walk(problem: Problem, walk: engine.QuadraticWalk) -> None:
    """Costs, what is broken, loads and the table, against the judge."""
    graph, nodes = problem.instances, len(problem.network.nodes)

    def judged(chosen: NDArray[np.int64]) -> tuple[float, bool]:
        found = evaluate(problem, Plan(assignment_of(problem, chosen)))
        value = GOAL.value(found.metrics)
        assert value is not None
        return value, not found.violations

    now, table = walk.nodes, walk.table.reshape(len(graph), nodes)
    cost, whole = judged(now)
    assert walk.cost == pytest.approx(cost)
    assert (walk.broken <= 1e-9) == whole
    for block in range(len(graph)):
        for node in graph.allowed_nodes[graph.operator_of[block]]:
            other = now.copy()
            other[block] = node
            change = table[block, node] - table[block, now[block]]
            assert cost + change == pytest.approx(judged(other)[0])
    need, loads = need_of(problem), walk.loads.reshape(nodes, 2)
    for node in range(nodes):
        assert loads[node] == pytest.approx(need[now == node].sum(axis=0))
    value, kept = judged(walk.best_nodes)
    assert kept
    assert walk.best_cost == pytest.approx(value)


@pytest.mark.parametrize("seed", range(4))
def test_no_plan_is_better(seed: int) -> None:
    """Every plan of seven operators on three nodes, by plain arithmetic."""
    problem = quadratic(seed, 7, 3, 0.9, candidates=True)
    assert case_for(problem).is_quadratic
    graph, network, index = problem.instances, problem.network, problem.network.index
    rate = np.zeros((7, 7))
    rate[graph.pair_sender, graph.pair_receiver] = graph.pair_rate
    price = np.zeros((7, 3))
    for number, item in enumerate(graph.operators):
        for name, cost in (item.operator.placement_cost or {}).items():
            price[number, index[name]] = cost
    need, distance = need_of(problem), np.asarray(network.table.cost)
    room = np.stack([network.capacity(name) for name in graph.resources], axis=1)
    best = np.inf
    for plan in map(np.array, product(*graph.allowed_nodes)):
        load = np.array([need[plan == node].sum(axis=0) for node in range(3)])
        if (load <= room).all():
            streams = (rate * distance[np.ix_(plan, plan)]).sum()
            best = min(best, price[np.arange(7), plan].sum() + 2.0 * streams)
    found = berth.solve(problem, Search(), steps=40_000, time_limit=None)
    assert found.objective == pytest.approx(best)


def test_what_is_more_than_quadratic() -> None:
    """Response times, prices of nodes, availability; and graphs in which blocks have few neighbours."""
    problem = quadratic(0, 9, 4, 0.9)
    assert case_for(problem, Goal({"network_usage": 1.0})).is_quadratic
    for objective in ("response_time", "nodes_used", "availability"):
        other = case_for(problem, Goal({objective: 1.0}))
        assert not other.is_quadratic
        with pytest.raises(ValueError, match="more than prices, streams and capacities"):
            engine.QuadraticWalk(engine.Plan(other))
    few = paper_instance("fat", 8, 6)
    assert not case_for(few, Goal({"network_usage": 1.0})).is_quadratic


def test_the_same_steps_give_the_same_plan() -> None:
    """However often the clock is looked at in between."""
    problem = quadratic(1, 30, 6, 1.1)
    one = berth.solve(problem, Search(), steps=60_000, seed=3, time_limit=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cycles, "SLICE", 1e-5)
        patch.setattr(cycles, "FIRST_SLICE", 77)
        other = berth.solve(problem, Search(), steps=60_000, seed=3, time_limit=None)
    assert one.assignment == other.assignment
