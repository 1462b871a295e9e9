"""Where links are missing, the reason is told: a node without links, parts of a network; not every pair."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import berth
from berth.evaluation import evaluate
from berth.explanation import explain
from berth.files import problem_from
from berth.model import Plan, Problem

FULL = "ab ac bc"


def problem(
    links: str, operators: dict[str, str | None], streams: str, cpu: int = 2, **network: Any
) -> Problem:
    """Operators of one application, each pinned or free, on the nodes a to d with room for two of them."""
    return problem_from(
        {
            "format": "berth/v1",
            "name": "test",
            "network": {
                "nodes": [{"name": name, "capacity": {"cpu": cpu}} for name in "abcd"],
                "links": [{"from": pair[0], "to": pair[1], "delay_ms": 5} for pair in links.split()],
                **network,
            },
            "applications": [
                {
                    "name": "app",
                    "operators": [
                        {"name": name, "demand": {"cpu": 1}, **({"pinned": node} if node else {})}
                        for name, node in operators.items()
                    ],
                    "streams": [
                        {"from": pair[0], "to": pair[1], "bytes_per_s": 10} for pair in streams.split()
                    ],
                }
            ],
        }
    )


def broken(made: Problem, nodes: str) -> tuple[str, ...]:
    """What a plan breaks that puts the operators onto these nodes."""
    return evaluate(made, Plan(dict(zip(made.instances.names, nodes, strict=True)))).violations


HUB = {"h": "d", "p": "a", "q": "b", "r": "c", "s": "a"}


def test_a_node_without_links_is_one_violation() -> None:
    """However many nodes it should exchange streams with."""
    made = problem(FULL, HUB, "hp hq hr sh")
    assert broken(made, "dabca") == (
        "node d has no link to any other node: needed for streams d -> a, d -> b, d -> c and 1 more",
    )


def test_a_node_without_links_is_one_reason() -> None:
    """Where no plan exists, too."""
    plan = berth.solve(problem(FULL, HUB, "hp hq hr sh"), "odp")
    assert plan.status == "infeasible"
    assert plan.trace["conflict"] == [
        "node d has no link to any other node: needed for streams between app/h and app/p, app/h and app/q, "
        "app/h and app/r and 1 more"
    ]


def test_parts_of_a_network() -> None:
    """Two islands: neither has a node without links."""
    made = problem("ab cd", {"x": "a", "y": "c", "z": "d"}, "xy xz")
    away = "no link leads from the part of the network with a, b to the one with c, d"
    assert broken(made, "acd") == (f"{away}: needed for streams a -> c, a -> d",)
    assert berth.solve(made, "odp").trace["conflict"] == [
        f"{away}: needed for streams between app/x and app/y, app/x and app/z"
    ]


def test_parts_that_only_clash_with_more() -> None:
    """An operator between both islands could be on either: then it is the network that clashes."""
    made = problem("ab cd", {"x": "a", "m": None, "y": "c"}, "xm my")
    assert berth.solve(made, "odp").trace["conflict"] == [
        "no link leads from one part of the network to another: a, b; c, d"
    ]


@pytest.mark.parametrize(
    ("links", "count", "line"),
    [
        ("", 3, "no node that hosts operators has a link to any other node"),
        (FULL, 7, "node d has no link to any other node"),
        ("ab", 5, "nodes c, d have no link to any other node"),
    ],
)
def test_nodes_without_links_clash_with_capacities(links: str, count: int, line: str) -> None:
    """Operators that need more room than the linked nodes have."""
    names = "pqrstuv"[:count]
    made = problem(links, dict.fromkeys(names), " ".join(map("".join, pairwise(names))))
    conflict = berth.solve(made, "odp").trace["conflict"]
    assert conflict[0] == line
    assert all(each.startswith("node ") and "at most cpu 2" in each for each in conflict[1:])


def test_a_single_link_that_is_missing() -> None:
    """In a network that hangs together, and where links go one way only, it is that link."""
    sparse = problem("ab bc cd", {"x": "a", "y": "c"}, "xy")
    assert broken(sparse, "ac") == ("link a -> c: needed for a stream, but there is none",)
    assert "no link between any of their candidate nodes" in str(berth.solve(sparse, "odp").reason)
    one_way = problem("ab bc da", {"x": "a", "y": "d"}, "xy", symmetric=False)
    assert broken(one_way, "ad") == ("link a -> d: needed for a stream, but there is none",)


def test_moves_that_bring_links_are_found() -> None:
    """Two operators have to leave a node without links: the first move mends nothing yet, but half of it."""
    made = problem(FULL, {"x": None, "y": None, "p": "a", "q": "b"}, "xp yq", cpu=4)
    plan = Plan({"app/x": "d", "app/y": "d", "app/p": "a", "app/q": "b"})
    assert len(evaluate(made, plan).violations) == 1
    mending = explain(made, plan, what_if="none").mending
    assert mending is not None
    assert not mending.left
    assert {move.instances for move in mending.moves} == {("app/x",), ("app/y",)}
