"""Infeasible problems say which constraints can't hold together."""

from typing import Any

import pytest

import berth
from berth.files import problem_from
from tests.exact.instances import document

NODES = [{"name": "rome", "capacity": {"cpu": 4}}, {"name": "paris", "capacity": {"cpu": 4}}]
DELAYS: list[list[float | None]] = [[0, 22], [22, 0]]
STREAMS = [{"from": "source", "to": "tag"}, {"from": "tag", "to": "sink"}]


def conflict(tag: dict[str, Any], **more: Any) -> str:
    operators = [
        {"name": "source", "pinned": "rome", "demand": {"cpu": 1}, "work_ms": 5, "emits_bytes_per_s": 500},
        {"name": "tag", "work_ms": 4, **tag},
        {"name": "sink", "pinned": "rome", "demand": {"cpu": 1}},
    ]
    nodes, delays = more.pop("nodes", NODES), more.pop("delays", DELAYS)
    plan = berth.solve(problem_from(document(nodes, delays, operators, STREAMS, **more)), "odp")
    assert plan.status == "infeasible"
    assert not plan.assignment
    assert plan.reason
    return plan.reason


@pytest.mark.parametrize(
    ("tag", "more", "expected"),
    [
        ({"demand": {"gpu": 1}}, {}, "operator 'tag' needs gpu 1; no candidate node has gpu"),
        ({"demand": {"cpu": 5}}, {}, "operator 'tag' needs cpu 5; the most is 4 on rome"),
        ({"demand": {"cpu": 1}, "parallelism": 12}, {}, "total cpu 14 needed, 8 there"),
        (
            {},
            {"application": {"max_response_time_ms": 5}},
            "latency 5 ms: the fastest possible path takes 9 ms",
        ),
        (
            {"demand": {"cpu": 4}},
            {"application": {"max_response_time_ms": 20}},
            "node rome: at most cpu 4; application a: response time at most 20 ms",
        ),
        (
            {"candidates": ["paris"]},
            {"network": {"bandwidth_bytes_per_s": [[None, 100], [100, None]]}},
            "link paris -> rome: at most 100 B/s",
        ),
        (
            {"candidates": ["paris"]},
            {"delays": [[0, None], [None, 0]]},
            "nodes rome, paris have no link to any other node: needed for streams between a/source and",
        ),
        (
            {"parallelism": 3},
            {"application": {"rules": [{"apart": ["tag"]}]}},
            "tag must be apart (nodes): 3 instances, but only 2 nodes",
        ),
        (
            {"candidates": ["paris"]},
            {"application": {"rules": [{"together": ["source", "tag"]}]}},
            "no node is allowed by candidates, 'where' and 'together' rules at once",
        ),
        (
            {},
            {"application": {"rules": [{"where": {"zone": "x"}, "operators": ["tag"]}]}},
            "operator 'tag': no node is allowed",
        ),
        (
            {"candidates": ["paris"]},
            {
                "nodes": [NODES[0], {**NODES[1], "availability": 0.5}],
                "application": {"min_availability": 0.9},
            },
            "availability 0.9 of 'a': at most 0.5 is possible",
        ),
        (
            {"work_ms": 4000},
            {"application": {"throughput_per_s": 1}},
            "operator 'tag' needs 4 processors; the most is",
        ),
        (
            {"candidates": ["paris"]},
            {"nodes": [NODES[0], {**NODES[1], "nic_bytes_per_s": 900}]},
            "node paris: network card of at most 900 B/s",
        ),
    ],
)
def test_lines(tag: dict[str, Any], more: dict[str, Any], expected: str) -> None:
    """Each kind of clash is named with its amounts."""
    assert expected in conflict(tag, **more)


def test_every_line_is_needed() -> None:
    """Of clashing limits only those are listed without which a plan would exist."""
    more = {"application": {"max_response_time_ms": 20, "min_availability": 0.1}}
    lines = conflict({"demand": {"cpu": 4}}, **more).split("; ")
    assert lines == ["node rome: at most cpu 4", "application a: response time at most 20 ms"]
