"""Who wrote what a file has now, also after the next start."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from berth.web.app import create_app
from berth.web.authors import SPARE_LINES, Authors
from berth.web.jobs import write_request
from berth.web.people import add_token
from berth.web.security import Settings
from berth.web.workspace import Workspace
from tests.web.conftest import API, ASSIGNMENT


def test_plans_say_who_made_them(workspace: Path) -> None:
    """By the token; after a restart, too. What another program writes is nobody's."""
    anna = {"Authorization": f"Bearer {add_token(workspace, 'anna', 'planner')}"}
    settings = Settings(workspace=workspace, workers=1)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        request = {"problem": "small.yaml", "assignment": ASSIGNMENT, "name": "p.json"}
        made = client.post(f"{API}/plans", json=request, headers=anna | {"X-Berth-Author": "bo"})
        assert made.json()["by"] == "anna"
    (workspace / "q.json").write_bytes((workspace / "p.json").read_bytes())
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        listed = client.get(f"{API}/plans", headers=anna).json()
        assert [(each["id"], each["by"]) for each in listed] == [("p.json", "anna"), ("q.json", None)]
        assert client.get(f"{API}/plans/p.json", headers=anna).json()["by"] == "anna"
        (workspace / "p.json").write_bytes((workspace / "p.json").read_bytes() + b"\n")
        assert client.get(f"{API}/plans/p.json", headers=anna).json()["by"] is None


def test_what_is_kept(tmp_path: Path) -> None:
    """The last word on each file; a line that was cut off costs itself alone."""
    file = tmp_path / "authors.jsonl"
    authors = Authors(file)
    authors.note("a", "1", "anna")
    authors.note("b", "1", "bo")
    authors.note("a", "2", "bo")
    authors.note("b", "", "")
    with file.open("a") as stream:
        stream.write('nonsense\n["c", "1", "an')
    again = Authors(file)
    again.note("d", "1", "zoë")
    for known in (again, Authors(file)):
        assert (known.of("a", "2"), known.of("a", "1")) == ("bo", None)
        assert (known.of("b", "1"), known.of("c", "1"), known.of("d", "1")) == (None, None, "zoë")


def test_it_does_not_grow_without_end(tmp_path: Path) -> None:
    """What was said of a file before is dropped at a start."""
    file = tmp_path / "authors.jsonl"
    authors = Authors(file)
    for number in range(SPARE_LINES + 10):
        authors.note("a", str(number), "anna")
    assert Authors(file).of("a", str(SPARE_LINES + 9)) == "anna"
    assert file.read_text().count("\n") == 1


def test_what_is_written_anew_is_on_the_disk_first(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut leaves the old file or the new one: for authors, and for what a job was asked for."""
    synced: list[str] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    file = tmp_path / "authors.jsonl"
    file.write_text('["a.json", "1", "anna"]\n["b.js')
    assert Authors(file).of("a.json", "1") == "anna"
    assert any(name.startswith(".authors.jsonl.") for name in synced)
    problem = Workspace(workspace).read("small.yaml", "problem", "problem")
    write_request(tmp_path, "solve", {}, problem, {"previous.json": "{}"})
    for name in ("problem.yaml", "previous.json", "request.json"):
        assert any(each.startswith(f".{name}.") for each in synced), name
