"""`forest` with a previous plan: applications that join and leave."""

from dataclasses import replace
from typing import Any

import pytest

import berth
from berth.files import problem_from
from berth.model import Plan, Problem


def planned(problem: Problem, previous: Plan | None = None, **more: Any) -> Plan:
    """What `forest` says; steps alone limit it."""
    return berth.solve(problem, "forest", previous=previous, time_limit=None, **({"steps": 5_000} | more))


def without(problem: Problem, *gone: int) -> Problem:
    kept = (item for number, item in enumerate(problem.applications) if number not in gone)
    return replace(problem, applications=tuple(kept))


@pytest.fixture(scope="module")
def forest() -> Problem:
    work: dict[str, Any] = {"least_work": 10.0, "most_work": 20.0}
    return berth.generate("forest", seed=2, processors=10, applications=4, most_operators=15, **work)


@pytest.fixture(scope="module")
def whole(forest: Problem) -> Plan:
    return planned(forest)


def test_joining_moves_nobody(forest: Problem) -> None:
    """Three stay exactly where they are, the fourth finds its place."""
    before = planned(without(forest, 3))
    plan = planned(forest, before)
    assert plan.violations == ()
    assert plan.metrics["moved_instances"] == 0
    assert {name: plan.assignment[name] for name in before.assignment} == dict(before.assignment)
    assert {taker: plan.reuse[taker] for taker in before.reuse} == dict(before.reuse)


def test_moves_lower_the_cost(forest: Problem) -> None:
    """With any number of moves it costs no more than without, and as many as were allowed move at most."""
    before = planned(without(forest, 3))
    costs = []
    for moves in (0, 3, None):
        plan = planned(forest, before, moves=moves)
        assert plan.violations == ()
        assert plan.trace["moved"] <= (float("inf") if moves is None else moves)
        assert plan.metrics["moved_instances"] <= plan.trace["moved"]
        costs.append(plan.metrics["enrolled_speed"])
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize("gone", range(4))
def test_leaving(forest: Problem, whole: Plan, gone: int) -> None:
    """Who stays stays; what they took from the one who is gone is computed where it was."""
    name = forest.applications[gone].name
    plan = planned(without(forest, gone), whole)
    assert plan.violations == ()
    assert plan.metrics["moved_instances"] == 0
    assert plan.metrics["enrolled_speed"] <= whole.metrics["enrolled_speed"]
    stayed = {own: node for own, node in whole.assignment.items() if own in plan.assignment}
    assert stayed == {own: plan.assignment[own] for own in stayed}
    for heir, departed in plan.trace["taken_over"].items():
        assert departed.startswith(f"{name}/")
        assert plan.assignment[heir] == whole.assignment[departed]
    needed = {taker for taker, giver in whole.reuse.items() if giver.startswith(f"{name}/")}
    needed = {taker for taker in needed if not taker.startswith(f"{name}/")}
    assert needed <= {*plan.assignment, *plan.reuse, *plan.skipped}


def twins(applications: int, capacity: float, pinned: bool = False) -> Problem:
    """Equal chains over one object: the first computes, the others take. Nodes a and b hold the object."""
    chain: list[dict[str, Any]] = [
        {"name": "read", "type": "r", "reads": [{"object": "o", "per_s": 1.0}], "demand": {"cpu": 1.0}},
        {"name": "sum", "type": "s", "demand": {"cpu": 1.0}},
        {"name": "own", "demand": {"cpu": 1.0}},
    ]
    for operator in chain:
        operator |= {"work_ms": 10.0, "output_bytes": 10.0}
    names = [f"app{number}" for number in range(applications)]
    last: dict[str, Any] = {
        "name": "big",
        "throughput_per_s": 1.0,
        "operators": [{"name": "all", "demand": {"cpu": 4.0}}],
    }
    if pinned:
        last["operators"][0]["pinned"] = "a"
    return problem_from(
        {
            "format": "berth/v1",
            "name": "twins",
            "network": {
                "nodes": [
                    {"name": "a", "capacity": {"cpu": capacity}, "holds": ["o"], "speed": 1.0},
                    {"name": "b", "capacity": {"cpu": capacity}, "holds": ["o"], "speed": 3.0},
                ],
                "links": [{"from": "a", "to": "b", "delay_ms": 1}],
            },
            "objects": [{"name": "o", "bytes": 10}],
            "applications": [
                *(
                    {
                        "name": name,
                        "throughput_per_s": 1.0,
                        "operators": chain,
                        "streams": [{"from": "read", "to": "sum"}, {"from": "sum", "to": "own"}],
                    }
                    for name in names
                ),
                *([last] if pinned else []),
            ],
            "objective": {"enrolled_speed": 1.0},
        }
    )


def test_heirs_of_a_chain() -> None:
    """The taker computes the result and, if the trace says who did it, what feeds it, on the same nodes."""
    problem = twins(2, 10.0)
    before = Plan(
        assignment={"app0/read": "b", "app0/sum": "a", "app0/own": "a", "app1/own": "a"},
        reuse={"app1/sum": "app0/sum"},
        skipped=("app1/read",),
        trace={"stand_ins": {"app1/read": "app0/read"}},
    )
    assert berth.evaluate(problem, before).violations == ()
    plan = planned(without(problem, 0), before)
    assert plan.violations == ()
    assert dict(plan.assignment) == {"app1/read": "b", "app1/sum": "a", "app1/own": "a"}
    assert plan.metrics["moved_instances"] == 0
    # without the trace nobody knows who read for it: it goes where it costs least
    plan = planned(without(problem, 0), replace(before, trace={}))
    assert dict(plan.assignment) == {"app1/read": "a", "app1/sum": "a", "app1/own": "a"}


def test_moves_where_nothing_fits() -> None:
    """A joining operator that needs a node which others fill: only as many leave as must."""
    problem = twins(1, 5.0, pinned=True)
    before = Plan(assignment={"app0/read": "a", "app0/sum": "a", "app0/own": "a"})
    plan = planned(problem, before)
    assert plan.violations == ()
    assert plan.assignment["big/all"] == "a"
    assert plan.metrics["moved_instances"] == 2


def test_a_node_is_gone(forest: Problem, whole: Plan) -> None:
    """What was on it moves, the others stay."""
    lost = next(iter(whole.assignment.values()))
    network = replace(
        forest.network,
        nodes=tuple(replace(node, hosts=node.name != lost) for node in forest.network.nodes),
    )
    plan = planned(replace(forest, network=network), whole, steps=20_000)
    assert plan.violations == ()
    kept = [name for name, node in whole.assignment.items() if node != lost and name in plan.assignment]
    assert kept
    assert all(plan.assignment[name] == whole.assignment[name] for name in kept)
    assert lost not in plan.assignment.values()
