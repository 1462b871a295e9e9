"""Whatever process is killed whenever: started again, commands end with what an undisturbed run gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import berth
from berth.files import load_plan, problem_document
from tests.chaos.killing import Chaos, await_changes
from tests.pipeline.ingest.test_follow import ROUNDS, assert_same, put, rounds_of_feed
from tests.pipeline.telemetry import write_problem
from tests.runtime.sites import ONE, Sites, cluster, home, problem, sites
from tests.web.conftest import API, PROBLEM

pytestmark = [pytest.mark.long, pytest.mark.spark]
__all__ = ["cluster", "home", "problem", "sites"]
"""Fixtures."""
SEEDS = [int(each) for each in os.environ.get("BERTH_CHAOS_SEEDS", "0,1").split(",")]
KILLS = 3
COMMAND = [sys.executable, "-m", "berth.cli.entry"]


def started(*words: object) -> subprocess.Popen[str]:
    text = [*COMMAND, *map(str, words)]
    return subprocess.Popen(text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def done(process: subprocess.Popen[str]) -> str:
    printed, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    return printed


@pytest.mark.parametrize("seed", SEEDS)
def test_ingest_that_follows(seed: int, tmp_path: Path) -> None:
    """Three kills in each round of files; the tables are those of one ingest of everything."""
    chaos = Chaos(seed)
    telemetry, out, problem = tmp_path / "telemetry", tmp_path / "out", write_problem(tmp_path / "problem")
    out.mkdir()

    def follow(target: Path) -> subprocess.Popen[str]:
        return started("ingest", telemetry, "--problem", problem, "--out", target, "--follow", "--once")

    moments = 60
    for number, part in enumerate(rounds_of_feed()):
        put(telemetry, part, number)
        for _ in range(KILLS):
            chaos.kill(lambda: follow(out), out, moments)
        moments = 30
    assert number == ROUNDS - 1
    done(follow(out))
    done(started("ingest", telemetry, "--problem", problem, "--out", tmp_path / "wanted"))
    assert_same(out, tmp_path / "wanted")


@pytest.mark.parametrize("seed", SEEDS)
def test_solve_many(seed: int, tmp_path: Path) -> None:
    """Every plan is there once, and is the one that is found undisturbed."""
    chaos, problems = Chaos(seed), tmp_path / "problems"
    problems.mkdir()
    for number in range(12):
        chosen = berth.generate("random-graph", seed=number, operators=8, nodes=5)
        (problems / f"{number}.json").write_text(json.dumps(problem_document(chosen)))

    def solve(out: Path, *more: str) -> subprocess.Popen[str]:
        words = ("solve-many", problems, "--out", out, "--seeds", "0:4", "--master", "local[2]")
        return started(*words, "--policy", "odp", "--policy", "random", *more)

    out, wanted = tmp_path / "out", tmp_path / "wanted"
    undisturbed = solve(wanted)
    wanted.mkdir(exist_ok=True)
    moments = await_changes(undisturbed, wanted, 10**6)
    done(undisturbed)
    out.mkdir()
    for _ in range(KILLS):
        chaos.kill(lambda: solve(out), out, max(1, moments))
    # a solver that is killed is a policy that crashed, as far as anybody can tell
    done(solve(out, "--retry-errors"))
    found, right = (_plans(folder) for folder in (out, wanted))
    assert found == right, chaos.diary


def _plans(folder: Path) -> dict[str, Any]:
    rows = pd.read_parquet(folder / "plans").to_dict("records")
    found = {row["key"]: (row["status"], row["objective"], row["error"]) for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_run(seed: int, sites: Sites) -> None:
    """Every row counts once."""
    chaos = Chaos(seed)
    for _ in range(KILLS):
        sites.put(40)
        chaos.kill(lambda: sites.start(ONE, "--once"), sites.folder, 60)
    sites.put(20)
    sites.run(ONE)
    sites.check()


@pytest.mark.parametrize("seed", SEEDS)
def test_watch(seed: int, sites: Sites) -> None:
    """The same while it is watched, which never ends by itself."""
    chaos = Chaos(seed)

    def enough() -> bool:
        return sum(row["count"] for row in sites.rows("nodes")) >= len(sites.written)

    for _ in range(KILLS):
        sites.put(40)
        chaos.kill(lambda: sites.start(ONE, "--every", "10", command="watch"), sites.folder, 60, enough)
    sites.put(20)
    sites.run(ONE)
    sites.check()


class Writing:
    """Somebody who stores and changes problems without a pause, and notes what was acknowledged."""

    def __init__(self) -> None:
        self.stored: dict[str, set[str]] = {}
        """What each file may have now: several texts only where an answer never came."""
        self.jobs: set[str] = set()
        self._number = 0
        self._thread: threading.Thread | None = None

    def begin(self, address: str) -> None:
        """Write until the service is gone, or has taken enough."""
        self.end()
        self._thread = threading.Thread(target=self._write, args=(address,))
        self._thread.start()

    def end(self) -> None:
        """Wait until there is nobody to write to."""
        if self._thread is not None:
            self._thread.join()

    def _write(self, address: str) -> None:
        with httpx.Client(base_url=address, timeout=30) as client, suppress(httpx.HTTPError):
            for _ in range(40):
                self._number += 1
                name, text = f"stored-{self._number}.yaml", f"{PROBLEM}# {self._number}\n"
                if client.post(f"{API}/problems", params={"name": name}, content=text).status_code != 201:
                    continue
                self.stored[name] = {text}
                seen = client.get(f"{API}/problems/{name}/file").headers["etag"]
                self.stored[name].add(text + "# changed\n")
                changed = client.put(
                    f"{API}/problems/{name}", content=text + "# changed\n", headers={"If-Match": seen}
                )
                self.stored[name] = {text + "# changed\n"} if changed.status_code == 200 else {text}


@pytest.mark.parametrize("seed", SEEDS)
def test_serve(seed: int, tmp_path: Path) -> None:
    """What was acknowledged is there, jobs have ended or are told to be lost, and all works as before."""
    chaos, workspace, writing = Chaos(seed), tmp_path / "workspace", Writing()
    workspace.mkdir()
    (workspace / "small.yaml").write_text(PROBLEM)
    address = ""

    def serve() -> subprocess.Popen[str]:
        nonlocal address
        process = started("serve", "--workspace", workspace, "--port", 0)
        assert process.stderr is not None
        address = process.stderr.readline().partition("berth is at ")[2].partition(" ")[0].rstrip("/")
        with httpx.Client(base_url=address, timeout=30) as client:
            for policy in ("odp", "search", "round-robin"):
                asked = {"problem": "small.yaml", "policy": policy, "time_limit": 1}
                taken = client.post(f"{API}/jobs", json=asked)
                assert taken.status_code == 202
                writing.jobs.add(taken.json()["id"])
        writing.begin(address)
        return process

    def enough() -> bool:
        try:
            jobs = httpx.get(f"{address}{API}/jobs", timeout=5).json()
        except httpx.HTTPError:
            return False
        return all(job["state"] not in ("waiting", "running") for job in jobs)

    for _ in range(KILLS):
        chaos.kill(serve, workspace, 60, enough)
    process = serve()
    writing.end()
    deadline = time.monotonic() + 60
    while not enough() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert enough(), chaos.diary
    assert httpx.get(f"{address}{API}/health").status_code == 200
    assert writing.stored
    for name, texts in writing.stored.items():
        assert httpx.get(f"{address}{API}/problems/{name}/file").text in texts, (name, chaos.diary)
    jobs = {each["id"]: each for each in httpx.get(f"{address}{API}/jobs?limit=1000").json()}
    assert writing.jobs <= jobs.keys(), chaos.diary
    for job in jobs.values():
        assert job["state"] != "done" or (workspace / job["plan"]).is_file(), (job, chaos.diary)
    assert not list(workspace.rglob("*.berth-new")), chaos.diary
    process.terminate()
    process.communicate(timeout=30)
    written = [file for file in workspace.glob("*.json") if json.loads(file.read_text())]
    assert [file for file in written if load_plan(file)], chaos.diary
