"""A full disk, a closed workspace, errors of our own: a job ends with its reason, and work goes on."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from berth.files.document import NotWritten
from berth.web.app import create_app
from berth.web.queue import JobQueue
from berth.web.security import Settings
from tests.web.conftest import API, PROBLEM
from tests.web.test_jobs import over, submitted, until

pytestmark = pytest.mark.usefixtures("naughty")


def full(*_: Any, **__: Any) -> None:
    """Stand in for whatever writes."""
    raise OSError(errno.ENOSPC, "No space left on device", "/srv/somewhere/file")


def not_written(*_: Any, **__: Any) -> None:
    """The same, as it is told by what writes files."""
    refused = NotWritten("/srv/somewhere/file: can't be written: no space left on device")
    refused.number = errno.ENOSPC
    raise refused


def test_a_disk_that_is_full_while_jobs_run(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """No record of a job can be written: it ends all the same, and so do those after it."""
    first = submitted(client, policy="naughty", parameters={"what": "slow"})
    until(client, first, "running")
    second = submitted(client, policy="odp")
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("berth.web.jobs.write_text", not_written)
        meanwhile.setattr("berth.web.jobs.append_event", full)
        assert client.post(f"{API}/jobs", json={"problem": "small.yaml"}).status_code == 507
        client.post(f"{API}/jobs/{first}/cancel")
        assert over(client, first)["state"] == "cancelled"
        assert over(client, second)["state"] == "done"
    assert len(client.get(f"{API}/jobs").json()) == 2
    assert client.get(f"{API}/health").json() == {"status": "ok", "jobs": {"running": 0, "waiting": 0}}
    assert over(client, submitted(client, policy="odp"))["state"] == "done"


def test_records_that_the_disk_did_not_take(
    settings: Settings, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are written once there is room: else jobs that had ended would run again after the next start."""
    monkeypatch.setattr("berth.web.queue.SAVE_AGAIN_SECONDS", 0.1)

    def served() -> TestClient:
        return TestClient(create_app(settings), base_url="http://127.0.0.1", raise_server_exceptions=False)

    def state(identity: str) -> str:
        return str(json.loads((workspace / ".berth" / "jobs" / identity / "job.json").read_text())["state"])

    with served() as client:
        first = submitted(client, policy="naughty", parameters={"what": "slow"})
        until(client, first, "running")
        second = submitted(client, policy="naughty", parameters={"what": "raise"})
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr("berth.web.jobs.write_text", not_written)
            client.post(f"{API}/jobs/{first}/cancel")
            assert over(client, first)["state"] == "cancelled"
            assert over(client, second)["state"] == "failed"
            assert (state(first), state(second)) == ("running", "waiting")
        until_true = time.monotonic() + 10
        while (state(first), state(second)) != ("cancelled", "failed"):
            assert time.monotonic() < until_true
            time.sleep(0.05)
        third = submitted(client, policy="naughty", parameters={"what": "raise"})
        monkeypatch.setattr("berth.web.queue.SAVE_AGAIN_SECONDS", 1000.0)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr("berth.web.jobs.write_text", not_written)
            over(client, third)
        client.get(f"{API}/health")
        assert state(third) == "failed"
    with served() as client:
        states = [client.get(f"{API}/jobs/{each}").json()["state"] for each in (first, second, third)]
    assert states == ["cancelled", "failed", "failed"]


@pytest.mark.parametrize("write", [full, not_written])
def test_a_plan_that_can_not_be_stored(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, write: Any
) -> None:
    """The job says so, without a folder of this machine."""
    monkeypatch.setattr("berth.web.workspace.write_bytes", write)
    job = over(client, submitted(client, policy="odp"))
    assert job["state"] == "failed"
    assert job["reason"].startswith("its plan can't be stored: ")
    assert "no space left" in job["reason"].lower()
    assert "/srv" not in job["reason"]


def test_a_record_that_is_cut_off(client: TestClient, workspace: Path) -> None:
    """Half a line among the events of a job is passed over."""
    identity = submitted(client, policy="odp")
    over(client, identity)
    events = workspace / ".berth" / "jobs" / identity / "events.jsonl"
    whole = events.read_text().splitlines()
    events.write_text("\n".join([whole[0], whole[1][:30], whole[-1]]) + "\n")
    told = client.get(f"{API}/jobs/{identity}/events").text
    assert [line for line in told.splitlines() if line.startswith("id: ")] == ["id: 1", "id: 3"]


def test_an_error_of_our_own_is_the_job_s_end(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the thread goes on."""

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no /srv/somewhere/file")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(JobQueue, "_finish", broken)
        job = over(client, submitted(client, policy="odp"))
    assert (job["state"], job["reason"]) == ("failed", "the service failed: RuntimeError: no file")
    assert over(client, submitted(client, policy="odp"))["state"] == "done"
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("berth.web.queue.start_worker", full)
        job = over(client, submitted(client, policy="odp"))
    assert job["reason"] == "no process could be started: No space left on device"
    assert over(client, submitted(client, policy="odp"))["state"] == "done"
    assert client.get(f"{API}/health").status_code == 200


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_dead_threads_are_told(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """If one should end after all, nobody has to find out by waiting."""

    def end(*_: Any) -> None:
        raise SystemExit

    monkeypatch.setattr(JobQueue, "_forget_old", end)
    over(client, submitted(client, policy="odp"))
    for thread in client.app.state.service.jobs._threads:  # type: ignore[attr-defined]
        thread.join()
    health = client.get(f"{API}/health")
    assert (health.status_code, health.json()["status"]) == (503, "failing")
    assert health.json()["error"] == "1 of the 1 threads for jobs ended; start the service again"


@pytest.mark.parametrize(
    ("number", "status", "words"),
    [
        (errno.ENOSPC, 507, "the disk of the workspace is full"),
        (errno.EDQUOT, 507, "the disk of the workspace is full"),
        (errno.EROFS, 503, "the workspace can't be written: read-only file system"),
        (errno.EACCES, 503, "the workspace can't be written: permission denied"),
        (errno.ENOENT, 503, "the workspace can't be written: no such file or directory"),
    ],
)
def test_a_workspace_that_can_not_be_written(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, number: int, status: int, words: str
) -> None:
    """Health says so."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    health = client.get(f"{API}/health")
    assert (health.status_code, health.json()["status"]) == (status, "failing")
    assert health.json()["error"].startswith(words)


@pytest.mark.parametrize(("write", "status"), [(full, 507), (not_written, 507)])
def test_uploads_to_a_full_disk(
    client: TestClient,
    monkeypatch: pytest.MonkeyPatch,
    workspace: Path,
    caplog: pytest.LogCaptureFixture,
    write: Any,
    status: int,
) -> None:
    """Nothing is stored, no folder of this machine is told, and nobody looks for a mistake of ours."""
    monkeypatch.setattr("berth.web.workspace.write_bytes", write)
    answer = client.post(f"{API}/problems", params={"name": "x.yaml"}, content=PROBLEM)
    assert answer.status_code == status
    assert answer.json()["error"] == "the disk of the workspace is full; nothing was stored"
    assert not (workspace / "x.yaml").exists()
    assert "/srv" not in answer.text
    assert "no space left" in caplog.text.lower()
    assert "Traceback" not in caplog.text
    noted = json.loads((workspace / ".berth" / "audit.jsonl").read_text().splitlines()[-1])
    assert (noted["outcome"], noted["file"], noted["status"]) == ("failed", "x.yaml", 507)
