"""Room that others have taken: policies of the latency space leave it alone, and the judge knows of it."""

from __future__ import annotations

import numpy as np
import pytest

from berth.evaluation import Occupied, evaluate
from berth.files import problem_from
from berth.model import Plan, Problem
from berth.policies import solve


def line(**operator: object) -> Problem:
    """Four nodes in a row, 10 ms apart, two processors each; from the first to the last by one operator."""
    nodes = [
        {"name": f"n{number}", "coordinates": [10.0 * number, 0.0], "capacity": {"cpu": 2}}
        for number in range(4)
    ]
    operators = [
        {"name": "source", "pinned": "n0", "emits_bytes_per_s": 1000},
        {"name": "work", "demand": {"cpu": 2}, "selectivity": 0.1} | operator,
        {"name": "sink", "pinned": "n3"},
    ]
    streams = [{"from": "source", "to": "work"}, {"from": "work", "to": "sink"}]
    application = {"name": "line", "operators": operators, "streams": streams}
    return problem_from(
        {
            "format": "berth/v1",
            "name": "row",
            "network": {"nodes": nodes},
            "applications": [application | ({"throughput_per_s": 1.0} if "work_ms" in operator else {})],
        }
    )


def taken(cpu: list[float] | None = None, busy: list[float] | None = None) -> Occupied:
    nothing = np.zeros(4)
    return Occupied(
        {"cpu": np.array(cpu)} if cpu else {}, np.array(busy) if busy else nothing, operators=nothing
    )


@pytest.mark.parametrize("policy", ["mopa", "sbon"])
@pytest.mark.parametrize(
    ("cpu", "node"),
    [([0, 0, 0, 0], "n0"), ([0.5, 0, 0, 0], "n1"), ([1, 2, 0, 0], "n2"), ([2, 2, 2, 0], "n3")],
)
def test_the_nearest_node_with_room_left(policy: str, cpu: list[float], node: str) -> None:
    plan = solve(line(), policy, occupied=taken(cpu=cpu))
    assert plan.assignment["line/work"] == node
    assert plan.violations == ()


def test_busy_processors_are_left_alone() -> None:
    """600 ms of work a second don't fit beside a half."""
    problem = line(work_ms=600)
    assert solve(problem, "mopa", occupied=taken(busy=[0.5, 0.5, 0.3, 0.0])).assignment["line/work"] == "n2"


def test_nothing_left() -> None:
    plan = solve(line(), "mopa", occupied=taken(cpu=[1, 1, 1, 1]))
    assert plan.status == "unknown"
    assert plan.reason is not None
    assert "no node that may host it has room" in plan.reason


def test_the_judge_knows() -> None:
    plan = Plan({"line/source": "n0", "line/work": "n1", "line/sink": "n3"})
    assert evaluate(line(), plan).violations == ()
    judged = evaluate(line(), plan, occupied=taken(cpu=[2, 1, 2, 2], busy=[1, 0, 0, 1]))
    assert judged.violations == ("node n1: cpu 2 needed, 1 there",)
