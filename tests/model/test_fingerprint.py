"""Fingerprints: the same however a problem is written, another where a plan may be worth something else."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import berth
from berth.files import load, problem_document, problem_from
from berth.model import Node, Problem
from berth.policies.sequence import solve_in_turn

EXAMPLES = Path(__file__).parents[2] / "examples"

WRITTEN: dict[str, Any] = {
    "format": "berth/v1",
    "name": "small",
    "network": {
        "nodes": [
            {"name": "rome", "capacity": {"cpu": 4}, "labels": {"zone": 1}, "holds": ["b", "a"]},
            {"name": "paris", "capacity": {"cpu": 2}, "coordinates": [1, 2]},
        ],
        "links": [{"from": "rome", "to": "paris", "delay_ms": 5}],
        "bandwidth_bytes_per_s": [[None, 1e6], [1e6, None]],
    },
    "objects": [{"name": "a", "bytes": 10}, {"name": "b", "bytes": 10}],
    "applications": [
        {
            "name": "words",
            "rules": [{"apart": ["split", "count"]}],
            "operators": [
                {"name": "split", "pinned": "rome", "demand": {"cpu": 1}},
                {"name": "count", "work_ms": 2},
            ],
            "streams": [{"from": "split", "to": "count", "bytes_per_s": 1000}],
        }
    ],
}
"""A little of everything."""


def _changed(change: Callable[[Any], object]) -> str:
    document = copy.deepcopy(WRITTEN)
    change(document)
    return problem_from(document).fingerprint


def _fingerprint() -> str:
    return problem_from(WRITTEN).fingerprint


def _operator(document: Any, number: int) -> Any:
    return document["applications"][0]["operators"][number]


def test_it_is_a_short_word() -> None:
    """Twelve hexadecimal digits."""
    assert len(_fingerprint()) == 12
    assert int(_fingerprint(), 16) >= 0


def test_it_never_changes() -> None:
    """Plans that are stored somewhere refer to it: what it was yesterday it is tomorrow."""
    assert _fingerprint() == "e47bd85cd446"


@pytest.mark.parametrize("name", [file.name for file in sorted(EXAMPLES.glob("*.yaml"))])
def test_yaml_and_json_are_the_same(name: str, tmp_path: Path) -> None:
    """A file of the other kind, written by berth or by another program, with its keys in any order."""
    problem = load(EXAMPLES / name)
    (tmp_path / "again.json").write_text(json.dumps(problem_document(problem)))
    (tmp_path / "again.yaml").write_text(
        "# a comment\n" + yaml.safe_dump(problem_document(problem), sort_keys=True)
    )
    assert load(tmp_path / "again.json").fingerprint == problem.fingerprint
    assert load(tmp_path / "again.yaml").fingerprint == problem.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda it: it.update(name="other"), id="its name"),
        pytest.param(lambda it: it.update(objective={"traffic": 1}), id="what is sought"),
        pytest.param(lambda it: it.update(objective={"response_time": 1.0}), id="a default"),
        pytest.param(lambda it: it.update(sharing=True), id="another default"),
        pytest.param(lambda it: it["network"].update(symmetric=True), id="a default of the network"),
        pytest.param(lambda it: it["network"]["nodes"][1].update(speed=1, height_ms=0), id="of a node"),
        pytest.param(lambda it: _operator(it, 1).update(demand={}, parallelism=1.0), id="of an operator"),
        pytest.param(lambda it: _operator(it, 1).update(demand={"cpu": 0}), id="an amount of nothing"),
        pytest.param(lambda it: _operator(it, 1).update(work_ms=2.0), id="a number written otherwise"),
        pytest.param(lambda it: _operator(it, 0).update(demand={"cpu": 1e0}), id="an amount likewise"),
        pytest.param(lambda it: it["network"]["nodes"][0].update(labels={"zone": "1"}), id="a label"),
        pytest.param(lambda it: it["network"]["nodes"][0].update(holds=["a", "b"]), id="order of a set"),
        pytest.param(
            lambda it: _operator(it, 0).update(candidates=[_operator(it, 0).pop("pinned")]), id="a pin"
        ),
    ],
)
def test_what_changes_no_plan_changes_nothing(change: Callable[[Any], object]) -> None:
    """The name, the goal, and every way to write the same."""
    assert _changed(change) == _fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it["network"]["nodes"][1]["capacity"].update(cpu=3),
        lambda it: (
            it["network"]["nodes"][1].update(name="lyon") or it["network"]["links"][0].update(to="lyon")
        ),
        lambda it: (
            it["network"]["nodes"].append({"name": "oslo"}) or it["network"].pop("bandwidth_bytes_per_s")
        ),
        lambda it: it["network"]["links"][0].update(delay_ms=5.0000001),
        lambda it: it["network"].update(bandwidth_bytes_per_s=[[None, 1e6], [2e6, None]]),
        lambda it: it["network"].update(headroom=0.1),
        lambda it: it.update(sharing=False),
        lambda it: it["objects"][0].update(bytes=11),
        lambda it: it["applications"][0].update(max_response_time_ms=100),
        lambda it: it["applications"][0].update(rules=[{"together": ["split", "count"]}]),
        lambda it: it["applications"][0]["streams"][0].update(grouping="all"),
        lambda it: _operator(it, 1).update(parallelism=2),
        lambda it: (
            _operator(it, 1).update(name="sum")
            or it["applications"][0]["streams"][0].update(to="sum")
            or it["applications"][0].update(rules=[])
        ),
    ],
)
def test_what_may_change_a_plan_changes_it(change: Callable[[Any], object]) -> None:
    """Machines, what lies between them, applications and what they require."""
    assert _changed(change) != _fingerprint()


def test_it_knows_every_field() -> None:
    """A field that is new in the model counts without further code."""
    problem = problem_from(WRITTEN)
    node = replace(problem.network.nodes[0], carbon_g_per_hour=1.0)
    assert problem.with_node(0, node).fingerprint != problem.fingerprint


def test_problems_in_memory() -> None:
    """Problems that no file has may hold numpy's numbers and lists: their fingerprint is that of the file."""
    problem = problem_from(WRITTEN)
    nodes = [
        replace(node, capacity={"cpu": np.int64(node.capacity["cpu"])}) for node in problem.network.nodes
    ]
    network = replace(problem.network, nodes=nodes)  # type: ignore[arg-type]
    assert replace(problem, network=network).fingerprint == problem.fingerprint


def test_plans_say_what_they_are_for() -> None:
    """Whatever goal they were found for."""
    problem = load(EXAMPLES / "edge-pipeline.yaml")
    elsewhere = _with_node(problem, "far")
    for objective in ({"response_time": 1.0}, {"availability": 1.0}):
        plan = berth.solve(replace(problem, objective=objective), "round-robin")
        assert plan.problem_fingerprint == problem.fingerprint
        assert not plan.is_of_another_version(problem.fingerprint)
        assert plan.is_of_another_version(elsewhere.fingerprint)
    assert not replace(plan, problem_fingerprint="").is_of_another_version(problem.fingerprint)


def test_requests_one_after_another() -> None:
    """Their plan is one of the whole problem, whatever was left for each of them."""
    problem = load(EXAMPLES / "filling-cluster.yaml")
    plan = solve_in_turn(problem, "ffd")
    assert plan.problem_fingerprint == problem.fingerprint


def _with_node(problem: Problem, name: str) -> Problem:
    return replace(problem, network=replace(problem.network, nodes=(*problem.network.nodes, Node(name))))
