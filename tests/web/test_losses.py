"""What if a node goes, over REST."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from tests.web.conftest import API, ASSIGNMENT


def lose(client: TestClient, node: str, **more: Any) -> Any:
    answer = client.post(f"{API}/loss", json={"problem": "small.yaml", "node": node, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture
def plan(workspace: Path) -> str:
    document = {"format": "berth-plan/v1", "problem": "small", "policy": "mine", "assignment": ASSIGNMENT}
    (workspace / "p.json").write_text(json.dumps(document))
    return "p.json"


def survive(workspace: Path, what: Any, **labels: str) -> None:
    """The problem with something to survive."""
    file = workspace / "small.yaml"
    document = yaml.safe_load(file.read_text())
    document["survive"] = what
    for node in document["network"]["nodes"]:
        if node["name"] in labels:
            node["labels"] = {"zone": labels[node["name"]]}
    file.write_text(json.dumps(document))


def test_any_plan_of_any_problem(client: TestClient, workspace: Path, plan: str) -> None:
    """Nothing says what to survive: the moves are found, and what is left is judged."""
    home = ASSIGNMENT["app/work"]
    found = lose(client, home, plan=plan)
    assert (found["loss"], found["nodes"]) == (home, [home])
    moved = {item["instance"]: item["to"] for item in found["moved"]}
    assert home not in moved.values()
    after = found["after"]
    assert {**{k: v for k, v in ASSIGNMENT.items() if k in after["assignment"]}, **moved} == after[
        "assignment"
    ]
    assert not set(found["lost"]) & set(after["assignment"])
    assert found["response_time_ms"] == after["metrics"]["response_time_ms"]
    assert found["response_time_before_ms"] == 19.0


def test_the_plan_has_a_failover(client: TestClient, workspace: Path) -> None:
    """It is taken where it holds, and said to be."""
    survive(workspace, "node")
    solved = client.post(f"{API}/plans", json={"problem": "small.yaml", "assignment": ASSIGNMENT}).json()
    stored = solved["plan"].get("failover", {})
    for node in set(ASSIGNMENT.values()):
        found = lose(client, node, plan=solved["id"])
        assert {item["instance"]: item["to"] for item in found["moved"]} == stored.get(node, {})
        assert found["stored"] == (not found["violations"])


def test_the_whole_zone_goes(client: TestClient, workspace: Path, plan: str) -> None:
    """Where the problem survives zones, a node stands for its zone."""
    names = [
        node["name"] for node in yaml.safe_load((workspace / "small.yaml").read_text())["network"]["nodes"]
    ]
    survive(workspace, {"label": "zone"}, **{names[0]: "one", names[1]: "one"})
    found = lose(client, names[0], plan=plan)
    assert (found["loss"], found["nodes"]) == ("one", names[:2])
    alone = lose(client, names[-1], plan=plan)
    assert alone["nodes"] == [names[-1]]


def test_a_changed_plan_gets_its_failovers_anew(client: TestClient, workspace: Path) -> None:
    """A drag leaves no stale failover behind."""
    survive(workspace, "node")
    stored = client.post(f"{API}/plans", json={"problem": "small.yaml", "assignment": ASSIGNMENT}).json()
    other = next(node for node in ("rome", "paris", "oslo") if node != ASSIGNMENT["app/work"])
    body = {"problem": "small.yaml", "plan": stored["id"], "assignment": {"app/work": other}}
    violations = client.post(f"{API}/evaluate", json=body).json()["violations"]
    assert not any("but the failover moves it" in line or "has no node" in line for line in violations)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"node": "atlantis", "assignment": ASSIGNMENT}, "no node named 'atlantis'"),
        ({"node": "rome"}, "a plan or an assignment is needed"),
        ({"node": "rome", "assignment": {}}, "something has no node"),
    ],
)
def test_what_can_not_be_said(client: TestClient, body: dict[str, Any], line: str) -> None:
    answer = client.post(f"{API}/loss", json={"problem": "small.yaml", **body})
    assert answer.status_code == 422
    assert line in answer.text
