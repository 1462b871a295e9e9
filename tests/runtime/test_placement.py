"""A plan for an application: where its instances run, and what doesn't fit."""

from __future__ import annotations

from typing import Any

import pytest

from berth.files import problem_from
from berth.files.plan_file import plan_from
from berth.model import BadInput, Plan, Problem
from berth.runtime.application import Application, described
from berth.runtime.cluster.nodes import cluster_node, resource_name
from berth.runtime.placement import Branch, Placement, placement_of

NODES = ("rome", "paris", "tokyo")


def application() -> Application:
    """A line of three, the middle twice."""
    app = Application("line")

    @app.source
    def lines(spark: Any) -> Any: ...

    @app.operator(parallelism=2)
    def tag(lines: Any) -> Any: ...

    @app.sink
    def store(tag: Any) -> None: ...

    return app


def problem(**changes: Any) -> Problem:
    """Three nodes and that application, or what differs from it."""
    nodes = [{"name": name, "capacity": {"cpu": 2}} for name in NODES]
    links = [
        {"from": "rome", "to": "paris", "delay_ms": 5},
        {"from": "rome", "to": "tokyo", "delay_ms": 50},
        {"from": "paris", "to": "tokyo", "delay_ms": 45},
    ]
    return problem_from(
        {
            "format": "berth/v1",
            "name": "three",
            "network": {"nodes": nodes, "links": links},
            "applications": [described(application()) | changes],
        }
    )


def plan(**homes: str) -> Plan:
    """A plan with these homes; `tag_0` is the instance `tag#0`."""
    assignment = {f"line/{name.replace('_', '#')}": node for name, node in homes.items()}
    return plan_from({"format": "berth-plan/v1", "problem": "three", "assignment": assignment})


GOOD = {"lines": "rome", "tag_0": "paris", "tag_1": "tokyo", "store": "rome"}


def mistakes(plan: Plan, problem: Problem) -> list[str]:
    """Why the plan is refused."""
    with pytest.raises(BadInput) as caught:
        placement_of(application(), problem, plan)
    return list(caught.value.mistakes)


def test_every_instance_has_its_node() -> None:
    """In the order of the instances; the nodes in use each once."""
    placement = placement_of(application(), problem(), plan(**GOOD))
    assert placement.nodes == {"lines": ("rome",), "tag": ("paris", "tokyo"), "store": ("rome",)}
    assert placement.used == ["rome", "paris", "tokyo"]


def test_branches_are_by_node_or_by_instance() -> None:
    """Instances on one node are one stage, unless each has to be one of its own."""
    placement = Placement("line", {"tag": ("paris", "tokyo", "paris")})
    assert placement.branches("tag") == [Branch("tag", (0, 2), "paris"), Branch("tag", (1,), "tokyo")]
    assert [branch.node for branch in placement.branches("tag", each=True)] == ["paris", "tokyo", "paris"]


def test_moves_name_instances() -> None:
    """As telemetry does: with a number only where there are several."""
    before = Placement("line", {"lines": ("rome",), "tag": ("paris", "tokyo")})
    after = Placement("line", {"lines": ("paris",), "tag": ("paris", "rome")})
    assert before.moves(after) == {"lines": ("rome", "paris"), "tag#1": ("tokyo", "rome")}


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"tag_1": None}, "plan: line/tag#1: not placed"),
        ({"tag_1": "oslo"}, "plan: line/tag#1: no node named 'oslo' in the problem"),
        ({"tag_2": "rome"}, "plan: line/tag#2: the application has no such instance; did you mean"),
        (
            {"stroe": "rome"},
            "plan: line/stroe: the application has no such instance; did you mean 'line/store'",
        ),
    ],
)
def test_plans_that_do_not_fit(change: dict[str, str | None], line: str) -> None:
    """One line for each difference, with the instance."""
    homes = {name: node for name, node in (GOOD | change).items() if node is not None}
    (found,) = mistakes(plan(**homes), problem())
    assert found.startswith(line)


def test_problems_that_do_not_fit() -> None:
    """Another application's name, other operators, other streams."""
    assert mistakes(plan(**GOOD), problem(name="lime")) == [
        "problem 'three': no application named 'line'; there are: lime"
    ]
    streams = [{"from": "lines", "to": "tag"}, {"from": "lines", "to": "store"}]
    assert mistakes(plan(**GOOD), problem(streams=streams))[:2] == [
        "stream tag to store: in the application, not in the problem",
        "stream lines to store: in the problem, not in the application",
    ]
    operators = [{"name": "lines"}, {"name": "tags", "parallelism": 2}, {"name": "store"}]
    streams = [{"from": "lines", "to": "tags"}, {"from": "tags", "to": "store"}]
    assert mistakes(plan(**GOOD), problem(operators=operators, streams=streams))[:2] == [
        "operator 'tag': in the application, not in the problem; did you mean 'tags'?",
        "operator 'tags': in the problem, not in the application; did you mean 'tag'?",
    ]


def test_names_of_resources_are_safe_and_different() -> None:
    """What would break a setting of Spark is written as its code."""
    assert resource_name("rome") == "node_rome"
    assert resource_name("eu-west_1") == "node_eu-west_1"
    assert resource_name("10.0.0.1") == "node_10_x2e_0_x2e_0_x2e_1"


def test_room_is_never_too_small_for_an_executor() -> None:
    """A node without capacity gets what an executor needs."""
    rooms = [cluster_node(node) for node in problem().network.nodes]
    assert {room.slots for room in rooms} == {2}
    assert {room.memory_mb for room in rooms} == {512}
