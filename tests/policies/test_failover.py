"""Losses and policies: failovers for everybody's plans, reuse for nobody, and a search that keeps room."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import berth
from berth.engine.failovers import search_failover
from berth.evaluation import Setting, Situation
from berth.files import problem_from
from berth.model import Problem, Survive
from berth.policies import solve
from berth.policies.registry import BUILT_IN

WITH_CONTAINERS = {"mips", "ffd", "r-heron", "t-heron", "two-stage-exact"}


def small(**more: Any) -> Problem:
    """Four nodes in two zones, a source on one of them, and three operators behind it."""
    nodes = [
        {
            "name": f"n{number}",
            "coordinates": [10.0 * number, 0.0],
            "capacity": {"cpu": 3},
            "labels": {"zone": "even" if number % 2 == 0 else "odd"},
        }
        for number in range(4)
    ]
    operators = [
        {"name": "source", "pinned": "n0", "emits_bytes_per_s": 1000, "output_bytes": 100},
        *({"name": name, "demand": {"cpu": 1}, "work_ms": 1, "output_bytes": 100} for name in "abc"),
    ]
    streams = [{"from": "source", "to": "a"}, {"from": "a", "to": "b"}, {"from": "a", "to": "c"}]
    application = {
        "name": "app",
        "operators": operators,
        "streams": streams,
        "throughput_per_s": 10,
        "max_response_time_ms": 500,
    }
    document = {"format": "berth/v1", "name": "small", "network": {"nodes": nodes}}
    return problem_from({**document, "applications": [application], "survive": "node", **more})


@pytest.mark.parametrize("survive", ["node", {"label": "zone"}])
@pytest.mark.parametrize("policy", sorted(BUILT_IN.keys() - WITH_CONTAINERS))
def test_every_policy_survives_where_there_is_room(policy: str, survive: Any) -> None:
    """There is room for everything on any node: whatever a policy finds can be survived."""
    problem = small(survive=survive)
    plan = solve(problem, policy, time_limit=5)
    lost = [line for line in plan.violations if line.startswith("loss of")]
    assert plan.found, plan.reason
    assert not lost
    assert plan.failover.keys() <= {loss.name for loss in problem.losses}


def twins() -> Problem:
    """Two operators that compute the same, so that one could take the other's result."""
    nodes = [{"name": f"n{number}", "coordinates": [5.0 * number]} for number in range(3)]
    equal = [{"name": name, "type": "same", "work_ms": 5, "output_bytes": 10} for name in ("one", "other")]
    operators = [{"name": "source", "pinned": "n0", "output_bytes": 10}, *equal]
    streams = [{"from": "source", "to": name} for name in ("one", "other")]
    application = {"name": "app", "operators": operators, "streams": streams, "throughput_per_s": 10}
    document = {"format": "berth/v1", "name": "twins", "network": {"nodes": nodes}}
    return problem_from({**document, "applications": [application]})


@pytest.mark.parametrize("policy", ["bw-sum", "forest", "odp", "auto", "random", "proc-nb"])
def test_nobody_reuses_where_losses_are_survived(policy: str) -> None:
    """Reuse doesn't go with `survive`: the same policies that would do it don't."""
    problem = replace(twins(), survive=Survive(), objective={"bandwidth_sum": 1.0})
    plan = solve(problem, policy, time_limit=5)
    assert plan.found
    assert not plan.reuse
    assert not plan.skipped
    assert not plan.violations


def test_what_cant_be_survived_is_named() -> None:
    """A plan of a policy that knows nothing of losses gets the failover that breaks least."""
    problem = small()
    roomy = {"n0": 3.0}
    nodes = tuple(
        replace(node, capacity={"cpu": roomy.get(node.name, 1.0)}) for node in problem.network.nodes
    )
    network = replace(problem.network, nodes=nodes[:3])
    plan = solve(replace(problem, network=network), "mopa")
    assert plan.status == "unknown"
    assert any(line.startswith("loss of n0: node n") for line in plan.violations)
    assert len(plan.failover["n0"]) == 3


def test_an_application_that_is_lost_asks_for_nothing() -> None:
    """Of an application that runs nowhere else nothing is left, and no latest response time either."""
    whole = small().applications[0]
    alone = replace(whole.operators[0], work_ms=1.0)
    gone = replace(whole, name="gone", operators=(alone,), streams=(), max_response_time_ms=1.0)
    for applications in ((gone, whole), (whole, gone)):
        problem = replace(small(), applications=applications)
        nodes = np.zeros(len(problem.instances), dtype=np.intp)
        loss = next(loss for loss in problem.losses if loss.name == "n0")
        found = search_failover(Setting(problem), loss, nodes, seed=0)
        assert found is not None
        assert found.whole
        assert len(set(found.moves.values())) == 1


def crowded(seed: int, **more: Any) -> Problem:
    """Thirty operators on eight nodes that are three quarters full."""
    problem = berth.generate(
        "random-graph", seed=seed, operators=30, nodes=8, capacity=5.0, capacity_spread=0.2, demand_spread=0.2
    )
    return replace(problem, survive=Survive(), **more)


@pytest.mark.parametrize("objective", ["traffic", "response_time", "failover_response_time"])
def test_search_keeps_room(objective: str) -> None:
    """Alone, the best plans leave no room for what a loss moves; the same steps give the same plan."""
    problem = crowded(3, objective={objective: 1.0})
    plan, again = (solve(problem, "search", steps=400_000, time_limit=60, seed=1) for _ in range(2))
    assert plan.status == "feasible", plan.reason
    assert not plan.violations
    assert plan.assignment == again.assignment
    assert plan.failover == again.failover


def test_search_leaves_nodes_that_a_loss_cuts_off() -> None:
    """Nothing of the plan is on the hub, but its streams go over it: they have to be elsewhere."""
    nodes = [{"name": name, "capacity": {"cpu": 1}} for name in ("hub", "fast", "far", "slow", "slower")]
    for node in nodes[1:3]:
        node["speed"] = 4
    links = [
        *({"from": "hub", "to": str(node["name"]), "delay_ms": 1} for node in nodes[1:]),
        {"from": "slow", "to": "slower", "delay_ms": 5},
        {"from": "slow", "to": "fast", "delay_ms": 9},
        {"from": "slower", "to": "fast", "delay_ms": 9},
    ]
    operators = [
        {"name": name, "demand": {"cpu": 1}, "work_ms": 20, "emits_bytes_per_s": 10} for name in "ab"
    ]
    application = {"name": "app", "operators": operators, "streams": [{"from": "a", "to": "b"}]}
    network = {"nodes": nodes, "links": links, "routing": "shortest_path"}
    document = {"format": "berth/v1", "name": "star", "network": network, "applications": [application]}
    alone = solve(problem_from(document), "search", steps=20_000, time_limit=None)
    plan = solve(problem_from({**document, "survive": "node"}), "search", steps=20_000, time_limit=None)
    assert set(alone.assignment.values()) == {"fast", "far"}
    assert plan.status == "feasible", plan.reason
    assert plan.objective == solve(problem_from({**document, "survive": "node"}), "odp").objective


def test_failovers_are_fast() -> None:
    """The response time after a loss is that of the best of all ways to survive it, or hardly above."""
    problem = crowded(3, objective={"response_time": 1.0})
    plan = solve(problem, "search", steps=200_000, time_limit=60)
    best = {}
    for judged in Situation(Setting(problem), plan).losses:
        left = judged.loss.left
        moving = set(plan.failover.get(judged.loss.name, {}))
        nodes = np.array([problem.network.index[plan.assignment[name]] for name in left.instances.names])
        pinned = {
            name: problem.network.nodes[node].name
            for name, node in zip(left.instances.names, nodes.tolist(), strict=True)
            if name not in moving
        }
        fixed = solve(_pinned(left, pinned), "odp", time_limit=20)
        assert fixed.objective is not None
        assert judged.response_time_ms is not None
        best[judged.loss.name] = judged.response_time_ms / fixed.objective
    assert max(best.values()) < 1.1


def _pinned(problem: Problem, nodes: dict[str, str]) -> Problem:
    """A problem of its own in which some operators have one candidate."""
    applications = tuple(
        replace(
            application,
            operators=tuple(
                replace(item, candidates=(nodes[f"{application.name}/{item.name}"],))
                if f"{application.name}/{item.name}" in nodes
                else item
                for item in application.operators
            ),
        )
        for application in problem.applications
    )
    return Problem(
        "left", problem.network, applications, objective={"response_time": 1.0}, sharing=problem.sharing
    )
