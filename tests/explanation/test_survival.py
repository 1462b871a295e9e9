"""What a plan survives, and what that costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import berth
from berth.explanation import document, explain
from berth.files import problem_from
from berth.model import Plan, Problem


def camera(**more: Any) -> Problem:
    """A camera at one of two edges, a tagger anywhere, and a sink in the centre."""
    nodes = [
        {"name": "edge", "capacity": {"cpu": 2}},
        {"name": "near", "capacity": {"cpu": 2}},
        {"name": "centre", "capacity": {"cpu": 4}, "speed": 2},
    ]
    links = [
        {"from": "edge", "to": "near", "delay_ms": 1},
        {"from": "edge", "to": "centre", "delay_ms": 20},
        {"from": "near", "to": "centre", "delay_ms": 6},
    ]
    operators = [
        {"name": "camera", "candidates": ["edge", "near"], "demand": {"cpu": 1}, "emits_bytes_per_s": 200},
        {"name": "tag", "demand": {"cpu": 1}, "work_ms": 10},
        {"name": "sink", "pinned": "centre", "demand": {"cpu": 1}, "work_ms": 2},
    ]
    streams = [{"from": "camera", "to": "tag"}, {"from": "tag", "to": "sink"}]
    application = {"name": "watch", "operators": operators, "streams": streams}
    network = {"nodes": nodes, "links": links}
    written = {"format": "berth/v1", "name": "watch", "network": network, "applications": [application]}
    return problem_from({**written, "survive": "node", **more})


def test_every_loss_is_told_the_slowest_first() -> None:
    """What moves, what is lost, the response time then, and what is fullest."""
    problem = camera()
    found = explain(problem, berth.solve(problem, "odp")).survival
    assert found is not None
    assert [loss.name for loss in found.losses] == ["near", "centre"]
    near, centre = found.losses
    assert near.moved == {"watch/camera": ("near", "edge")}
    assert (near.response_time_ms, near.lost) == (26.0, ())
    assert centre.moved == {"watch/tag": ("centre", "near")}
    assert centre.lost == ("watch/sink",)
    assert centre.fullest is not None
    assert (centre.fullest.name, centre.fullest.share) == ("near cpu", 1.0)
    assert (found.count, found.tightest, found.cost) == (3, centre, 0.0)


def test_a_plan_that_lacks_only_a_failover() -> None:
    """It is told which one would do, with everything where it is; what it costs is told all the same."""
    problem = camera()
    plan = replace(berth.solve(problem, "odp"), failover={})
    found = explain(problem, plan)
    survival = found.survival
    assert found.violations
    assert survival is not None
    assert survival.failover is not None
    assert (survival.helpless, survival.cost) == ((), 0.0)
    assert berth.evaluate(problem, replace(plan, failover=survival.failover)).violations == ()
    assert document(found)["survival"]["failover"]["near"] == {"watch/camera": "edge"}


def test_a_placement_that_can_not_survive() -> None:
    """Losses without a failover are named, and nothing is said of what survival costs."""
    problem = camera()
    nodes = tuple(replace(node, capacity={"cpu": 1.0}) for node in problem.network.nodes[:2])
    network = replace(problem.network, nodes=(*nodes, problem.network.nodes[2]))
    narrow = replace(problem, network=network)
    found = explain(narrow, Plan({"watch/camera": "near", "watch/tag": "edge", "watch/sink": "centre"}))
    assert found.survival is not None
    assert found.survival.helpless == ("near",)
    assert found.survival.cost is None


def test_what_survival_costs() -> None:
    """Less room at the edges: what is there must fit beside what comes from the other one."""
    problem = camera(objective={"traffic": 1})
    nodes = tuple(
        replace(node, capacity={"cpu": 2.0 if node.name == "centre" else 1.0})
        for node in problem.network.nodes
    )
    (application,) = problem.applications
    tags = replace(application.operators[1], parallelism=2)
    operators = (application.operators[0], tags, application.operators[2])
    problem = replace(
        problem,
        network=replace(problem.network, nodes=nodes),
        applications=(replace(application, operators=operators),),
    )
    plan = berth.solve(problem, "odp")
    assert plan.status == "infeasible"
    roomy = replace(problem, network=replace(problem.network, nodes=(nodes[0], *camera().network.nodes[1:])))
    plan = berth.solve(roomy, "odp")
    found = explain(roomy, plan).survival
    assert found is not None
    assert found.without is not None
    assert found.without.proved
    assert found.without.objective is not None
    assert plan.objective is not None
    assert found.cost == pytest.approx(plan.objective - found.without.objective)
    without = berth.solve(replace(roomy, survive=None), "odp")
    assert found.without.objective == without.objective


def test_a_goal_after_losses_is_compared_without_them() -> None:
    """The response time after the worst loss says nothing where nothing is lost."""
    problem = camera(objective={"failover_response_time": 1})
    found = explain(problem, berth.solve(problem, "odp")).survival
    assert found is not None
    assert found.goal is not None
    assert dict(found.goal.weights) == {"response_time": 1.0}
    assert found.without is not None
    assert found.without.objective == 12.0


def test_what_breaks_after_a_loss_is_a_violation() -> None:
    """And the document says so, too; nothing is solved where nobody asks for changes."""
    problem = camera()
    plan = Plan({"watch/camera": "near", "watch/tag": "centre", "watch/sink": "centre"})
    found = explain(problem, plan, what_if="none")
    assert found.violations == (
        "loss of near: watch/camera has no node",
        "loss of centre: watch/tag has no node",
    )
    told = document(found)["survival"]
    assert [loss["violations"] for loss in told["losses"]] == [
        ["watch/camera has no node"],
        ["watch/tag has no node"],
    ]
    assert told["losses"][0]["moved"] == [{"instance": "watch/camera", "from": "near", "to": None}]
    assert (told["without"], told["cost"]) == (None, None)
    assert explain(camera(survive="node"), plan, what_if="none").survival is not None
    assert explain(replace(problem, survive=None), plan, what_if="none").survival is None


def test_moves_that_leave_a_loss_without_a_way_out_are_forbidden() -> None:
    """Beside its receiver it would be faster; then there were no room for what moves after another loss."""
    nodes = [{"name": name, "capacity": {"cpu": room}} for name, room in (("a", 2), ("b", 3), ("c", 3))]
    operators = [
        {"name": "sender", "demand": {"cpu": 2}},
        {"name": "receiver", "pinned": "b", "demand": {"cpu": 1}},
        {"name": "other", "candidates": ["b", "c"], "demand": {"cpu": 1}},
    ]
    delays = [[0, 9, 9], [9, 0, 9], [9, 9, 0]]
    streams = [{"from": "sender", "to": "receiver"}]
    application = {"name": "app", "operators": operators, "streams": streams}
    written = {"format": "berth/v1", "name": "rows", "network": {"nodes": nodes, "delay_ms": delays}}
    problem = problem_from({**written, "applications": [application], "survive": "node"})
    plan = Plan(
        {"app/sender": "c", "app/receiver": "b", "app/other": "c"},
        failover={"c": {"app/sender": "a", "app/other": "b"}},
    )
    found = explain(problem, plan, operators=["sender"], what_if="none")
    assert found.violations == ()
    (sender,) = found.operators
    assert [(other.node, other.change) for other in sender.forbidden] == [("b", -9.0)]
    assert sender.forbidden[0].breaks == ("loss of c: node b: cpu 4 needed, 3 there",)
