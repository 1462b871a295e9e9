"""A service over a folder of its own, asked without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import berth
from berth.web.app import create_app
from berth.web.security import Settings

PROBLEM = """format: berth/v1
name: small
network:
  nodes:
    - {name: rome, capacity: {cpu: 2}}
    - {name: paris, capacity: {cpu: 2}}
    - {name: oslo, capacity: {cpu: 4}, speed: 2}
  links:
    - {from: rome, to: paris, delay_ms: 10, bandwidth_bytes_per_s: 1000}
    - {from: rome, to: oslo, delay_ms: 30, bandwidth_bytes_per_s: 1000}
    - {from: paris, to: oslo, delay_ms: 5, bandwidth_bytes_per_s: 1000}
applications:
  - name: app
    operators:
      - {name: source, pinned: rome, demand: {cpu: 1}, emits_bytes_per_s: 100}
      - {name: work, demand: {cpu: 1}, work_ms: 4}
      - {name: sink, pinned: oslo, demand: {cpu: 1}}
    streams:
      - {from: source, to: work}
      - {from: work, to: sink}
"""
ASSIGNMENT = {"app/source": "rome", "app/work": "paris", "app/sink": "oslo"}
API = "/api/v1"

Ask = Callable[..., Any]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "small.yaml").write_text(PROBLEM)
    return folder


@pytest.fixture
def settings(workspace: Path) -> Settings:
    return Settings(workspace=workspace, workers=1, most_waiting=3, longest_solve_s=100.0)


@pytest.fixture
def client(settings: Settings) -> Iterator[TestClient]:
    with TestClient(create_app(settings), base_url="http://127.0.0.1", raise_server_exceptions=False) as made:
        yield made


POLICY = """
import os, signal, sys, time
from berth.policies import About, Answer, NoParameters
from dataclasses import dataclass

@dataclass(frozen=True)
class What:
    what: str = "crash"

class Naughty:
    about = About("naughty", "-", "-", "-")
    parameters = What

    def solve(self, task):
        what = task.parameters.what
        if what == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if what == "exit":
            os._exit(7)
        if what == "raise":
            raise RuntimeError("oh, /home/somebody/secret/file.txt")
        if what == "full":
            os.mkdir(os.path.join(sys.argv[1], "outcome.json"))
        if what == "memory":
            taken = []
            while True:
                taken.append(bytearray(os.urandom(1)) * (8 << 20))
        if what == "hang":
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            task.progress(3.0, 1.0)
            time.sleep(1000)
        if what == "busy":
            while not task.budget.over:
                pass
        if what == "slow":
            task.progress(3.0, 1.0)
            while not task.budget.over:
                time.sleep(0.02)
            task.progress(2.0, 1.0)
        import numpy as np
        return Answer("feasible", np.array([0, 1, 2]), bound=1.0, reason=task.budget.stopped)
"""


@pytest.fixture
def naughty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy of another package, that does what it should not."""
    package = tmp_path / "package"
    (package / "naughty-1.0.dist-info").mkdir(parents=True)
    (package / "naughty.py").write_text(POLICY)
    (package / "naughty-1.0.dist-info" / "METADATA").write_text("Name: naughty\nVersion: 1.0\n")
    (package / "naughty-1.0.dist-info" / "entry_points.txt").write_text(
        "[berth.policies]\nnaughty = naughty:Naughty\n"
    )
    monkeypatch.syspath_prepend(str(package))
    sources = Path(berth.__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", f"{package}:{sources}")
