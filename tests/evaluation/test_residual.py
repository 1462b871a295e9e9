"""What a plan leaves: a request that is judged on it alone is judged as it would be beside the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from berth.evaluation import Setting, Situation, evaluate
from berth.evaluation.residual import network_left
from berth.files import plan_from, problem_from
from berth.model import Plan, Problem
from berth.model.pair_fields import whole
from berth.policies.standing import Standing
from tests.oracle.problems import plans, problems

Entry = dict[str, Any]


def owned(plan: Plan, name: str) -> Plan:
    """What a plan says of one application; downloads to its nodes."""

    def its(items: Any) -> dict[str, str]:
        return {key: value for key, value in items.items() if key.startswith(f"{name}/")}

    targets = set(its(plan.assignment).values())
    downloads = tuple(item for item in plan.downloads if item.target in targets)
    return Plan(its(plan.assignment), containers=its(plan.containers), downloads=downloads)


def alone(problem: Problem, number: int) -> Problem:
    return replace(problem, applications=(problem.applications[number],))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.data())
def test_alone_on_what_is_left_or_beside_the_others(data: st.DataObject) -> None:
    """Equivalent; with shared results or one port, what is left can be less than there is, never more."""
    raw = data.draw(problems(generous=True))
    assume(len(raw["applications"]) == 2)
    for key in ("rules", "max_response_time_ms", "min_availability"):  # of each application alone
        for application in raw["applications"]:
            application.pop(key, None)
    drawn = data.draw(plans(raw, wrong=False))
    assume(not drawn.get("reuse") and not drawn.get("skipped"))
    problem, plan = problem_from(raw), plan_from(drawn)
    first, second = (owned(plan, item.name) for item in problem.applications)
    standing = Standing(problem).arrived(problem.applications[0].name, first)
    assume(not standing.broken)
    request, occupied = standing.request(problem.applications[1])
    judged = evaluate(request, second, occupied=occupied).violations
    beside = standing.arrived(problem.applications[1].name, second)
    if not judged:
        assert beside.broken == ()
    strict = problem.network.one_port or problem.sharing_keys.possible or problem.objects
    if not strict and not beside.broken:
        assert judged == ()


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_delays_routes_and_speeds_are_what_they_were(data: st.DataObject) -> None:
    raw = data.draw(problems())
    problem = problem_from(raw)
    plan = plan_from(data.draw(plans(raw, wrong=False)))
    network = problem.network
    left = network_left(Situation(Setting(problem), plan))
    now, before = whole(left.table.physical_bandwidth), whole(network.table.physical_bandwidth)
    assert np.array_equal(left.table.delay_ms, network.table.delay_ms, equal_nan=True)
    assert np.array_equal(left.table.cost, network.table.cost, equal_nan=True)
    assert (now <= before).all()
    assert (left.speed == network.speed).all()
    assert (left.nic_bytes_per_s <= network.nic_bytes_per_s).all()
    assert (now >= 0).all()
    for name in {name for node in network.nodes for name in node.capacity}:
        assert (left.capacity(name) >= 0).all()
        assert (left.capacity(name) <= network.capacity(name) * (1 + 1e-9)).all()


def routed(**network: Any) -> Entry:
    """Two servers behind one switch, and two applications that send from one to the other."""
    nodes = [{"name": "u"}, {"name": "v"}, {"name": "switch", "hosts": False}]
    links = [
        {"from": "u", "to": "switch", "delay_ms": 1, "bandwidth_bytes_per_s": 100},
        {"from": "switch", "to": "v", "delay_ms": 1, "bandwidth_bytes_per_s": 100},
    ]

    def application(name: str, ends: str, rate: float) -> Entry:
        operators = [{"name": "x", "pinned": ends[0]}, {"name": "y", "pinned": ends[1]}]
        stream = {"from": "x", "to": "y", "bytes_per_s": rate}
        return {"name": name, "operators": operators, "streams": [stream]}

    return {
        "format": "berth/v1",
        "name": "routed",
        "network": {"nodes": nodes, "links": links, "routing": "shortest_path", **network},
        "applications": [application("a", "uv", 70), application("b", "vu", 40)],
    }


def test_physical_links_both_ways() -> None:
    """With half duplex the way back is as narrow as the way there."""
    for duplex, there, back in (("full", 30.0, 100.0), ("half", 30.0, 30.0)):
        problem = problem_from(routed(duplex=duplex))
        standing = Standing(problem).arrived("a", Plan({"a/x": "u", "a/y": "v"}))
        table = network_left(standing.situation).table
        u, v, switch = 0, 1, 2
        assert np.allclose(table.physical_bandwidth[[u, switch], [switch, v]], there)
        assert np.allclose(table.physical_bandwidth[[switch, v], [u, switch]], back)


def test_many_nodes_without_matrices(monkeypatch: Any) -> None:
    """Networks that have no matrices lose bandwidth at the links that are in use, nowhere else."""
    raw = routed(routing="direct")
    raw["network"]["links"] += [{"from": "u", "to": "v", "delay_ms": 1, "bandwidth_bytes_per_s": 100}]
    dense = problem_from(raw)
    monkeypatch.setattr("berth.model.network.MOST_IN_MATRICES", 1)
    scattered = problem_from(raw)
    assert scattered.network.scattered
    tables = []
    for problem in (dense, scattered):
        standing = Standing(problem).arrived("a", Plan({"a/x": "u", "a/y": "v"}))
        tables.append(network_left(standing.situation).table)
    grid = np.ix_(range(3), range(3))
    assert np.array_equal(tables[0].physical_bandwidth[grid], tables[1].physical_bandwidth[grid])
    assert np.isclose(tables[0].physical_bandwidth[0, 1], 30.0)


def test_a_card_and_a_port_that_are_in_use() -> None:
    raw = routed(routing="direct", one_port=True)
    raw["network"]["nodes"][0]["nic_bytes_per_s"] = 100
    raw["network"]["links"] = [{"from": "u", "to": "v", "delay_ms": 1, "bandwidth_bytes_per_s": 140}]
    problem = problem_from(raw)
    standing = Standing(problem).arrived("a", Plan({"a/x": "u", "a/y": "v"}))
    left = network_left(standing.situation)
    assert np.allclose(left.nic_bytes_per_s[:2], [30, np.inf])
    assert np.isclose(left.table.bandwidth_bytes_per_s[0, 1], 70)
    assert np.isclose(left.table.bandwidth_bytes_per_s[1, 0], 140)
