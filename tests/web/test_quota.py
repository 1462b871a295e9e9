"""What a workspace, a person and a job may take, and what is said beyond that."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from berth.web.answers import Refused
from berth.web.app import create_app
from berth.web.people import add_token
from berth.web.quota import Quota, measured
from berth.web.security import Settings
from tests.web.conftest import API, PROBLEM
from tests.web.test_jobs import over, submitted


def asked(settings: Settings, **changes: Any) -> TestClient:
    app = create_app(replace(settings, **changes))
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


def test_bytes_and_files_of_a_folder(tmp_path: Path) -> None:
    """Hidden ones and those in folders count; what is taken is added until it is measured again."""
    (tmp_path / ".berth").mkdir()
    (tmp_path / ".berth" / "a").write_bytes(b"x" * 60)
    (tmp_path / "b").write_bytes(b"x" * 20)
    (tmp_path / "link").symlink_to("/dev/zero")
    assert measured(tmp_path) == (80 + len("/dev/zero"), 4)
    quota = Quota(tmp_path, 100, 6)
    quota.take(10, 1)
    with pytest.raises(Refused, match=r"the workspace may hold 0 MiB; .* --workspace-size"):
        quota.take(2, 1)
    quota.take(1, 1)
    with pytest.raises(Refused, match=r"the workspace may hold 6 files; .* --workspace-files"):
        quota.take(0, 1)
    quota.take(-5, 0)
    (tmp_path / "b").unlink()
    quota.measure_again()
    quota.take(20, 3)


def test_folders_are_no_way_around_it(settings: Settings, workspace: Path) -> None:
    """Those that a name asks for count, also when nothing is in them any more."""
    with asked(settings, workspace_files=measured(workspace)[1] + 40) as client:
        for number in range(20):
            made = client.post(f"{API}/problems", params={"name": f"{number}/a/b/c.yaml"}, content=PROBLEM)
            if made.status_code != 201:
                break
            etag = {"If-Match": made.headers["etag"]}
            client.delete(f"{API}/problems/{made.json()['id']}", headers=etag)
        assert (made.status_code, number > 2) == (507, True)
        assert not (workspace / str(number)).exists()


@pytest.mark.parametrize("limit", [{"workspace_bytes": 2000}, {"workspace_files": 3}])
def test_a_workspace_that_is_full(settings: Settings, workspace: Path, limit: dict[str, int]) -> None:
    """Nothing more is stored; what is there can be made smaller, and taken away."""
    with asked(settings, **limit) as client:
        answers = [
            client.post(f"{API}/problems", params={"name": f"{n}.yaml"}, content=PROBLEM) for n in range(4)
        ]
        assert [each.status_code for each in answers][-1] == 507
        assert answers[-1].json()["error"].startswith("the workspace may hold ")
        assert not (workspace / "3.yaml").exists()
        assert client.post(f"{API}/jobs", json={"problem": "small.yaml"}).status_code == 507
        etag = {"If-Match": client.get(f"{API}/problems/small.yaml").headers["etag"]}
        shorter = PROBLEM.replace("speed: 2", "speed: 3")
        changed = client.put(f"{API}/problems/small.yaml", content=shorter, headers=etag)
        assert changed.status_code == 200
        etag = {"If-Match": changed.headers["etag"]}
        assert client.delete(f"{API}/problems/small.yaml", headers=etag).status_code == 204


@pytest.mark.usefixtures("naughty")
def test_jobs_of_a_person(settings: Settings, workspace: Path) -> None:
    """Who has tokens is told apart: one can't fill the queue for all."""
    secrets = {name: add_token(workspace, name, "planner", None) for name in ("anna", "bo")}
    job = {"problem": "small.yaml", "policy": "naughty", "parameters": {"what": "slow"}, "time_limit": 60}

    with asked(settings, jobs_per_person=2, most_waiting=10) as client:

        def ask(name: str) -> Any:
            return client.post(f"{API}/jobs", json=job, headers={"Authorization": f"Bearer {secrets[name]}"})

        first = [ask("anna") for _ in range(3)]
        assert [each.status_code for each in first] == [202, 202, 429]
        assert first[-1].json()["error"].startswith("2 jobs of anna wait or run already")
        assert first[-1].headers["retry-after"]
        assert ask("bo").status_code == 202
        mine = {"Authorization": f"Bearer {secrets['anna']}"}
        client.delete(f"{API}/jobs/{first[1].json()['id']}", headers=mine)
        assert ask("anna").status_code == 202


@pytest.mark.usefixtures("naughty")
def test_processor_time_of_a_job(settings: Settings) -> None:
    """It hands in what it has; who doesn't is killed."""
    with asked(settings, processor_s=3.0) as client:
        job = over(client, submitted(client, policy="naughty", parameters={"what": "busy"}, time_limit=90))
        assert (job["state"], job["reason"]) == ("done", "it has used up its processor time")
        assert job["plan"] is not None


def test_what_a_killed_service_left_is_gone_after_the_next_start(workspace: Path) -> None:
    """It would count in the quota, and nobody could delete it over REST."""
    (workspace / ".berth").mkdir()
    left = [
        workspace / ".night.yaml.0123abcd.berth-new",
        workspace / ".berth" / ".drafts.json.53193af1.berth-new",
    ]
    for each in left:
        each.write_bytes(b"half of it")
    with TestClient(create_app(Settings(workspace=workspace, workers=1)), base_url="http://127.0.0.1"):
        until = time.monotonic() + 10
        while any(each.exists() for each in left):
            assert time.monotonic() < until
            time.sleep(0.05)
