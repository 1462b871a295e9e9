"""The audit log: who did what to which file, and who was refused."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from berth.web.app import create_app
from berth.web.audit import KEPT, Audit, Journal
from berth.web.people import add_token
from berth.web.security import Settings
from tests.web.conftest import API, ASSIGNMENT, PROBLEM


def lines(workspace: Path, name: str = "audit") -> list[dict[str, Any]]:
    file = workspace / ".berth" / f"{name}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def told(line: dict[str, Any], *keys: str) -> tuple[Any, ...]:
    return tuple(line.get(key) for key in keys)


@pytest.fixture
def people(workspace: Path) -> dict[str, dict[str, str]]:
    """The headers of three people."""
    roles = (("anna", "planner"), ("vi", "viewer"), ("boss", "admin"))
    return {
        name: {"Authorization": f"Bearer {add_token(workspace, name, role)}"}  # type: ignore[arg-type]
        for name, role in roles
    }


@pytest.fixture
def asked(workspace: Path, people: dict[str, Any]) -> Iterator[TestClient]:
    settings = Settings(workspace=workspace, workers=1)
    with TestClient(create_app(settings), base_url="http://127.0.0.1", raise_server_exceptions=False) as made:
        yield made


def test_who_did_what_to_which_file(
    asked: TestClient, workspace: Path, people: dict[str, dict[str, str]]
) -> None:
    """Changes with their names, moments, addresses and outcomes; looking is not written down."""
    anna = people["anna"]
    where = f"{API}/problems/new~x.yaml"
    made = asked.post(f"{API}/problems", params={"name": "new/x.yaml"}, content=PROBLEM, headers=anna)
    asked.put(where, content=PROBLEM + "# a", headers=anna | {"If-Match": made.headers["etag"]})
    asked.put(where, content=PROBLEM + "# b", headers=anna | {"If-Match": made.headers["etag"]})
    asked.get(where, headers=anna)
    asked.post(f"{API}/evaluate", json={"problem": "small.yaml", "assignment": ASSIGNMENT}, headers=anna)
    asked.post(f"{API}/plans", json={"problem": "small.yaml", "assignment": ASSIGNMENT}, headers=anna)
    keys = ("who", "role", "action", "file", "status", "outcome", "address")
    assert [told(line, *keys) for line in lines(workspace)] == [
        ("anna", "planner", "POST /problems", "new/x.yaml", 201, "done", "testclient"),
        ("anna", "planner", "PUT /problems/{id}", "new/x.yaml", 200, "done", "testclient"),
        ("anna", "planner", "PUT /problems/{id}", "new/x.yaml", 412, "refused", "testclient"),
        ("anna", "planner", "POST /plans", "small-by-hand.json", 201, "done", "testclient"),
    ]
    assert datetime.fromisoformat(lines(workspace)[0]["time"]).tzinfo is not None
    assert lines(workspace, "refused") == []
    for name in ("audit.jsonl", "tokens.json"):
        assert stat.S_IMODE((workspace / ".berth" / name).stat().st_mode) == 0o600


def test_jobs(asked: TestClient, workspace: Path, people: dict[str, dict[str, str]]) -> None:
    """Who asked for a plan of what, which file came of it, and who ended it."""
    request = {"problem": "small.yaml", "policy": "odp", "name": "p.json"}
    job = asked.post(f"{API}/jobs", json=request, headers=people["anna"]).json()["id"]
    while asked.get(f"{API}/jobs/{job}", headers=people["vi"]).json()["state"] != "done":
        time.sleep(0.02)
    asked.delete(f"{API}/jobs/{job}", headers=people["vi"])
    asked.delete(f"{API}/jobs/{job}", headers=people["boss"])
    keys = ("who", "action", "job", "file", "problem", "outcome")
    assert [told(line, *keys) for line in lines(workspace)] == [
        ("anna", "POST /jobs", job, None, "small.yaml", "done"),
        ("anna", "store the plan of a job", job, "p.json", None, "done"),
        ("vi", "DELETE /jobs/{id}", job, None, None, "refused"),
        ("boss", "DELETE /jobs/{id}", job, None, None, "done"),
    ]


def test_those_who_were_refused(
    asked: TestClient, workspace: Path, people: dict[str, dict[str, str]]
) -> None:
    """People beside what they did; strangers in a journal of their own: they can't push others out."""
    wrong = {"Authorization": "Bearer berth_" + "w" * 43}
    asked.post(f"{API}/jobs", json={}, headers=people["vi"])
    asked.delete(f"{API}/plans/p.json", headers=people["anna"] | {"Origin": "http://evil.example"})
    asked.get(f"{API}/problems", headers=wrong)
    asked.get(f"{API}/problems/berth_{'w' * 43}", headers={"Host": "evil.example"})
    asked.post("/login", data={"token": "berth_" + "w" * 43})
    assert [told(line, "who", "action", "status") for line in lines(workspace)] == [
        ("vi", "POST /jobs", 403),
        ("anna", f"DELETE {API}/plans/p.json", 403),
    ]
    assert [told(line, "who", "action", "status") for line in lines(workspace, "refused")] == [
        (None, f"GET {API}/problems", 401),
        (None, f"GET {API}/problems/berth_...", 421),
        (None, "POST /login", 401),
    ]


def test_signing_in_and_out(asked: TestClient, workspace: Path, people: dict[str, dict[str, str]]) -> None:
    token = people["anna"]["Authorization"].removeprefix("Bearer ")
    asked.get("/login")
    asked.post("/login", data={"token": token})
    asked.post("/logout")
    assert [told(line, "who", "action", "outcome") for line in lines(workspace)] == [
        ("anna", "POST /login", "done"),
        ("anna", "POST /logout", "done"),
    ]


def test_no_secrets_and_no_contents(
    asked: TestClient, workspace: Path, people: dict[str, dict[str, str]]
) -> None:
    """Neither tokens, nor cookies, nor what is in files, wherever they stand in a request."""
    token = people["anna"]["Authorization"].removeprefix("Bearer ")
    asked.post("/login", data={"token": token})
    cookie = asked.cookies["berth-session"]
    asked.post(f"{API}/problems", params={"name": "a.yaml", "token": token}, content=PROBLEM)
    asked.delete(f"{API}/problems/{token}")
    asked.post(f"{API}/problems", params={"name": "b.yaml"}, content="format: hush-hush")
    asked.cookies.clear()
    asked.get(f"{API}/{token}")
    kept = "".join((workspace / ".berth" / name).read_text() for name in ("audit.jsonl", "refused.jsonl"))
    assert kept.count("\n") == 5
    for secret in (token, token.removeprefix("berth_"), cookie, "hush-hush", "rome"):
        assert secret not in kept


def test_nobody_writes_lines_of_their_own(
    asked: TestClient, workspace: Path, people: dict[str, dict[str, str]]
) -> None:
    """Line breaks and signs of any kind stay inside of a value."""
    name = quote('x\n{"who": "boss"}\r\u2028\x1b[2J')
    asked.post(f"{API}/examples/{name}", headers=people["anna"])
    asked.get(f"/{name}")
    for journal in ("audit", "refused"):
        data = (workspace / ".berth" / f"{journal}.jsonl").read_bytes()
        assert data.isascii()
        assert data.count(b"\n") == len(lines(workspace, journal)) == 1
        assert all(32 <= byte < 127 for byte in data.rstrip(b"\n"))


def test_a_mistake_of_ours_is_noted(
    asked: TestClient, workspace: Path, people: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("inside")

    monkeypatch.setattr(asked.app.state.service.plans, "delete", broken)  # type: ignore[attr-defined]
    assert asked.delete(f"{API}/plans/p.json", headers=people["anna"]).status_code == 500
    assert [told(line, "file", "outcome") for line in lines(workspace)] == [("p.json", "failed")]


def test_journals_are_rotated(tmp_path: Path) -> None:
    """By size; so many are kept, the newest lines in the first, and nobody else may read them."""
    before = os.umask(0)
    try:
        journal = Journal(tmp_path / "audit.jsonl", 1000)
        for number in range(1000):
            journal.write({"number": number})
    finally:
        os.umask(before)
    names = ["audit.jsonl", *(f"audit.jsonl.{number}" for number in range(1, KEPT + 1))]
    assert sorted(each.name for each in tmp_path.iterdir()) == names
    numbers = []
    for name in reversed(names):
        assert (tmp_path / name).stat().st_size <= 1000
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        numbers += [json.loads(line)["number"] for line in (tmp_path / name).read_text().splitlines()]
    assert numbers == list(range(numbers[0], 1000))


def test_a_journal_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The log says so, and nothing else happens; a link is never followed."""
    (tmp_path / "other").write_text("")
    (tmp_path / "audit.jsonl").symlink_to(tmp_path / "other")
    Audit(tmp_path).note("anna", "POST /jobs", "done", {})
    assert "audit.jsonl can't be written" in caplog.text
    assert (tmp_path / "other").read_text() == ""
