"""A watch without a cluster and without Spark: the run and the measuring only pretend."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

from berth.model import Plan
from berth.runtime.control import watch
from berth.runtime.control.loop import ControlLoop
from tests.runtime.control.situations import FakeRun, Inline

PROBLEM = """
format: berth/v1
name: chain
network:
  nodes: [{name: rome}, {name: paris}, {name: oslo}]
  links:
    - {from: rome, to: paris, delay_ms: 10}
    - {from: paris, to: oslo, delay_ms: 10}
    - {from: rome, to: oslo, delay_ms: RTT}
applications:
  - name: app
    operators:
      - {name: source, pinned: rome, work_ms: 1}
      - {name: work, work_ms: 1}
      - {name: sink, pinned: oslo, work_ms: 1}
    streams: [{from: source, to: work}, {from: work, to: sink}]
"""
PLAN = {"app/source": "rome", "app/work": "paris", "app/sink": "oslo"}


class Pretended(FakeRun):
    """A run for the time of a `with` block."""

    error: Exception | None = None

    def __enter__(self) -> Pretended:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def stop(self) -> None:
        return


class Measuring:
    """Finds that rome and oslo are near each other."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self.asked: list[dict[str, Any]] = []

    def __enter__(self) -> Measuring:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def warm_up(self) -> None:
        return

    def await_ready(self) -> None:
        return

    def measure(self, telemetry: Path, problem: Path, seconds: float) -> Path:
        document = json.loads(problem.read_text())
        assert "objective" not in document
        document["network"]["links"][2]["delay_ms"] = 2
        for stream in document["applications"][0]["streams"]:
            stream["bytes_per_s"] = 500.0
        (self._folder / "measured.json").write_text(json.dumps(document))
        return self._folder / "measured.json"


@contextmanager
def pretending(run: Pretended) -> Iterator[None]:
    """No cluster, no Spark; time passes as the run says."""

    def at_its_pace(*arguments: Any) -> ControlLoop:
        return ControlLoop(*arguments, clock=run.clock, beside=Inline())

    with (
        patch.object(watch, "access_for", lambda *_: nullcontext()),
        patch.object(watch, "Run", lambda *_: run),
        patch.object(watch, "Measurer", Measuring),
        patch.object(watch, "ControlLoop", at_its_pace),
    ):
        yield


def started_at(node: str, script: dict[float, Callable[[FakeRun], str | None]] | None = None) -> Pretended:
    return Pretended(Plan({**PLAN, "app/work": node}), script)
