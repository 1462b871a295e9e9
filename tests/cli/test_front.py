"""`berth front` as a user meets it: a table, JSON, a folder, exit codes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from berth.evaluation import evaluate
from berth.files import load, load_plan, plan_from
from berth.files.front_folder import front_document
from berth.model import Front
from tests.cli.in_process import run_berth as berth
from tests.policies.test_front import chain

EXAMPLES = Path(__file__).parents[2] / "examples"
JOIN = str(EXAMPLES / "two-source-join.yaml")
BOTH = ("--objective", "response_time", "--objective", "cost_per_hour")


def test_the_table() -> None:
    done = berth("front", JOIN, *BOTH)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[1] == "5 points, proved to be the whole front"
    rows = [line.split() for line in lines if line[:1].isdigit() and "proved" in line][1:]
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5"]
    assert [row[-1] for row in rows].count("knee") == 1
    times = [float(row[1]) for row in rows]
    assert times == sorted(times)


def test_json_is_the_contract_s() -> None:
    done = berth("front", JOIN, *BOTH, "--points", "3", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert told["objectives"] == ["response_time", "cost_per_hour"]
    assert len(told["points"]) == 3
    problem = load(JOIN)
    for point in told["points"]:
        plan = plan_from(point["plan"])
        metrics = evaluate(problem, plan).metrics
        assert point["values"] == {
            "response_time": metrics["response_time_ms"],
            "cost_per_hour": metrics["cost_per_hour"],
        }
        assert point["proved"] is True
        assert plan.metrics == metrics
    assert [point["knee"] for point in told["points"]].count(True) <= 1
    assert told["complete"] is False


def test_what_points_are_warned_of(tmp_path: Path) -> None:
    """Overload is counted for each point and told below the table."""
    fraud = tmp_path / "busy.yaml"
    fraud.write_text(BUSY)
    printed = berth("front", str(fraud), *BOTH).stdout
    assert "cost per hour  warnings" in printed
    assert "\nwarnings\n  ! every point: node a: 5 processors needed, 1 there\n" in printed


BUSY = """
format: berth/v1
name: busy
network: {nodes: [{name: a, cost_per_hour: 1}]}
applications:
  - name: p
    operators:
      - {name: s, emits_bytes_per_s: 1000}
      - {name: t, work_ms: 50}
    streams: [{from: s, to: t, tuple_bytes: 10}]
"""


def test_the_folder(tmp_path: Path) -> None:
    """Plan files, all of it, and pictures; what an older front left there is gone."""
    folder = tmp_path / "new" / "front"
    done = berth("front", JOIN, *BOTH, "--out", str(folder), "--json")
    assert done.returncode == 0
    assert f"front written to {folder}" in done.stderr
    written = json.loads((folder / "front.json").read_text())
    assert written == json.loads(done.stdout)
    plans = sorted(file.name for file in folder.glob("point-*.json"))
    assert plans == [f"point-0{number}.json" for number in range(1, 6)]
    for name, point in zip(plans, written["points"], strict=True):
        assert json.loads((folder / name).read_text()) == point["plan"]
        assert load_plan(folder / name).violations == ()
    assert (folder / "front.png").read_bytes()[:4] == b"\x89PNG"
    assert b"<svg" in (folder / "front.svg").read_bytes()
    (folder / "notes.txt").write_text("mine")
    berth("front", JOIN, *BOTH, "--points", "2", "--out", str(folder))
    left = sorted(file.name for file in folder.iterdir())
    assert left == ["front.json", "front.png", "front.svg", "notes.txt", "point-01.json", "point-02.json"]


def test_infeasible(tmp_path: Path) -> None:
    problem, folder = tmp_path / "p.yaml", tmp_path / "front"
    raw = chain(0)
    raw["applications"][0]["operators"][0]["demand"] = {"cpu": 99}
    problem.write_text(json.dumps(raw))
    done = berth("front", str(problem), *BOTH, "--out", str(folder))
    assert done.returncode == 3
    assert "infeasible" in done.stdout
    assert "cpu" in done.stdout
    assert f"no plan: nothing written to {folder}" in done.stderr
    assert list(folder.iterdir()) == []
    told = berth("front", str(problem), *BOTH, "--json")
    assert told.returncode == 3
    document = json.loads(told.stdout)
    assert (document["points"], document["status"]) == ([], "infeasible")


def test_no_plan_found(tmp_path: Path) -> None:
    """search proves nothing, and can't place what has no room."""
    problem = tmp_path / "p.yaml"
    raw = chain(0)
    for operator in raw["applications"][0]["operators"]:
        operator["demand"] = {"cpu": 2.5}
    problem.write_text(json.dumps(raw))
    done = berth("front", str(problem), *BOTH, "--policy", "search", "--set", "steps=100")
    assert done.returncode == 4
    assert "no plan found" in done.stdout


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--objective", "traffic"), "--objective: a front lies between two metrics, 1 given"),
        ((*BOTH, "--objective", "traffic"), "--objective: a front lies between two metrics, 3 given"),
        (
            ("--objective", "traffic=2", "--objective", "cost_per_hour"),
            "--objective traffic=2: a metric's name alone",
        ),
        (
            ("--objective", "trafic", "--objective", "cost_per_hour"),
            "--objective: no metric named 'trafic'; did you mean 'traffic'?",
        ),
        (
            ("--objective", "traffic", "--objective", "traffic"),
            "--objective: traffic twice; a front lies between two different metrics",
        ),
        ((*BOTH, "--points", "1"), "--points: 1 is below 2"),
        ((*BOTH, "--time-limit", "0"), "--time-limit: 0.0 is not above 0"),
        ((*BOTH, "--policy", "ffd"), "--policy: ffd can't keep one goal while it seeks another"),
        ((*BOTH, "--set", "colour=red"), "--set colour: policy auto has no parameter named"),
        (
            ("--objective", "moved_instances", "--objective", "traffic"),
            "objective.moved_instances: needs a previous plan (--previous PLAN)",
        ),
        (
            ("--objective", "traffic", "--objective", "failover_response_time"),
            "objective.failover_response_time: nothing is lost without 'survive'",
        ),
        ((*BOTH, "--out", JOIN), f"--out {JOIN}: no folder: file exists"),
    ],
)
def test_mistakes(options: tuple[str, ...], line: str) -> None:
    done = berth("front", JOIN, *options)
    assert done.returncode == 2
    assert done.stderr.startswith(line), done.stderr


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it shows is what the commands print."""
    page = (EXAMPLES.parent / "docs" / "fronts.md").read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(EXAMPLES)

    def plain(text: str) -> list[str]:
        lines = (line.rstrip() for line in text.splitlines() if "Ctrl-C" not in line)
        return [re.sub(r"[\d.]+ s$", "T s", line) for line in lines]

    shown = re.findall(r"^```console\n\$ berth (.*)\n((?:.*\n)*?)```$", page, re.MULTILINE)
    assert [command.split()[0] for command, _ in shown] == ["front", "solve"]
    for line, printed in shown:
        command, _, last = line.partition(" | tail -")
        done = berth(*command.split())
        assert done.returncode == 0
        assert plain(done.stdout + done.stderr)[-int(last or 0) :] == plain(printed)


def test_known_metrics_are_listed() -> None:
    done = berth("front", JOIN, "--objective", "speed", "--objective", "traffic")
    assert "(known: response_time, " in done.stderr


def test_ctrl_c_gives_the_points_so_far(tmp_path: Path) -> None:
    """Found by search, which would go on for an hour."""
    problem, heard = tmp_path / "p.yaml", tmp_path / "heard"
    problem.write_text(json.dumps(chain(1, operators=12, nodes=8)))
    options = ("--policy", "search", "--time-limit", "3600", "--json")
    command = [sys.executable, "-m", "berth.cli.entry", "front", str(problem), *BOTH, *options]
    with heard.open("w") as errors:
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        while child.poll() is None and "best" not in heard.read_text():
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        printed, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    told = json.loads(printed)
    assert told["points"]
    assert told["reason"] == "interrupted"
    assert told["complete"] is False


def test_how_a_front_is_shown() -> None:
    """A document of a front without points has all keys, too."""
    nothing = Front("p", ("traffic", "carbon"), (), "unknown", False, "out of time", 1.0)
    assert front_document(nothing) == {
        "problem": "p",
        "objectives": ["traffic", "carbon"],
        "status": "unknown",
        "reason": "out of time",
        "complete": False,
        "summary": "no points",
        "seconds": 1.0,
        "points": [],
    }
