"""`berth cluster` as a user meets it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from berth.cli.cluster import cluster
from tests.cli.test_commands import berth
from tests.runtime.cluster.small import DOCUMENT, commands_of, processes_of, wait_until

COMMAND = [sys.executable, "-m", "berth.cli.entry", "cluster"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the clusters of a test live; at the end no process of them is left."""
    folder = tmp_path / "home"
    monkeypatch.setenv("BERTH_HOME", str(folder))
    yield folder
    left = processes_of(folder)
    for process in left:
        process.kill()
    assert left == []


@pytest.fixture
def problem(tmp_path: Path) -> str:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(DOCUMENT))
    return str(path)


def test_every_option_is_documented() -> None:
    """Each of the commands is in the section of the reference, with its options."""
    text = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
    section = next(
        part for part in re.split(r"^## ", text, flags=re.MULTILINE) if "berth cluster" in part[:20]
    )
    group: Any = typer.main.get_command(cluster)
    for name, command in group.commands.items():
        assert f"`berth cluster {name}" in section
        options = {option for item in command.params for option in item.opts if option.startswith("-")}
        assert [option for option in options if f"`{option}" not in section] == []


def test_nothing_is_running(home: Path) -> None:
    """It is said, it is no mistake, and no folder is made for it."""
    for command in (["status"], ["stop"], ["stop", "--all"]):
        done = berth("cluster", *command)
        assert (done.returncode, done.stdout) == (0, "no cluster is running\n")
    assert berth("cluster", "status", "--json").stdout == "[]\n"
    named = berth("cluster", "stop", "edge")
    assert (named.returncode, named.stderr) == (2, "no cluster named 'edge'; running: none\n")
    assert berth("cluster", "revive", "rome").stderr == "no cluster is running\n"
    assert not home.exists()


def test_a_port_in_use(home: Path, problem: str) -> None:
    """One line with the port and the way out, and nothing is started."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = berth("cluster", "start", problem, "--port", str(port))
    assert done.returncode == 2
    assert done.stderr == (
        f"port {port} on 127.0.0.1 is in use; give another one with --port, or none to get one that is free\n"
    )
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--name", "a/b"], "--name a/b: letters, digits, '.', '_' and '-' only, and 60 of them at most"),
        (["--name", ".."], "--name ..: letters, digits, '.', '_' and '-' only, and 60 of them at most"),
    ],
)
def test_wrong_names(arguments: list[str], line: str, home: Path, problem: str) -> None:
    """A name is a folder's, too."""
    done = berth("cluster", "start", problem, *arguments)
    assert (done.returncode, done.stderr) == (2, line + "\n")


def test_no_java(home: Path, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to type is in the line."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    done = berth("cluster", "start", problem)
    assert done.returncode == 2
    assert done.stderr.startswith("Spark needs Java 17 or newer, and there is no 'java' in PATH")


@pytest.mark.spark
def test_from_start_to_stop(home: Path, problem: str) -> None:
    """Started, listed, stopped; then there is neither a process nor a folder."""
    started = subprocess.run(
        [*COMMAND, "start", problem, "--name", "edge", "--json"], capture_output=True, text=True, check=True
    )
    document = json.loads(started.stdout)
    assert document["name"] == "edge"
    assert [node["name"] for node in document["nodes"]] == ["rome", "paris.eu"]
    (listed,) = json.loads(berth("cluster", "status", "--json").stdout)
    assert listed["master_url"] == document["master_url"]
    assert sorted(worker["node"] for worker in listed["workers"] if worker["alive"]) == ["paris.eu", "rome"]
    assert listed["applications"] == []
    shown = berth("cluster", "status", "edge")
    assert shown.returncode == 0
    assert re.search(
        r"^rome +up +127\.0\.0\.1:\d+ +0 of 3 +0 of 1,465 MB +0 of 3$", shown.stdout, re.MULTILINE
    )
    assert "no application is running" in shown.stdout
    assert berth("cluster", "stop", "egde").stderr == (
        "no cluster named 'egde'; did you mean 'edge'?; running: edge\n"
    )
    assert berth("cluster", "stop").stdout == "cluster edge is stopped\n"
    assert processes_of(home) == []
    assert [path.name for path in (home / "clusters").iterdir()] == [".lock"]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_ended_in_the_middle_of_the_start(
    number: signal.Signals, code: int, home: Path, problem: str
) -> None:
    """Ctrl-C in the terminal, told to end, killed: the cluster goes with the command that starts it."""
    starter = subprocess.Popen(
        [*COMMAND, "start", problem], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert wait_until(lambda: any("deploy.master.Master" in command for command in commands_of(home)))
    (os.killpg if number is signal.SIGINT else os.kill)(starter.pid, number)
    _, complaints = starter.communicate(timeout=30)
    assert starter.returncode == code
    assert "Traceback" not in complaints
    assert wait_until(lambda: processes_of(home) == [], 8 if number is signal.SIGKILL else 0.5)
    assert [path.name for path in (home / "clusters").iterdir()] == [".lock"]
