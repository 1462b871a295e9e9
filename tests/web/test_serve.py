"""`berth serve` as a process: its beginning, its end, and what is left of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

import berth
from berth.cli import serve as command
from berth.model import BadInput
from berth.web.serve import read_token
from tests.web.conftest import API

SOURCES = str(Path(berth.__file__).parents[1])


@contextmanager
def serving(workspace: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service and its address."""
    command = [sys.executable, "-m", "berth.cli.entry", "serve", "--workspace", str(workspace), *arguments]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{SOURCES}:{os.environ.get('PYTHONPATH', '')}"},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        yield process, line.partition("berth is at ")[2].partition(" ")[0].rstrip("/") or line
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def ready(address: str) -> httpx.Client:
    """A client; the socket listens already, so it only has to wait."""
    return httpx.Client(base_url=address, timeout=30)


def solving(client: httpx.Client) -> tuple[str, psutil.Process]:
    """A long solve under way, with a plan at hand, and its process."""
    request = {"problem": "small.yaml", "policy": "naughty", "parameters": {"what": "slow"}}
    identity = str(client.post(f"{API}/jobs", json=request).json()["id"])
    while client.get(f"{API}/jobs/{identity}").json()["objective"] is None:
        time.sleep(0.05)
    return identity, next(each for each in psutil.process_iter() if identity in " ".join(_command(each)))


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def record(workspace: Path, identity: str) -> Any:
    return json.loads((workspace / ".berth" / "jobs" / identity / "job.json").read_text())


@pytest.mark.usefixtures("naughty")
def test_from_beginning_to_end(workspace: Path) -> None:
    """Ctrl-C: the running solve hands in its plan, open connections end, nothing is left; exit code 0."""
    with serving(workspace, "--port", "0") as (process, address), ready(address) as client:
        assert client.get("/").status_code == 200
        second = subprocess.run(
            [sys.executable, "-m", "berth.cli.entry", "serve", "--workspace", str(workspace), "--port", "0"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": f"{SOURCES}:{os.environ.get('PYTHONPATH', '')}"},
        )
        assert (second.returncode, second.stderr.count("\n")) == (2, 1)
        assert "another berth serve" in second.stderr
        identity, worker = solving(client)
        with client.stream("GET", f"{API}/jobs/{identity}/events") as events:
            next(events.iter_lines())
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        assert not worker.is_running()
    assert record(workspace, identity)["state"] == "cancelled"
    assert (workspace / record(workspace, identity)["plan"]).exists()


@pytest.mark.usefixtures("naughty")
def test_killed_and_started_again(workspace: Path) -> None:
    """No solve outlives the service; the next one says what became of it."""
    with serving(workspace, "--port", "0") as (process, address), ready(address) as client:
        identity, worker = solving(client)
        process.kill()
        worker.wait(10)
    with serving(workspace, "--port", "0") as (_, address), ready(address) as client:
        assert client.get(f"{API}/jobs/{identity}").json()["state"] == "broken"


def commanded(arguments: list[str]) -> None:
    """`berth serve` in this process."""
    command.serve(arguments, standalone_mode=False)


def test_a_port_that_is_taken(workspace: Path) -> None:
    """One line that says so."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with pytest.raises(BadInput) as refused:
            commanded(["--workspace", str(workspace), "--port", port])
    (line,) = refused.value.mistakes
    assert line == f"--port {port}: address already in use on 127.0.0.1; try another, or 0 for any"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "--token-file"),
        (["--port", "70000"], "--port"),
        (["--workers", "0"], "--workers"),
        (["--longest-solve", "nan"], "--longest-solve"),
        (["--workspace", "/nowhere/at/all"], "no such folder"),
        (["--token-file", "/nowhere/at/all"], "no such file"),
        (["--host", "no.such.host.invalid", "--token-file", "TOKEN"], "--host"),
    ],
)
def test_nonsense(workspace: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    """A line that names the option."""
    token = tmp_path / "token"
    token.write_text("x" * 20)
    token.chmod(0o600)
    given = [str(token) if each == "TOKEN" else each for each in arguments]
    with pytest.raises(BadInput) as refused:
        commanded(["--workspace", str(workspace), *given])
    assert words in refused.value.mistakes[0]


def test_tokens(tmp_path: Path) -> None:
    """Long enough, in one word, and nobody else's to read."""
    file = tmp_path / "token"
    for text, mode, words in (
        ("short", 0o600, "16"),
        ("x" * 20, 0o644, "chmod"),
        ("two words and more", 0o600, "one word"),
    ):
        file.write_text(text)
        file.chmod(mode)
        with pytest.raises(BadInput, match=words):
            read_token(file)
    file.write_text("x" * 20 + "\n")
    file.chmod(0o600)
    assert read_token(file) == "x" * 20
