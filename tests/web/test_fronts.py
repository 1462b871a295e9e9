"""Fronts in the background: from two metrics to plans in the workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import berth
from tests.web.conftest import API
from tests.web.test_jobs import over, told

JOIN = Path(__file__).parents[2] / "examples" / "two-source-join.yaml"
BOTH = ["response_time", "cost_per_hour"]


@pytest.fixture
def workspace(workspace: Path) -> Path:
    (workspace / "join.yaml").write_text(JOIN.read_text())
    return workspace


def submitted(client: TestClient, **request: Any) -> str:
    answer = client.post(f"{API}/fronts", json={"problem": "join.yaml", "objectives": BOTH, **request})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"{API}/jobs/{answer.json()['id']}"
    return str(answer.json()["id"])


def test_from_two_metrics_to_a_plan(client: TestClient, workspace: Path) -> None:
    identity = submitted(client)
    job = over(client, identity)
    assert (job["state"], job["kind"], job["status"], job["points"]) == ("done", "front", "found", 5)
    assert (job["plan"], job["objective"], job["bound"]) == (None, None, None)
    stages = [data["stage"] for _, event, data in told(client, identity) if event == "progress"]
    assert all(stage.startswith("point ") for stage in stages)
    front = client.get(f"{API}/fronts/{identity}").json()
    assert front["objectives"] == BOTH
    assert front["complete"]
    assert [point["proved"] for point in front["points"]] == [True] * 5
    again = berth.front(berth.load(workspace / "join.yaml"), *BOTH)
    assert [list(point["values"].values()) for point in front["points"]] == [
        list(point.values) for point in again.points
    ]
    plan = front["points"][2]["plan"]
    stored = client.post(f"{API}/plans/upload?name=fronts/x/point-03.json", json=plan)
    assert stored.status_code == 201
    twice = client.post(f"{API}/plans/upload?name=fronts/x/point-03.json", json=plan)
    assert (twice.status_code, twice.json()["id"]) == (409, stored.json()["id"])
    listed = client.get(f"{API}/plans?problem=join.yaml").json()
    assert [(each["path"], each["version"]) for each in listed] == [("fronts/x/point-03.json", "this")]


def test_what_is_no_front_yet_or_never(client: TestClient) -> None:
    """A job that solves has none; a front that was cancelled before it began neither."""
    solve = client.post(f"{API}/jobs", json={"problem": "small.yaml", "policy": "odp"}).json()["id"]
    front = submitted(client, policy="search", time_limit=100)
    assert client.get(f"{API}/fronts/{front}").status_code == 409
    assert client.post(f"{API}/jobs/{front}/cancel").status_code == 202
    job = over(client, front)
    assert job["state"] == "cancelled"
    answer = client.get(f"{API}/fronts/{front}")
    assert answer.status_code == (404 if job["points"] is None else 200)
    assert over(client, solve)["kind"] == "solve"
    assert client.get(f"{API}/fronts/{solve}").status_code == 404
    assert client.get(f"{API}/fronts/20200101-000000-000000").status_code == 404


@pytest.mark.parametrize("names", [[], ["traffic"], [*BOTH, "traffic"]])
def test_a_front_lies_between_two(client: TestClient, names: list[str]) -> None:
    answer = client.post(f"{API}/fronts", json={"problem": "join.yaml", "objectives": names})
    assert answer.status_code == 422
    (mistake,) = answer.json()["mistakes"]
    assert mistake["path"] == "objectives"
    assert mistake["message"] == f"a front lies between two metrics, {len(names)} given"


def test_no_plan(client: TestClient, workspace: Path) -> None:
    text = (
        (workspace / "small.yaml")
        .read_text()
        .replace("demand: {cpu: 1}, work_ms", "demand: {cpu: 9}, work_ms")
    )
    (workspace / "full.yaml").write_text(text)
    identity = submitted(client, problem="full.yaml", objectives=["response_time", "traffic"])
    job = over(client, identity)
    assert (job["state"], job["status"], job["points"]) == ("done", "infeasible", 0)
    assert "cpu" in job["reason"]
    assert client.get(f"{API}/fronts/{identity}").json()["points"] == []


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({"objectives": ["traffic"]}, "objectives"),
        ({"objectives": ["traffic", "trafic"]}, "objectives"),
        ({"objectives": ["traffic", "traffic"]}, "objectives"),
        ({"objectives": ["traffic", "containers_used"]}, "objectives.containers_used"),
        ({"points": 1}, "points"),
        ({"policy": "ffd"}, "policy"),
        ({"parameters": {"gpa": 1}}, "parameters.gpa"),
        ({"time_limit": 101}, "time_limit"),
    ],
)
def test_mistakes_are_told_at_once(client: TestClient, request_: dict[str, Any], path: str) -> None:
    answer = client.post(f"{API}/fronts", json={"problem": "join.yaml", "objectives": BOTH, **request_})
    assert answer.status_code == 422
    assert [each["path"] for each in answer.json()["mistakes"]] == [path]
    assert client.get(f"{API}/jobs").json() == []
