"""A problem of two nodes that host and one that doesn't, and the processes of its clusters."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from berth.files import problem_from
from berth.model import Problem

DOCUMENT: dict[str, Any] = {
    "format": "berth/v1",
    "name": "small",
    "network": {
        "nodes": [
            {"name": "rome", "capacity": {"cpu": 2, "memory": 1.0e9}},
            {"name": "paris.eu"},
            {"name": "store", "hosts": False},
        ],
        "links": [{"from": "rome", "to": "paris.eu", "delay_ms": 10}],
    },
    "applications": [
        {
            "name": "a",
            "operators": [{"name": "s"}, {"name": "t"}],
            "streams": [{"from": "s", "to": "t", "bytes_per_s": 5}],
        }
    ],
}


def small_problem(**network: Any) -> Problem:
    return problem_from(DOCUMENT | {"network": DOCUMENT["network"] | network})


def processes_of(home: Path) -> list[psutil.Process]:
    """All processes that were started with this folder as BERTH_HOME and are still at work."""
    return [process for process in psutil.process_iter() if _home_of(process) == str(home)]


def _home_of(process: psutil.Process) -> str | None:
    try:
        home: str | None = process.environ().get("BERTH_HOME")
    except psutil.Error:
        return None
    return home


def wait_until(true: Callable[[], object], seconds: float = 60.0) -> bool:
    """Wait until something is true; whether it became so in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.05)
    return False
