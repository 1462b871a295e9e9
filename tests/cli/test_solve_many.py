"""`berth solve-many` as a user meets it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from berth.amounts import duration
from berth.cli.app import app
from berth.cli.progress import SolvedCount
from berth.model import BadInput
from berth.spark import SparkSession

PROBLEM: dict[str, Any] = {
    "format": "berth/v1",
    "name": "small",
    "network": {
        "nodes": [{"name": "rome", "capacity": {"cpu": 2}}, {"name": "oslo", "capacity": {"cpu": 1}}]
    },
    "applications": [{"name": "a", "operators": [{"name": "s", "demand": {"cpu": 1}}]}],
}
POLICIES = '''
import os, time
from berth.policies.policy import About, NoParameters
from berth.policies.round_robin import RoundRobin

class Slow:
    """Takes its time."""
    about = About("slow", "none", "nothing", "none")
    parameters = NoParameters

    def solve(self, task):
        time.sleep(0.25)
        return RoundRobin().solve(task)

class Crash(Slow):
    """Ends its process."""
    def solve(self, task):
        os._exit(1)

class Fail(Slow):
    """Has a mistake in it."""
    def solve(self, task):
        return {}["gone"]
'''


def berth(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["solve-many", *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "problems"
    folder.mkdir()
    for number in range(6):
        (folder / f"p{number}.json").write_text(json.dumps(PROBLEM | {"name": f"p{number}"}))
    return folder


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--policy", "odd"], "no policy"),
        (["--seeds", "9:3"], "--seeds"),
        (["--set", "gab=1"], "has a parameter"),
        (["--set", "gap=0", "--sweep", "gap=0,1"], "gap is given twice"),
        (["--sweep", "gap"], "expected key=value"),
        (["--sweep", "gap=0,,1"], "expected key=value"),
        (["--sweep", "gap=0,7"], "gap: 7.0 is not"),
        (["--objective", "speed"], "--objective"),
        (["--time-limit", "0"], "--time-limit"),
        (["nowhere"], "nowhere: no such file"),
    ],
)
def test_bad_usage(arguments: list[str], line: str, folder: Path, tmp_path: Path) -> None:
    """It is refused before Spark starts, and nothing is written."""
    result = berth(str(folder), "--out", str(tmp_path / "out"), *arguments)
    assert isinstance(result.exception, BadInput)
    assert line in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_summary(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    """A line for each policy; the same again with --json, with nothing left to solve."""
    (folder / "bad.yaml").write_text("[")
    asked = [str(folder), "--policy", "odp", "--policy", "round-robin", "--out", str(tmp_path / "out")]
    first = berth(*asked, "--seeds", "0:2", "--sweep", "gap=0,0.1")
    assert first.exit_code == 0
    cells = [line.split()[:7] for line in first.stdout.splitlines()]
    assert cells[1] == ["odp", "28", "24", "0", "0", "0", "4"]
    assert cells[2] == ["round-robin", "14", "0", "12", "0", "0", "2"]
    assert "6 of the rows are errors" in first.stderr
    again = berth(*asked, "--seeds", "0:2", "--sweep", "gap=0,0.1", "--json")
    summary = json.loads(again.stdout)
    assert (summary["solved"], summary["kept"], summary["problems"]) == (0, 42, 7)
    assert [row["policy"] for row in summary["policies"]] == ["odp", "round-robin"]


def test_progress_line() -> None:
    """Solved of all, the rate, the time left and errors."""

    class Counts:
        solved, errors = 0, 0

    counts = Counts()
    counter = SolvedCount(counts, 400)
    assert list(counter.report()) == ["0 of 400 solved · 0 s"]
    counter._start -= 10
    counts.solved, counts.errors = 100, 2
    assert list(counter.report()) == ["100 of 400 solved · 10.0/s · 30 s left · 2 errors"]
    assert [duration(seconds) for seconds in (5, 200, 7500)] == ["5 s", "3 min 20 s", "2 h 5 min"]


def descendants(process: int) -> set[int]:
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def alive(processes: set[int]) -> set[int]:
    found = set()
    for process in processes:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        found |= {process} if state != "Z" else set()
    return found


@pytest.mark.long
@pytest.mark.spark
def test_killed_and_again(folder: Path, tmp_path: Path) -> None:
    """SIGKILL in the middle keeps what was finished and leaves no process; the same command does the rest.

    The second run has a policy that crashes and one that fails, too: they cost their rows.
    """
    (tmp_path / "wild_policies.py").write_text(POLICIES)
    package = tmp_path / "wild-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Name: wild\nVersion: 1\n")
    names = "\n".join(f"{name.lower()} = wild_policies:{name}" for name in ("Slow", "Crash", "Fail"))
    (package / "entry_points.txt").write_text(f"[berth.policies]\n{names}\n")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "berth.cli.entry", "solve-many", str(folder), "--out", str(out)]
    command += ["--master", "local[2]", "--json", "--seeds", "0:6", "--policy", "slow"]
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path}
    killed = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 120
    while len(list(out.glob("plans/*.parquet"))) < 9:
        assert killed.poll() is None, killed.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    family = descendants(killed.pid)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    until = time.monotonic() + 20
    while alive(family):
        assert time.monotonic() < until
        time.sleep(0.1)
    kept = pd.read_parquet(out / "plans")
    assert 9 <= len(kept) < 36
    more = ["--policy", "crash", "--policy", "fail"]
    done = subprocess.run([*command, *more], env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["solved"], summary["kept"]) == (108 - len(kept), len(kept))
    plans = pd.read_parquet(out / "plans")
    assert len(plans) == plans["key"].nunique() == 108
    errors = plans.groupby("policy")["error"].agg(lambda texts: sorted(set(texts.dropna()))).to_dict()
    assert errors["slow"] == []
    assert errors["fail"] == ["KeyError: 'gone'"]
    assert errors["crash"] == ["the policy ended its process (exit code 1)"]
