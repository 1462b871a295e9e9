"""Solves in the background, from the question to the plan in the workspace."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import berth
from berth.web.app import create_app
from berth.web.security import Settings
from tests.web.conftest import API

pytestmark = pytest.mark.usefixtures("naughty")


def submitted(client: TestClient, **request: Any) -> str:
    answer = client.post(f"{API}/jobs", json={"problem": "small.yaml", "time_limit": 20, **request})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"{API}/jobs/{answer.json()['id']}"
    return str(answer.json()["id"])


def states(client: TestClient, identity: str) -> Iterator[dict[str, Any]]:
    """The job, now and again."""
    while True:
        yield client.get(f"{API}/jobs/{identity}").json()
        time.sleep(0.02)


def until(client: TestClient, identity: str, *wanted: str) -> dict[str, Any]:
    return next(job for job in states(client, identity) if job["state"] in wanted)


def over(client: TestClient, identity: str) -> dict[str, Any]:
    return until(client, identity, "done", "cancelled", "failed", "broken")


def told(client: TestClient, identity: str, **headers: str) -> list[tuple[int, str, Any]]:
    """All events of a job that is over, or until it is."""
    text = client.get(f"{API}/jobs/{identity}/events", headers=headers).text
    found = []
    for block in text.split("\n\n"):
        parts = dict(line.partition(": ")[::2] for line in block.splitlines() if not line.startswith(":"))
        if parts:
            found.append((int(parts["id"]), parts["event"], json.loads(parts["data"])))
    return found


def test_from_the_question_to_the_plan(client: TestClient, workspace: Path) -> None:
    """A plan file like any other; the events tell how it came about, and again from where one left."""
    identity = submitted(client, policy="odp", name="out/best.json")
    job = over(client, identity)
    assert (job["state"], job["status"], job["plan"]) == ("done", "optimal", "out~best.json")
    assert (job["objective"], job["gap"], job["violations"]) == (19.0, 0.0, 0)
    plan = berth.load_plan(workspace / "out" / "best.json")
    assert plan.assignment["app/work"] == "paris"
    events = told(client, identity)
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    assert [data["state"] for _, event, data in events if event == "state"] == ["waiting", "running", "done"]
    progress = [data for _, event, data in events if event == "progress"]
    assert progress[-1]["objective"] == 19.0
    assert told(client, identity, **{"Last-Event-ID": "1"}) == events[1:]
    assert "kind" not in events[0][2]["request"]


def test_what_is_asked_for_instead(client: TestClient) -> None:
    """Another objective, a requirement, a seed and a plan before."""
    first = over(client, submitted(client, policy="odp", objective={"nodes_used": 1}))
    assert first["objective"] == 2.0
    assert client.get(f"{API}/plans/{first['plan']}").json()["goal"] == {"nodes_used": 1.0}
    strict = {"requirements": {"app": {"max_response_time_ms": 18}}}
    refused = over(client, submitted(client, policy="odp", **strict))
    assert (refused["state"], refused["status"], refused["plan"]) == ("done", "infeasible", None)
    assert refused["reason"]
    stay = {"objective": {"moved_instances": 1}, "previous": first["plan"]}
    moved = over(client, submitted(client, policy="odp", **stay))
    assert moved["objective"] == 0.0


def test_a_policy_with_a_goal_of_its_own(client: TestClient) -> None:
    """The objective is told with what it counts, not with what was asked for."""
    identity = submitted(client, policy="mopa")
    assert client.get(f"{API}/jobs/{identity}").json()["goal"] == {"response_time": 1.0}
    job = over(client, identity)
    plan = client.get(f"{API}/plans/{job['plan']}").json()
    assert job["goal"] == plan["goal"] != {"response_time": 1.0}
    assert job["objective"] == plan["objective"]


def test_goals_in_order(client: TestClient, workspace: Path) -> None:
    """The list and the tolerances of a request; the job tells the figures of the first goal."""
    goals = [{"response_time": 1.0}, {"nodes_used": 1.0}]
    plans, jobs = [], []
    for within in (None, [10.0]):
        jobs.append(over(client, submitted(client, policy="odp", objective=goals, objective_within=within)))
        plans.append(json.loads((workspace / jobs[-1]["plan"]).read_text()))
    for job, plan in zip(jobs, plans, strict=True):
        assert job["goal"] == plan["goal"] == goals
        assert job["objective"] == plan["levels"][0]["objective"] == plan["metrics"]["response_time_ms"]
        assert plan["status"] == "optimal"
        last = [data["objective"] for _, event, data in told(client, job["id"]) if event == "progress"][-1]
        assert last == job["objective"]
    used = [plan["levels"][1]["objective"] for plan in plans]
    times = [plan["objective"] for plan in plans]
    assert times[0] < times[1]
    assert used[0] > used[1]


def test_a_tolerance_for_the_goals_of_the_problem(client: TestClient, workspace: Path) -> None:
    text = (workspace / "small.yaml").read_text()
    (workspace / "two.yaml").write_text(text + "objective: [{response_time: 1}, {nodes_used: 1}]\n")
    assert client.get(f"{API}/problems/two.yaml").json()["objective"] == [
        {"response_time": 1.0},
        {"nodes_used": 1.0},
    ]
    job = over(client, submitted(client, problem="two.yaml", policy="odp", objective_within=[10]))
    plan = json.loads((workspace / job["plan"]).read_text())
    assert plan["levels"][0]["objective"] > plan["levels"][0]["bound"]


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        ({"policy": "odpp"}, "policy"),
        ({"parameters": {"gpa": 1}}, "parameters.gpa"),
        ({"policy": "odp", "parameters": {"gap": "much"}}, "parameters.gap"),
        ({"objective": {"respnse_time": 1}}, "objective.respnse_time"),
        ({"objective": {"response_time": -1}}, "objective.response_time"),
        ({"objective": {"containers_used": 1}}, "objective.containers_used"),
        ({"objective": [{"traffic": 1}, {"trafic": 1}]}, "objective[1].trafic"),
        ({"objective": [{"traffic": 1}, {"traffic": -1}]}, "objective[1].traffic"),
        ({"objective": [{"traffic": 1}, {"containers_used": 1}]}, "objective[1].containers_used"),
        ({"objective": [{"traffic": 1}, {}]}, "objective[1]"),
        ({"objective": {"traffic": True}}, "objective.traffic"),
        ({"time_limit": "20"}, "time_limit"),
        ({"seed": True}, "seed"),
        ({"objective": []}, "objective"),
        ({"objective": "traffic"}, "objective"),
        ({"objective": [{"traffic": 1}], "objective_within": [0, 0]}, "objective_within"),
        ({"objective_within": [-1]}, "objective_within[0]"),
        ({"requirements": {"ap": {}}}, "requirements.ap"),
        ({"requirements": {"app": {"min_availability": 2}}}, "requirements.app.min_availability"),
        ({"time_limit": 101}, "time_limit"),
        ({"time_limit": 0}, "time_limit"),
        ({"seed": -1}, "seed"),
        ({"name": "../x.json"}, "name"),
        ({"nmae": "x.json"}, "nmae"),
    ],
)
def test_mistakes_are_told_at_once(client: TestClient, request_: dict[str, Any], path: str) -> None:
    """Nothing is begun; the field is named."""
    answer = client.post(f"{API}/jobs", json={"problem": "small.yaml", **request_})
    assert answer.status_code == 422
    assert [each["path"] for each in answer.json()["mistakes"]] == [path]
    assert client.get(f"{API}/jobs").json() == []


def test_very_many_names_that_there_are_not(client: TestClient) -> None:
    """What was meant is looked for only where it is told."""
    wrong = {f"application-{number}": {"throughput_per_s": 1.0} for number in range(10_000)}
    began = time.perf_counter()
    refused = client.post(f"{API}/jobs", json={"problem": "small.yaml", "requirements": wrong})
    assert (refused.status_code, refused.json()["error"]) == (422, "10,000 mistakes")
    assert time.perf_counter() - began < 5.0


def test_cancelling_keeps_the_best_plan(client: TestClient, workspace: Path) -> None:
    """It is asked to stop, and hands in what it has."""
    identity = submitted(client, policy="naughty", parameters={"what": "slow"})
    running = next(job for job in states(client, identity) if job["objective"] == 3.0)
    assert running["state"] == "running"
    assert running["gap"] == pytest.approx(2 / 3)
    assert client.post(f"{API}/jobs/{identity}/cancel").status_code == 202
    job = over(client, identity)
    assert (job["state"], job["reason"]) == ("cancelled", "cancelled")
    assert berth.load_plan(workspace / job["plan"]).assignment["app/work"] == "paris"
    assert client.post(f"{API}/jobs/{identity}/cancel").status_code == 409


def test_a_queue(client: TestClient) -> None:
    """One at a time here, three wait, the next is refused; who waits can go, and be forgotten."""
    first = submitted(client, policy="naughty", parameters={"what": "slow"})
    until(client, first, "running")
    waiting = [submitted(client, policy="round-robin", seed=seed) for seed in range(3)]
    assert [client.get(f"{API}/jobs/{each}").json()["position"] for each in waiting] == [1, 2, 3]
    full = client.post(f"{API}/jobs", json={"problem": "small.yaml"})
    assert full.status_code == 429
    assert full.headers["retry-after"]
    assert client.get(f"{API}/health").json()["jobs"] == {"running": 1, "waiting": 3}
    assert client.post(f"{API}/jobs/{waiting[0]}/cancel").json()["state"] == "cancelled"
    assert client.get(f"{API}/jobs/{waiting[1]}").json()["position"] == 1
    assert client.delete(f"{API}/jobs/{first}").status_code == 202
    assert [over(client, each)["state"] for each in waiting[1:]] == ["done", "done"]
    done = client.get(f"{API}/jobs", params={"state": "done"}).json()
    assert [job["id"] for job in done] == [waiting[2], waiting[1]]
    assert client.delete(f"{API}/jobs/{waiting[0]}").status_code == 204
    assert client.get(f"{API}/jobs/{waiting[0]}").status_code == 404
    assert len(client.get(f"{API}/jobs", params={"limit": 2}).json()) == 2


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("crash", "died of SIGSEGV"),
        ("exit", "exit code 7"),
        ("raise", "RuntimeError: oh, file.txt"),
        ("full", "its result can't be written"),
    ],
)
def test_a_crash_is_the_job_s_own(client: TestClient, what: str, words: str) -> None:
    """The service goes on, and says what happened."""
    job = over(client, submitted(client, policy="naughty", parameters={"what": what}))
    assert (job["state"], job["plan"]) == ("failed", None)
    assert words in job["reason"]
    assert client.get(f"{API}/health").json()["jobs"]["running"] == 0


def test_memory_is_the_job_s_own(settings: Settings) -> None:
    """Who takes too much is ended."""
    few = Settings(workspace=settings.workspace, workers=1, memory_bytes=400 * 2**20)
    with TestClient(create_app(few), base_url="http://127.0.0.1") as client:
        job = over(client, submitted(client, policy="naughty", parameters={"what": "memory"}))
        assert job["state"] == "failed"
        assert "memory" in job["reason"]


def test_who_does_not_stop_is_ended(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time, and after being asked."""
    monkeypatch.setattr("berth.web.queue.BEYOND_SECONDS", 4.0)
    monkeypatch.setattr("berth.web.queue.GRACE_SECONDS", 0.5)
    hanging = {"policy": "naughty", "parameters": {"what": "hang"}}
    late = over(client, submitted(client, time_limit=0.2, **hanging))
    assert late["state"] == "failed"
    assert "time limit" in late["reason"]
    asked = submitted(client, **hanging)
    next(job for job in states(client, asked) if job["objective"] == 3.0)
    client.post(f"{API}/jobs/{asked}/cancel")
    assert over(client, asked)["state"] == "cancelled"


def test_a_problem_that_changes_meanwhile(client: TestClient, workspace: Path) -> None:
    """The job solves what it was given."""
    blocking = submitted(client, policy="naughty", parameters={"what": "slow"})
    identity = submitted(client, policy="odp")
    (workspace / "small.yaml").write_text("format: berth/v1\nname: torn")
    client.post(f"{API}/jobs/{blocking}/cancel")
    assert over(client, identity)["objective"] == 19.0


def test_a_name_that_is_taken_meanwhile(client: TestClient, workspace: Path) -> None:
    """Neither plan is lost."""
    (workspace / "x.json").write_text("{}")
    job = over(client, submitted(client, policy="round-robin", name="x.json"))
    assert (workspace / "x.json").read_text() == "{}"
    assert job["plan"] not in (None, "x.json")


def test_after_a_restart(settings: Settings) -> None:
    """What is over is found, what ran is marked, what waited goes on."""
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        done = submitted(client, policy="odp")
        over(client, done)
    jobs = settings.workspace / ".berth" / "jobs"
    record = json.loads((jobs / done / "job.json").read_text())
    for identity, state in (("20200101-000000-00000a", "running"), ("20200101-000001-00000b", "waiting")):
        (jobs / identity).mkdir()
        for name in ("request.json", "problem.yaml"):
            (jobs / identity / name).write_bytes((jobs / done / name).read_bytes())
        (jobs / identity / "job.json").write_text(
            json.dumps({**record, "id": identity, "state": state, "plan": None, "ended": None})
        )
    (jobs / "20200101-000002-00000c").mkdir()
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        assert over(client, done)["plan"] is not None
        broken = over(client, "20200101-000000-00000a")
        assert (broken["state"], broken["reason"]) == ("broken", "the service ended while it ran")
        assert over(client, "20200101-000001-00000b")["state"] == "done"
        assert client.get(f"{API}/jobs/20200101-000002-00000c").status_code == 404


def test_the_end_of_the_service(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that runs hands in what it has."""
    monkeypatch.setattr("berth.web.queue.LAST_SECONDS", 60.0)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        running = submitted(client, policy="naughty", parameters={"what": "slow"})
        next(job for job in states(client, running) if job["objective"] == 3.0)
        waiting = submitted(client, policy="odp")
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        job = over(client, running)
        assert (job["state"], job["reason"]) == ("cancelled", "the service was stopped")
        assert job["plan"] is not None
        assert over(client, waiting)["state"] == "done"


def test_no_file_of_the_workspace_is_executed(
    client: TestClient, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the service was started in it."""
    for name in ("numpy", "berth", "sitecustomize", "yaml"):
        (workspace / f"{name}.py").write_text(f"open({str(workspace / 'ran')!r}, 'w')")
    monkeypatch.chdir(workspace)
    assert over(client, submitted(client, policy="round-robin"))["state"] == "done"
    assert not (workspace / "ran").exists()
