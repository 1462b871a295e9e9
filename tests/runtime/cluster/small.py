"""A problem of two nodes that host and one that doesn't, and the processes of its clusters."""

import time
from collections.abc import Callable
from contextlib import suppress
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


def processes_of(home: Path, node: str | None = None) -> list[psutil.Process]:
    """All processes at work that were started with this folder as BERTH_HOME; or those of a node."""
    return [process for process in psutil.process_iter() if _belongs(process, home, node)]


def commands_of(home: Path, node: str | None = None) -> list[str]:
    """Their commands; those that end in this moment are left out."""
    commands = []
    for process in processes_of(home, node):
        with suppress(psutil.Error):
            commands.append(" ".join(process.cmdline()))
    return commands


def _belongs(process: psutil.Process, home: Path, node: str | None) -> bool:
    try:
        environment = process.environ()
    except psutil.Error:
        return False
    return environment.get("BERTH_HOME") == str(home) and node in (None, environment.get("BERTH_NODE"))


def wait_until(true: Callable[[], object], seconds: float = 60.0) -> bool:
    """Wait until something is true; whether it became so in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.05)
    return False
