"""The command as a user meets it: what it prints, and its exit codes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from berth.cli import entry
from tests.cli.in_process import Done
from tests.cli.in_process import run_berth as berth

EXAMPLES = Path(__file__).parents[2] / "examples"
TAG = str(EXAMPLES / "tag-and-count.yaml")
SMALL: dict[str, Any] = {
    "format": "berth/v1",
    "name": "small",
    "network": {
        "nodes": [{"name": "rome", "capacity": {"cpu": 2}}, {"name": "paris", "capacity": {"cpu": 2}}],
        "links": [{"from": "rome", "to": "paris", "delay_ms": 10}],
    },
    "applications": [
        {
            "name": "a",
            "operators": [
                {"name": "s", "pinned": "rome", "demand": {"cpu": 1}},
                {"name": "t", "demand": {"cpu": 2}, "work_ms": 1},
            ],
            "streams": [{"from": "s", "to": "t", "bytes_per_s": 5}],
        }
    ],
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(SMALL))
    return path


def test_solve_for_people(tmp_path: Path) -> None:
    """Status, objective, placement and metrics at a glance; the plan goes into the file."""
    done = berth("solve", TAG, "--out", str(tmp_path / "plan.json"))
    assert done.returncode == 0
    assert "optimal" in done.stdout
    assert "response time 31.8 ms · bound 31.8 ms · gap 0 %" in done.stdout
    assert "frankfurt x2" in done.stdout
    assert json.loads((tmp_path / "plan.json").read_text())["format"] == "berth-plan/v1"


def test_solve_for_machines() -> None:
    """--json prints the plan file and nothing else."""
    done = berth("solve", TAG, "--objective", "availability", "--json")
    plan = json.loads(done.stdout)
    assert plan["objective"] == 1.0
    assert plan["goal"] == {"availability": 1.0}


def test_infeasible(small: Path, tmp_path: Path) -> None:
    """Exit 3, the clash by name, and no file over an older plan."""
    problem = json.loads(json.dumps(SMALL))
    problem["applications"][0]["max_response_time_ms"] = 5
    small.write_text(json.dumps(problem))
    out = tmp_path / "plan.json"
    out.write_text("old")
    done = berth("solve", str(small), "--out", str(out))
    assert done.returncode == 3
    assert "node rome: at most cpu 2" in done.stdout
    assert "application a: response time at most 5 ms" in done.stdout
    assert out.read_text() == "old"


def test_no_plan_and_broken_plan(small: Path) -> None:
    """Exit 4 where a policy gets stuck, exit 5 where its plan breaks constraints."""
    problem = json.loads(json.dumps(SMALL))
    problem["applications"][0]["operators"][1]["parallelism"] = 3
    small.write_text(json.dumps(problem))
    stuck = berth("solve", str(small), "--policy", "round-robin")
    assert stuck.returncode == 4
    assert "stuck at a/t#" in stuck.stdout
    problem = json.loads(json.dumps(SMALL))
    problem["applications"][0]["max_response_time_ms"] = 1
    small.write_text(json.dumps(problem))
    broken = berth("solve", str(small), "--policy", "round-robin")
    assert broken.returncode == 5
    assert "application a: response time 11 ms, at most 1 ms asked" in broken.stdout
    plan = small.with_name("plan.json")
    plan.write_text(json.dumps({"assignment": {"a/s": "rome", "a/t": "paris"}}))
    done = berth("evaluate", str(small), str(plan))
    assert done.returncode == 5
    assert "application a: response time 11 ms, at most 1 ms asked" in done.stdout


def test_bad_input(small: Path) -> None:
    """Exit 2, one line for each mistake, no traceback, nothing on standard output."""
    problem = json.loads(json.dumps(SMALL))
    problem["applications"][0]["streams"][0]["to"] = "tt"
    problem["network"]["nodes"].append({"name": "rome"})
    text = json.dumps(problem, indent=1)
    small.write_text(text)
    done = berth("solve", str(small))
    assert done.returncode == 2
    assert done.stdout == ""
    first, second = (line.removeprefix(f"{small}:").split(": ", 1) for line in done.stderr.splitlines())
    assert first[1] == "network.nodes[2].name: a node named 'rome' is there already (network.nodes[0].name)"
    assert second[1] == "applications[0].streams[0].to: no operator named 'tt'; did you mean 't'?"
    shown = [text.splitlines()[int(number) - 1].strip() for number in (first[0], second[0])]
    assert [line.rstrip(",") for line in shown] == ['"name": "rome"', '"to": "tt"']


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["solve", "nowhere.yaml"], "nowhere.yaml: no such file or directory"),
        (["solve", TAG, "--policy", "opd"], "--policy: no policy named 'opd'; did you mean 'odp'?"),
        (["solve", TAG, "--set", "gap"], "--set gap: expected key=value"),
        (["solve", TAG, "--time-limit", "-1"], "--time-limit: -1.0 is not above 0"),
        (["solve", TAG, "--objective", "trafic"], "--objective: no metric named 'trafic'"),
        (["solve", TAG, "--out", "no/such/folder/plan.json"], "can't be written"),
        (["show", TAG, "--out", "x.gif"], "expected a name that ends in .png or .svg"),
        (["compare", TAG, "--policy", "x"], "--policy: no policy named 'x'"),
    ],
)
def test_wrong_usage(arguments: list[str], line: str) -> None:
    """Every wrong use is exit 2 with a line that says what is wrong."""
    done = berth(*arguments)
    assert done.returncode == 2
    assert line in done.stderr
    assert "Traceback" not in done.stderr


def test_compare_with_parameters() -> None:
    """A parameter goes to the policies that have it; one that none has is a mistake."""
    done = berth("compare", TAG, "--policy", "odp", "--policy", "round-robin", "--set", "gap=0.9", "--json")
    plans = json.loads(done.stdout)
    assert [plan["policy"] for plan in plans] == ["odp", "round-robin"]
    wrong = berth("compare", TAG, "--policy", "odp", "--policy", "round-robin", "--set", "gpa=0.9")
    assert wrong.returncode == 2
    assert "gpa" in wrong.stderr
    assert "gap" in wrong.stderr


def test_compare_and_diff(tmp_path: Path) -> None:
    """Policies side by side; what moved between two plans."""
    done = berth("compare", TAG, "--policy", "odp", "--policy", "round-robin")
    assert done.returncode == 0
    assert "31.8 ms *" in done.stdout
    before, after = str(tmp_path / "before.json"), str(tmp_path / "after.json")
    berth("solve", TAG, "--out", before)
    berth("solve", TAG, "--objective", "availability", "--out", after)
    done = berth("diff", before, after)
    assert done.returncode == 0
    assert "moved" in done.stdout
    told = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "availability 92.3 % 100 % +7.73 points better" in told
    assert "traffic 2 kB/s 1 kB/s -1 kB/s better" in told
    change = json.loads(berth("diff", before, after, "--json").stdout)
    assert change["metrics"]["availability"]["after"] == 1.0
    assert all(step["from"] != step["to"] for step in change["moved"].values())
    nowhere = tmp_path / "nowhere.json"
    nowhere.write_text('{"assignment": {"tag-and-count/source": "romx"}}')
    wrong = berth("diff", before, str(nowhere), "--problem", TAG)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(f"{nowhere}:1: assignment.tag-and-count/source: no node named 'romx'")


def test_evaluate_json(small: Path) -> None:
    """The contract's two keys; unknown names are bad input, a missing instance is a violation."""
    plan = small.with_name("plan.json")
    plan.write_text(json.dumps({"assignment": {"a/s": "rome"}}))
    done = berth("evaluate", str(small), str(plan), "--json")
    assert done.returncode == 5
    found = json.loads(done.stdout)
    assert (found["metrics"], found["violations"]) == ({}, ["instance a/t: not placed"])
    plan.write_text(json.dumps({"assignment": {"a/s": "roma"}}))
    done = berth("evaluate", str(small), str(plan))
    assert done.returncode == 2
    assert done.stderr == f"{plan}:1: assignment.a/s: no node named 'roma'; did you mean 'rome'?\n"


def test_policies_and_schema() -> None:
    """Lists for programs: every policy with its parameters, both schemas."""
    listed = {policy["name"]: policy for policy in json.loads(berth("policies", "--json").stdout)}
    assert {item["name"] for item in listed["odp"]["parameters"]} >= {"candidate_fraction", "gap"}
    assert set(json.loads(berth("schema").stdout)) == {"problem", "plan"}
    assert json.loads(berth("schema", "plan").stdout)["title"] == "berth plan"


def test_show(tmp_path: Path) -> None:
    """A drawing in the terminal, and a picture in a file."""
    assert "parse×2" in berth("show", TAG).stdout
    picture = tmp_path / "picture.svg"
    assert berth("show", TAG, "--out", str(picture)).returncode == 0
    assert picture.read_text().lstrip().startswith("<?xml")


def test_interrupt_keeps_the_plan(tmp_path: Path) -> None:
    """Ctrl-C in the middle of a long solve: the best plan so far, and exit 0."""
    names = [f"o{k}" for k in range(40)]
    delays = [[0 if a == b else 10 + (a * 7 + b * 7 + a * b) % 23 for b in range(25)] for a in range(25)]
    problem = {
        "format": "berth/v1",
        "name": "long",
        "network": {
            "nodes": [{"name": f"n{k}", "capacity": {"c": 3}} for k in range(25)],
            "delay_ms": delays,
        },
        "applications": [
            {
                "name": "a",
                "operators": [{"name": name, "demand": {"c": 1}, "work_ms": 1} for name in names],
                # no pipeline, no fan, no tree: nothing that a method of its own would prove at once
                "streams": [
                    {"from": names[k], "to": names[k + step], "bytes_per_s": 10 + (k * step) % 17}
                    for step in (1, 7, 13)
                    for k in range(40 - step)
                ],
            }
        ],
        "objective": {"response_time": 1.0, "network_usage": 1.0},
        "objective_scale": "raw",
    }
    path = tmp_path / "long.json"
    path.write_text(json.dumps(problem))
    command = [sys.executable, "-m", "berth.cli.entry", "solve", str(path), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    plan = json.loads(out)
    assert plan["reason"] == "interrupted"
    assert len(plan["assignment"]) == 40


def test_help_has_examples() -> None:
    """Every command's help shows how to use it."""
    for name in ("solve", "evaluate", "compare", "diff", "show", "policies", "schema"):
        assert f"berth {name}" in berth(name, "--help").stdout


def test_unwritable_output() -> None:
    """A full device or a closed standard output is one line, not a traceback."""
    environment = {**os.environ, "NO_COLOR": "1"}
    command = f"{sys.executable} -m berth.cli.entry solve {TAG}"
    for redirection in ("> /dev/full", "--json > /dev/full", ">&-"):
        done = subprocess.run(
            f"{command} {redirection}",
            shell=True,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert done.returncode == 2
        assert "standard output: can't be written" in done.stderr
        assert "Traceback" not in done.stderr


def test_interrupt_before_there_is_anything(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C while everything is still being loaded: one line; exit 4 where a plan was asked for."""

    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "_run", interrupted)
    for command, code, line in (("solve", 4, "interrupted: no plan\n"), ("ingest", 130, "interrupted\n")):
        monkeypatch.setattr(sys, "argv", ["berth", command, "x"])
        with pytest.raises(SystemExit) as stopped:
            entry.main()
        assert stopped.value.code == code
        assert capsys.readouterr().err == line


def test_interrupt_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in a command that has nothing to show: one line, and exit 4 where a plan was asked for."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("berth.cli.solve.load", interrupted)
    monkeypatch.setattr("berth.cli.plans.load", interrupted)
    assert berth("solve", TAG) == Done(4, "", "interrupted: no plan\n")
    assert berth("evaluate", TAG, "plan.json") == Done(130, "", "interrupted\n")
