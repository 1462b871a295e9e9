"""`berth coordinates` as a user meets it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import berth as package
from tests.cli.test_commands import EXAMPLES, SMALL, berth

POINTS = np.random.default_rng(0).normal(0, 20, (12, 3))


def document(**network: Any) -> dict[str, Any]:
    nodes = [{"name": f"n{k}", "capacity": {"cpu": 2}} for k in range(len(POINTS))]
    operators = [{"name": "s", "pinned": "n0"}, {"name": "t"}]
    streams = [{"from": "s", "to": "t", "bytes_per_s": 5}]
    application = {"name": "a", "operators": operators, "streams": streams}
    return {
        "format": "berth/v1",
        "name": "cloud",
        "network": {"nodes": nodes, **network},
        "applications": [application],
    }


def delays(missing: int = 0) -> list[list[float | None]]:
    matrix = np.sqrt(((POINTS[:, None] - POINTS[None, :]) ** 2).sum(-1)).round(6).tolist()
    for k in range(missing):
        matrix[k][k + 5] = matrix[k + 5][k] = None
    return matrix


def write(folder: Path, content: dict[str, Any]) -> str:
    path = folder / "problem.yaml"
    path.write_text(yaml.safe_dump(content))
    return str(path)


def run(folder: Path, content: dict[str, Any], *options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the command says, and the problem that it writes."""
    target = folder / "located.json"
    done = berth("coordinates", write(folder, content), "--out", str(target), "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), json.loads(target.read_text())


def test_every_node_gets_coordinates(tmp_path: Path) -> None:
    """All else stays; the gaps are listed with the delay that they have now, and it is a good one."""
    content = document(delay_ms=delays(missing=3))
    said, written = run(tmp_path, content)
    for node in written["network"]["nodes"]:
        assert len(node.pop("coordinates")) == 3
    assert written == content
    assert said["estimated"]["count"] == said["estimated"]["listed"] == 3
    for k, pair in enumerate(said["estimated"]["pairs"]):
        assert (pair["from"], pair["to"], pair["both_ways"]) == (f"n{k}", f"n{k + 5}", True)
        assert pair["delay_ms"] == pytest.approx(np.linalg.norm(POINTS[k] - POINTS[k + 5]), abs=0.5)
        table = package.load(tmp_path / "located.json").network.table
        assert table.delay_ms[k, k + 5] == pytest.approx(pair["delay_ms"], abs=1e-3)
    assert said["errors"]["measured_pairs"] == 63
    assert said["errors"]["absolute_mean_ms"] < 0.1
    assert (said["nodes"], said["dimensions"], said["unplaced"], said["islands"]) == (12, 3, [], 1)
    assert said["resets"] == said["rejected_samples"] == 0
    assert said["probes"] is None


def test_its_own_output_has_nothing_new(tmp_path: Path) -> None:
    """Distances of the first run are no measurements for the second; without any there is nothing to do."""
    said, written = run(tmp_path, document(delay_ms=delays(missing=3)))
    assert run(tmp_path, written) == (said, written)
    del written["network"]["delay_ms"]
    done = berth("coordinates", write(tmp_path, written), "--out", str(tmp_path / "again.json"))
    assert done.returncode == 2
    assert "no delay between any two nodes" in done.stderr


def test_options_reach_the_computation(tmp_path: Path) -> None:
    """Dimensions, heights, neighbours, seed, and Vivaldi alone."""
    content = document(delay_ms=delays())
    said, written = run(
        tmp_path, content, "--dimensions", "2", "--height", "--neighbours", "5", "--seed", "3"
    )
    assert all(
        len(node["coordinates"]) == 2 and node["height_ms"] > 0 for node in written["network"]["nodes"]
    )
    assert (said["dimensions"], said["seed"]) == (2, 3)
    again = run(tmp_path, content, "--dimensions", "2", "--height", "--neighbours", "5", "--seed", "3")
    assert again == (said, written)
    alone, other = run(tmp_path, content, "--no-refine", "--seed", "4")
    assert alone["polish_rounds"] == 0 < said["polish_rounds"]
    assert other != run(tmp_path, content, "--no-refine", "--seed", "5")[1]


def test_for_people(tmp_path: Path) -> None:
    """Errors, and the first of the estimated pairs with their number."""
    links = [{"from": f"n{k}", "to": f"n{k + 1}", "delay_ms": 5} for k in range(11)]
    target = tmp_path / "out.yaml"
    done = berth("coordinates", write(tmp_path, document(links=links)), "--out", str(target))
    assert done.returncode == 0
    assert "12 of 12 nodes have coordinates in 3 dimensions" in done.stdout
    assert "errors over 11 measured pairs" in done.stdout
    assert "55 pairs have an estimated delay now" in done.stdout
    assert "... and 45 more; --json lists them" in done.stdout
    assert f"problem written to {target}" in done.stderr
    assert len(package.load(target).network.nodes[0].coordinates or ()) == 3


def test_the_example(tmp_path: Path) -> None:
    """Its problem is complete: nothing is estimated, and plans are as they were."""
    target = str(tmp_path / "t.yaml")
    done = berth("coordinates", str(EXAMPLES / "tag-and-count.yaml"), "--out", target)
    assert "every pair has a measured delay" in done.stdout
    assert package.solve(package.load(target)).metrics["response_time_ms"] == pytest.approx(31.836, abs=1e-3)


def test_paths_not_links_are_embedded_where_links_are_physical(tmp_path: Path) -> None:
    """In a routed row of nodes every pair has a delay: that of its path."""
    links = [{"from": f"n{k}", "to": f"n{k + 1}", "delay_ms": 5} for k in range(11)]
    said, written = run(tmp_path, document(links=links, routing="shortest_path"))
    assert said["errors"]["measured_pairs"] == 66
    assert said["estimated"]["count"] == 0
    first, last = (np.array(written["network"]["nodes"][k]["coordinates"]) for k in (0, 11))
    assert np.linalg.norm(first - last) == pytest.approx(55, abs=1)


def test_one_way_links(tmp_path: Path) -> None:
    """In a network that is not symmetric the other way is an estimate, and said to be one way."""
    content = json.loads(json.dumps(SMALL))
    content["network"]["symmetric"] = False
    said, _ = run(tmp_path, content)
    (pair,) = said["estimated"]["pairs"]
    assert (pair["from"], pair["to"], pair["both_ways"]) == ("paris", "rome", False)
    assert pair["delay_ms"] == pytest.approx(10, abs=0.1)


def test_nodes_that_nothing_is_known_of(tmp_path: Path) -> None:
    """They get no coordinates, lose old ones, stay unlinked, and are named."""
    content = document(links=[{"from": f"n{k}", "to": f"n{k + 1}", "delay_ms": 5} for k in range(8)])
    content["network"]["links"].append({"from": "n9", "to": "n10", "delay_ms": 1})
    content["network"]["nodes"][11]["coordinates"] = [1, 2, 3]
    said, written = run(tmp_path, content)
    assert said["unplaced"] == ["n9", "n10", "n11"]
    assert said["islands"] == 3
    assert ["coordinates" in node for node in written["network"]["nodes"]] == [True] * 9 + [False] * 3
    assert said["estimated"]["count"] == 9 * 8 // 2 - 8
    done = berth("coordinates", write(tmp_path, content), "--out", str(tmp_path / "o.json"))
    assert "3 without coordinates: no delay relates them to the rest: n9, n10, n11" in done.stdout


def test_old_coordinates_are_replaced(tmp_path: Path) -> None:
    """Those of two dimensions by those of three; what was a distance is still an estimate."""
    content = document(delay_ms=delays(missing=4))
    for node, point in zip(content["network"]["nodes"], POINTS, strict=True):
        node["coordinates"] = point[:2].tolist()
    said, written = run(tmp_path, content)
    assert {len(node["coordinates"]) for node in written["network"]["nodes"]} == {3}
    assert said["estimated"]["count"] == 4
    assert said["errors"]["measured_pairs"] == 62


def test_probes_are_samples(tmp_path: Path) -> None:
    """A problem without delays gets coordinates from them; bad records are counted and said."""
    matrix = delays()
    rows = [f"n{a},n{b},{2 * matrix[a][b]}" for a in range(12) for b in range(12) if a != b]  # type: ignore[operator]
    table = tmp_path / "probes.csv"
    table.write_text("\n".join(["from,to,rtt_ms", *rows, "n1,nowhere,3", "n1,n2,-4"]) + "\n")
    content = document(links=[])
    said, _ = run(tmp_path, content, "--probes", str(table))
    assert said["probes"] == {
        "records": 134,
        "pairs": 66,
        "rejected": {"no node of the problem": 1, "rtt_ms is not above 0": 1},
    }
    assert said["errors"]["absolute_mean_ms"] < 0.1
    assert said["estimated"]["count"] == 66
    done = berth(
        "coordinates", write(tmp_path, content), "--out", str(tmp_path / "o"), "--probes", str(table)
    )
    assert "134 probes read, of 66 pairs" in done.stdout
    assert "1 left out: no node of the problem" in done.stdout


def test_an_application_that_can_not_be_judged_yet(tmp_path: Path) -> None:
    """An objective that needs rates that nobody knows stops a solve, not this."""
    content = document(delay_ms=delays())
    del content["applications"][0]["streams"][0]["bytes_per_s"]
    content["objective"] = {"traffic": 1.0}
    assert berth("solve", write(tmp_path, content)).returncode == 2
    assert run(tmp_path, content)[1]["objective"] == {"traffic": 1.0}


@pytest.mark.parametrize(
    ("network", "options", "line"),
    [
        ({}, (), "problem.yaml: no delay between any two nodes"),
        ({"delay_ms": [[0]]}, (), "network.delay_ms: 1 rows, but 12 nodes"),
        ({}, ("--dimensions", "0"), "--dimensions: 0 is not in 1 to 16"),
        ({}, ("--neighbours", "0"), "--neighbours: 0 is below 1"),
        ({}, ("--probes", "nothing.csv"), "nothing.csv: no such file or folder"),
    ],
)
def test_bad_input(tmp_path: Path, network: dict[str, Any], options: tuple[str, ...], line: str) -> None:
    """Exit code 2, one line, and nothing is written."""
    target = tmp_path / "out.json"
    done = berth("coordinates", write(tmp_path, document(**network)), "--out", str(target), *options)
    assert done.returncode == 2
    assert line in done.stderr
    assert done.stdout == ""
    assert not target.exists()


def test_no_folder_for_the_result(tmp_path: Path) -> None:
    """That is said before anything is computed."""
    target = str(tmp_path / "nowhere" / "o.json")
    done = berth("coordinates", write(tmp_path, document(delay_ms=delays())), "--out", target)
    assert done.returncode == 2
    assert "no folder" in done.stderr
