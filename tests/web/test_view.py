"""What pictures are drawn from."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from berth.files import problem_from
from berth.generators import generate
from berth.web.view import MOST_LINKS, view_of
from tests.web.conftest import API, PROBLEM


def test_nodes_links_and_graphs(client: TestClient) -> None:
    """As the problem has them."""
    view = client.get(f"{API}/problems/small.yaml/view").json()
    assert [node["name"] for node in view["nodes"]] == ["rome", "paris", "oslo"]
    assert all(0 <= node[axis] <= 1 for node in view["nodes"] for axis in "xy")
    assert [(link["from"], link["to"], link["delay_ms"], link["both_ways"]) for link in view["links"]] == [
        (0, 1, 10.0, True),
        (0, 2, 30.0, True),
        (1, 2, 5.0, True),
    ]
    (application,) = view["applications"]
    assert [operator["x"] for operator in application["operators"]] == [0.0, 0.5, 1.0]
    assert [operator["allowed"] for operator in application["operators"]] == [[0], None, [2]]
    assert application["streams"][1] == {
        "from": 1,
        "to": 2,
        "bytes_per_s": 100.0,
        "tuple_bytes": None,
        "grouping": "shuffle",
    }
    assert [operator["load"] for operator in application["operators"]] == [0.0, None, 0.0]
    assert (view["layout"], view["geographic"], view["links_all"]) == ("delays", False, 3)
    assert view["etag"] == client.get(f"{API}/problems/small.yaml").json()["etag"]


@pytest.mark.parametrize("survive", [None, "node", {"label": "zone"}])
def test_what_plans_have_to_keep(survive: str | dict[str, str] | None) -> None:
    """As problem files say it."""
    document = {
        "format": "berth/v1",
        "name": "kept",
        "network": {
            "max_utilisation": 0.8,
            "nodes": [{"name": "a", "labels": {"zone": "x"}}, {"name": "b", "labels": {"zone": "y"}}],
            "delay_ms": [[0, 1], [1, 0]],
        },
        "applications": [{"name": "one", "operators": [{"name": "op"}]}],
        "objective": [{"response_time": 1}, {"traffic": 1}],
        "objective_within": [0.05],
        **({} if survive is None else {"survive": survive}),
    }
    view = view_of(problem_from(document))
    assert (view["survive"], view["max_utilisation"], view["objective_within"]) == (survive, 0.8, [0.05])


@pytest.mark.parametrize("names", [("latitude", "longitude"), ("lat", "lon"), ("lat", "lng")])
def test_places_on_earth(client: TestClient, workspace: Path, names: tuple[str, str]) -> None:
    """From labels, where all nodes have such that make sense."""
    text = PROBLEM
    for node, place in {"rome": (41.9, 12.5), "paris": ("48.9", 2.3), "oslo": (59.9, 10.7)}.items():
        labels = f"{{{names[0]}: {place[0]!r}, {names[1]}: {place[1]}}}"
        text = text.replace(f"{{name: {node},", f"{{name: {node}, labels: {labels},")
    (workspace / "earth.yaml").write_text(text)
    view = client.get(f"{API}/problems/earth.yaml/view").json()
    assert view["geographic"]
    assert [(node["latitude"], node["longitude"]) for node in view["nodes"]] == [
        (41.9, 12.5),
        (48.9, 2.3),
        (59.9, 10.7),
    ]
    (workspace / "earth.yaml").write_text(text.replace("41.9", "141.9"))
    view = client.get(f"{API}/problems/earth.yaml/view").json()
    assert not view["geographic"]
    assert view["nodes"][0]["latitude"] is None


def test_links_that_differ_both_ways() -> None:
    """Are two lines; those of a routed network are the physical ones."""
    document = {
        "format": "berth/v1",
        "name": "x",
        "network": {
            "routing": "shortest_path",
            "nodes": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
            "links": [
                {"from": "a", "to": "b", "delay_ms": 1},
                {"from": "b", "to": "a", "delay_ms": 2},
                {"from": "b", "to": "c", "delay_ms": 1},
            ],
        },
        "applications": [{"name": "x", "operators": [{"name": "o"}]}],
    }
    view = view_of(problem_from(document))
    assert [(link["from"], link["to"], link["both_ways"]) for link in view["links"]] == [
        (0, 1, False),
        (1, 0, False),
        (1, 2, True),
    ]


def test_many_nodes() -> None:
    """Of many links those to the nearest nodes, each pair once."""
    nodes = [{"name": f"n{n}", "coordinates": [n % 20, n // 20]} for n in range(400)]
    document = {
        "format": "berth/v1",
        "name": "many",
        "network": {"nodes": nodes},
        "applications": [{"name": "x", "operators": [{"name": "o"}]}],
    }
    view = view_of(problem_from(document))
    pairs = [(link["from"], link["to"]) for link in view["links"]]
    assert view["links_all"] == 400 * 399 // 2
    assert len(pairs) == view["links_shown"] <= MOST_LINKS
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)
    assert {node for pair in pairs for node in pair} == set(range(400))
    assert max(link["delay_ms"] for link in view["links"]) <= 2
    assert view["layout"] == "coordinates"


def test_very_large_graphs() -> None:
    """Are drawn with less care: each operator still has a place of its own in its layer."""
    names = [f"o{number}" for number in range(9000)]
    document = {
        "format": "berth/v1",
        "name": "long",
        "network": {"nodes": [{"name": "a"}]},
        "applications": [
            {
                "name": "x",
                "operators": [{"name": name} for name in names],
                "streams": [{"from": names[0], "to": name} for name in names[1:]],
            }
        ],
    }
    (part,) = view_of(problem_from(document))["applications"]
    assert (part["width"], part["height"]) == (2, 8999)
    assert len({(each["x"], each["y"]) for each in part["operators"]}) == 9000


def test_every_kind_of_problem_has_a_picture() -> None:
    """Whatever the generators make: places in the frame, every operator once."""
    for kind in ("stream-tree", "fat-tree", "tag-and-count", "random-graph"):
        problem = generate(kind, seed=1)
        view = view_of(problem)
        operators = [each for part in view["applications"] for each in part["operators"]]
        assert len(operators) == len(problem.instances.operators)
        assert all(0 <= each["x"] <= 1 and 0 <= each["y"] <= 1 for each in operators)
        for part in view["applications"]:
            places = [(each["x"], each["y"]) for each in part["operators"]]
            assert len(set(places)) == len(places)
