"""A service over a folder of its own, asked without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from berth.web.app import create_app
from berth.web.settings import Settings

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
