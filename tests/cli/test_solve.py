"""`--sequential` as a user meets it: events in a table, one plan, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from berth.files import load_plan
from tests.cli.test_commands import berth

CLUSTER = str(Path(__file__).parents[2] / "examples" / "filling-cluster.yaml")
IN_TURN = ("solve", CLUSTER, "--sequential", "--policy", "ffd")


def test_a_refused_request_is_told() -> None:
    done = berth(*IN_TURN)
    assert done.returncode == 5
    lines = done.stdout.splitlines()
    assert "3 of 4 accepted" in lines[0]
    table = [line.split()[:3] for line in lines if line[:1].isdigit()]
    assert table == [
        ["1", "clicks", "placed"],
        ["2", "orders", "placed"],
        ["3", "sensors", "placed"],
        ["4", "logs", "refused"],
    ]
    assert "application logs: refused: second stage, best-fit: stuck at" in done.stdout
    assert "not placed" not in done.stdout


def test_call_after_call(tmp_path: Path) -> None:
    """Arrivals, then the others, then a departure, then all are gone; the empty plan is written, too."""
    plan = str(tmp_path / "plan.json")
    files = ("--previous", plan, "--out", plan)
    assert berth(*IN_TURN, "--events", "clicks,orders", "--out", plan).returncode == 0
    places = load_plan(plan).assignment
    assert berth(*IN_TURN, *files).returncode == 5
    assert places.items() <= load_plan(plan).assignment.items()
    done = berth(*IN_TURN, *files, "--leave", "orders", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    events = [(row["application"], row["event"], row["accepted"]) for row in told["trace"]["requests"]]
    assert events == [("orders", "leave", True), ("logs", "arrive", True)]
    assert told["status"] == "feasible"
    left = berth(*IN_TURN, *files, "--events=-clicks,-sensors,-logs")
    assert left.returncode == 0
    assert "nothing is left on the nodes" in left.stdout
    assert load_plan(plan).assignment == {}


def test_nothing_has_a_place(tmp_path: Path) -> None:
    """Exit code 4, and no file."""
    text = Path(CLUSTER).read_text().replace("capacity: {cpu: 8,", "capacity: {cpu: 1,")
    problem, out = tmp_path / "tiny.yaml", tmp_path / "plan.json"
    problem.write_text(text)
    done = berth("solve", str(problem), *IN_TURN[2:], "--out", str(out))
    assert done.returncode == 4
    assert "0 of 4 accepted" in done.stdout
    assert not out.exists()


def test_policies_side_by_side() -> None:
    order = "clicks,orders,sensors,-orders,logs"
    policies = ("--policy", "ffd", "--policy", "t-heron")
    done = berth("compare", CLUSTER, "--sequential", *policies, "--events", order)
    assert done.returncode == 0
    accepted = [line.split()[-3:] for line in done.stdout.splitlines() if line.startswith(("ffd", "t-heron"))]
    assert accepted == [["4", "of", "4"]] * 2
    full = berth("compare", CLUSTER, "--sequential", *policies, "--json")
    assert full.returncode == 5
    assert [plan["trace"]["acceptance_ratio"] for plan in json.loads(full.stdout)] == [0.75, 0.75]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--events", "clicks"), "--events: only with --sequential"),
        (("--events", ""), "--events: only with --sequential"),
        (("--leave", "clicks"), "--leave: only with --sequential"),
        (
            ("--sequential", "--events", "clik"),
            "--events[0]: no application named 'clik'; did you mean 'clicks'?",
        ),
        (("--sequential", "--leave", "logs"), "--leave: logs leaves, but is not there"),
    ],
)
def test_nonsense(options: tuple[str, ...], line: str) -> None:
    done = berth("solve", CLUSTER, *options)
    assert done.returncode == 2
    assert done.stderr.startswith(line)
