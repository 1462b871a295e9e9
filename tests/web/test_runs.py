"""Runs, live and past, and the answer to a proposal."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from berth.files.run_folder import asking, read_json, write_now
from berth.model import Plan
from berth.runtime.control.history import Event, History
from berth.web.problems import Problems
from berth.web.runs import Runs
from berth.web.streams import run_events
from berth.web.workspace import Workspace
from tests.web.conftest import API, ASSIGNMENT, PROBLEM

PLAN = Plan(ASSIGNMENT, problem="small", policy="odp")
MOVED = Plan({**ASSIGNMENT, "app/work": "oslo"}, problem="small", policy="odp")
NOW = {"application": "app", "started": "2026-01-01T00:00:00.000+00:00", "rows": 7, "plan": ASSIGNMENT}


@pytest.fixture
def run(workspace: Path) -> Path:
    """A watch that runs: this process is its own."""
    folder = workspace / "app.run"
    with History(folder) as history:
        number = history.plan_number(PLAN)
        history.record(Event(1.0, "started", "the plan of plan.json", number, ASSIGNMENT))
        history.record(
            Event(
                2.0, "migrated", "better", history.plan_number(MOVED), MOVED.assignment, gain=0.2, pause_s=1.5
            )
        )
    write_now(folder, NOW)
    (folder / "run.json").write_text(json.dumps({"application": "app"}))
    return folder


def test_the_problem_of_a_watch_is_the_file_with_its_content(
    client: TestClient, workspace: Path, run: Path
) -> None:
    """Another file may have the same name; only where none has the content, the name decides."""
    text = (workspace / "small.yaml").read_text()
    (workspace / "a.yaml").write_text(text.replace("speed: 2", "speed: 33"))
    (run / "measuring").mkdir()
    began = run / "measuring" / "problem.json"
    for speed, file in ((2, "small.yaml"), (33, "a.yaml"), (4.25, "a.yaml")):
        began.write_text(json.dumps(yaml.safe_load(text.replace("speed: 2", f"speed: {speed}"))))
        problem = client.get(f"{API}/runs/app.run").json()["problem"]
        assert problem == {"id": file, "name": "small"}


def test_a_watch_that_runs(client: TestClient, run: Path) -> None:
    """What it says of itself; its own files are no plans or problems of the workspace."""
    (run / "measuring").mkdir()
    (run / "measuring" / "problem.json").write_text(json.dumps({"format": "berth/v1", "name": "small"}))
    (listed,) = client.get(f"{API}/runs").json()
    assert {key: listed[key] for key in ("id", "application", "kind", "state", "migrations", "events")} == {
        "id": "app.run",
        "application": "app",
        "kind": "watch",
        "state": "running",
        "migrations": 1,
        "events": 2,
    }
    whole = client.get(f"{API}/runs/app.run").json()
    assert (whole["now"]["rows"], whole["report"], whole["proposal"]) == (7, None, None)
    assert whole["assignment"] == ASSIGNMENT
    assert whole["problem"] == {"id": "small.yaml", "name": "small"}
    assert client.get(f"{API}/plans").json() == []
    assert len(client.get(f"{API}/problems").json()) == 1
    assert client.get(f"{API}/runs/small.yaml").status_code == 404


def test_history_and_plans(client: TestClient, run: Path) -> None:
    """Event by event, from where one left; a line that is still being written is none."""
    with (run / "history.jsonl").open("a") as lines:
        lines.write('{"event": "kep')
    first = client.get(f"{API}/runs/app.run/history", params={"limit": 1}).json()
    assert [(each["number"], each["event"]) for each in first["events"]] == [(1, "started")]
    rest = client.get(f"{API}/runs/app.run/history", params={"after": first["next"]}).json()
    assert [(each["number"], each["gain"]) for each in rest["events"]] == [(2, 0.2)]
    assert client.get(f"{API}/runs/app.run/history", params={"after": 2}).json() == {"events": [], "next": 2}
    assert client.get(f"{API}/runs/app.run/plans/2").json()["assignment"]["app/work"] == "oslo"
    assert client.get(f"{API}/runs/app.run/plans/3").status_code == 404
    assert client.get(f"{API}/runs/app.run/timeline.svg").status_code == 404


def test_past_runs(client: TestClient, run: Path, workspace: Path) -> None:
    """A watch that said that it ended, one that only stopped, and a run with its report."""
    with History(run) as history:
        history.record(Event(time.time() + 1, "stopped", "interrupted"))
    assert client.get(f"{API}/runs/app.run").json()["state"] == "ended"
    now = json.loads((run / "now.json").read_text())
    gone = workspace / "gone.run"
    gone.mkdir()
    (gone / "history.jsonl").write_text(
        '{"time": "2026-01-01T00:00:00+00:00", "event": "started"}\nnonsense\n'
    )
    now["process"]["pid"] = 2**22 + 1
    (gone / "now.json").write_text(json.dumps(now))
    assert client.get(f"{API}/runs/gone.run").json()["state"] == "unknown"
    plain = workspace / "plain.run"
    plain.mkdir()
    (plain / "run.json").write_text('{"application": "other"}')
    report = {"application": "other", "plan": ASSIGNMENT, "ended_because": "finished", "ended": "2026"}
    (plain / "report.json").write_text(json.dumps(report))
    found = client.get(f"{API}/runs/plain.run").json()
    assert (found["kind"], found["state"], found["ended_because"]) == ("run", "ended", "finished")
    assert (found["report"], found["assignment"]) == (report, ASSIGNMENT)


def test_a_run_that_has_not_told_anything_yet(client: TestClient, workspace: Path) -> None:
    """It starts, as far as can be known; after a while nobody believes that any more."""
    folder = workspace / "new.run"
    with History(folder) as history:
        history.record(Event(time.time(), "started", "the plan of plan.json", 1, ASSIGNMENT))
    assert client.get(f"{API}/runs/new.run").json()["state"] == "starting"
    os.utime(folder / "history.jsonl", (1.0, 1.0))
    assert client.get(f"{API}/runs/new.run").json()["state"] == "unknown"


def test_figures_over_time(client: TestClient, run: Path) -> None:
    """Kept now and then while it runs, and thinned for whoever asks for fewer; the last one stays."""
    write_now(run, {**NOW, "rows_per_s": 2.0})
    (first,) = client.get(f"{API}/runs/app.run/figures").json()
    assert (first["rows_per_s"], first["busy"]) == (None, {})
    operators = [{"operator": "work", "busy_share": 0.5}]
    for rate in range(9):
        os.utime(run / "figures.jsonl", (1.0, 1.0))
        latency = {"p50": 1.0, "p95": 2.0, "last": 3.0}
        write_now(run, {**NOW, "rows_per_s": rate, "latency_ms": latency, "operators": operators})
    points = client.get(f"{API}/runs/app.run/figures").json()
    assert [each["rows_per_s"] for each in points] == [None, *range(9)]
    assert (points[-1]["latency_ms"], points[-1]["busy"]) == ({"p50": 1.0, "p95": 2.0}, {"work": 0.5})
    few = client.get(f"{API}/runs/app.run/figures", params={"most": 4}).json()
    assert [each["rows_per_s"] for each in few] == [None, 2, 5, 8]


@pytest.mark.parametrize("approve", [True, False])
def test_a_proposal_is_answered_from_here(client: TestClient, run: Path, approve: bool) -> None:
    """Once, while it waits."""
    with asking(run, "50% better", PLAN, MOVED) as question:
        assert client.get(f"{API}/runs").json()[0]["proposal"]
        proposal = client.get(f"{API}/runs/app.run").json()["proposal"]
        assert (proposal["id"], proposal["reason"]) == (question.id, "50% better")
        assert proposal["change"]["moved"] == {"app/work": {"from": "paris", "to": "oslo"}}
        assert question.answer() is None
        decision = {"proposal": "another", "approve": True}
        assert client.post(f"{API}/runs/app.run/decision", json=decision).status_code == 409
        decision = {"proposal": question.id, "approve": approve}
        assert client.post(f"{API}/runs/app.run/decision", json=decision).status_code == 202
        assert question.answer() is approve
        assert client.post(f"{API}/runs/app.run/decision", json=decision).status_code == 409
    assert client.get(f"{API}/runs/app.run").json()["proposal"] is None
    assert client.post(f"{API}/runs/app.run/decision", json=decision).status_code == 409


def test_live(run: Path, workspace: Path) -> None:
    """History, figures and proposals as they come; what was seen before is not told again."""
    inside = Workspace(workspace)
    runs = Runs(inside, Problems(inside))

    async def events() -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        async for event in run_events(runs, "app.run", 1):
            found.append((str(event.event), json.loads(event.data)))
            if len(found) == 4:
                write_now(run, {**NOW, "rows": 8})
                with History(run) as history:
                    history.record(Event(3.0, "looked"))
            elif found[-1][0] == "now" and found[-1][1]["rows"] == 8:
                threading.Thread(target=ask).start()
            elif len(found) > 4 and found[-1] == ("proposal", None):
                return found
        raise AssertionError("the folder is gone")

    def ask() -> None:
        with asking(run, "why", PLAN, MOVED):
            time.sleep(1.0)

    found = asyncio.run(asyncio.wait_for(events(), 20))
    assert [event for event, _ in found[:4]] == ["history", "now", "proposal", "state"]
    assert found[0][1]["number"] == 2
    assert {"history", "now", "proposal"} <= {event for event, _ in found[4:]}
    assert [data["rows"] for event, data in found if event == "now"] == [7, 8]


def test_many_who_watch_cost_as_much_as_one(
    run: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run says is read once for all of them, and nobody waits for that who watches nothing."""
    inside = Workspace(workspace)
    runs = Runs(inside, Problems(inside))
    read: list[tuple[str, bool]] = []

    def counted(file: Path, *more: int) -> dict[str, Any] | None:
        read.append((file.name, threading.current_thread() is threading.main_thread()))
        return read_json(file, *more)

    monkeypatch.setattr("berth.web.runs.read_json", counted)
    monkeypatch.setattr("berth.web.streams.POLL_SECONDS", 0.02)

    async def watch() -> list[str]:
        found: list[str] = []
        async for event in run_events(runs, "app.run", 2):
            found.append(str(event.event))
            if len(found) == 3:
                await asyncio.sleep(0.3)
                write_now(run, {**NOW, "rows": 8})
            elif len(found) == 4:
                break
        return found

    async def all_of_them() -> list[list[str]]:
        return await asyncio.gather(*(watch() for _ in range(6)))

    for found in asyncio.run(asyncio.wait_for(all_of_them(), 20)):
        assert found == ["now", "proposal", "state", "now"]
    assert not any(waited for _, waited in read)
    # at first, and for each of the six times that it was written: for lists, and as streams tell it
    assert len([name for name, _ in read if name == "now.json"]) <= 2 * 7
    assert len([name for name, _ in read if name == "run.json"]) == 1


def test_what_is_too_large_is_not_told(client: TestClient, workspace: Path, run: Path) -> None:
    """It would be read again and again; lists have room for names."""
    write_now(run, {**NOW, "application": "a" * 5000})
    assert client.get(f"{API}/runs").json()[0]["application"] == "a" * 197 + "..."
    write_now(run, {**NOW, "rows": "x" * 2**20})
    whole = client.get(f"{API}/runs/app.run").json()
    assert (whole["now"], whole["application"]) == (None, "app")
    inside = Workspace(workspace)
    assert Runs(inside, Problems(inside)).told("app.run")["now"] == b"null"


def test_links_out_of_a_run(client: TestClient, run: Path, tmp_path: Path) -> None:
    """A run's files are its own."""
    (tmp_path / "secret.json").write_text('{"ended_because": "secret"}')
    for name in ("report.json", "plans/0009.json", "timeline.svg"):
        os.symlink(tmp_path / "secret.json", run / name)
    assert client.get(f"{API}/runs/app.run").json()["report"] is None
    assert client.get(f"{API}/runs/app.run/plans/9").status_code == 404
    assert client.get(f"{API}/runs/app.run/timeline.svg").status_code == 404


FORGED = (
    "decision.json",
    "now.json",
    "proposal.json",
    "report.json",
    "plans/0003.json",
    "measuring/problem.json",
)


@pytest.mark.parametrize("name", FORGED)
def test_nobody_stores_into_a_run(client: TestClient, workspace: Path, run: Path, name: str) -> None:
    """Not a decision: only admins answer proposals, and any planner may store files."""
    os.symlink(run / "plans", workspace / "elsewhere")
    for path in (f"app.run/{name}", f"app.run/deeper/{name}", f"elsewhere/{name}"):
        before = sorted(run.rglob("*"))
        with asking(run, "50% better", PLAN, MOVED) as question:
            draft = json.dumps({"proposal": question.id, "approve": True})
            where = {"name": path, "draft": True}
            refused = client.post(f"{API}/problems", params=where, content=draft)
            assert (refused.status_code, "is the folder of a run" in refused.json()["error"]) == (403, True)
            assert question.answer() is None
        plan = {"problem": "small.yaml", "assignment": ASSIGNMENT, "name": path}
        assert client.post(f"{API}/plans", json=plan).status_code == 403
        upload = json.dumps({"format": "berth-plan/v1", "assignment": ASSIGNMENT})
        assert client.post(f"{API}/plans/upload", params={"name": path}, content=upload).status_code == 403
        job = {"problem": "small.yaml", "policy": "odp", "name": path}
        assert client.post(f"{API}/jobs", json=job).status_code == 403
        assert sorted(run.rglob("*")) == before


def test_what_a_run_has_written_stays(client: TestClient, workspace: Path, run: Path) -> None:
    """Its plans can be looked at, and nobody changes them; nor a draft that was there before."""
    plan = client.get(f"{API}/plans/app.run~plans~0001.json")
    tag = {"If-Match": plan.headers["etag"]}
    assert client.put(f"{API}/plans/app.run~plans~0001.json", content="{}", headers=tag).status_code == 403
    assert client.delete(f"{API}/plans/app.run~plans~0001.json", headers=tag).status_code == 403
    early = client.post(
        f"{API}/problems", params={"name": "x.run/decision.json", "draft": True}, content="{}"
    )
    assert early.status_code == 201
    (workspace / "x.run" / "history.jsonl").touch()
    tag = {"If-Match": early.headers["etag"]}
    path, draft = f"{API}/problems/x.run~decision.json", {"draft": True}
    assert client.put(path, params=draft, content='{"approve": true}', headers=tag).status_code == 403


@pytest.mark.parametrize("name", ["run.json", "made-up/run.json", "made-up/RUN.json"])
def test_nobody_makes_up_a_run(client: TestClient, workspace: Path, name: str) -> None:
    """A file of that name is what tells the folder of a run from others."""
    where = {"name": name, "draft": True}
    refused = client.post(f"{API}/problems", params=where, content='{"application": "made up"}')
    assert refused.status_code == 422
    assert refused.json()["mistakes"][0]["message"].endswith("would make its folder a run")
    json_problem = json.dumps(yaml.safe_load(PROBLEM) | {"name": "run"})
    stored = client.post(
        f"{API}/problems", content=json_problem, headers={"Content-Type": "application/json"}
    )
    assert (stored.status_code, stored.json()["path"]) == (201, "run-2.json")
    assert client.get(f"{API}/runs").json() == []


def test_nobody_stores_into_an_experiment(client: TestClient, workspace: Path) -> None:
    """What was measured is not for planners to add to."""
    (workspace / "reproduction" / "claims").mkdir(parents=True)
    (workspace / "reproduction" / "report.html").touch()
    for name in ("reproduction/x.yaml", "reproduction/claims/x.yaml"):
        refused = client.post(f"{API}/problems", params={"name": name}, content=PROBLEM)
        assert refused.status_code == 403
    (workspace / "report.html").touch()
    assert client.post(f"{API}/problems", params={"name": "x.yaml"}, content=PROBLEM).status_code == 201
