"""`berth solve --alternatives` as a user meets it."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from berth.evaluation import evaluate
from berth.files import load, load_plan, plan_from
from tests.cli.in_process import run_berth as berth
from tests.policies.test_alternatives import differing
from tests.policies.test_front import chain

EXAMPLES = Path(__file__).parents[2] / "examples"
TAGS = str(EXAMPLES / "tag-and-count.yaml")
FEW = ("--alternatives", "4", "--within", "5%", "--differ", "2")


def test_the_best_plan_and_a_row_for_each_other() -> None:
    done = berth("solve", TAGS, *FEW)
    assert done.returncode == 0
    assert "others within 5 %, any two of them different in at least 2 operators" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert [row[0] for row in rows] == ["2", "3", "4"]
    assert all("worse" in row or "same" in row for row in rows)


def test_json(tmp_path: Path) -> None:
    done = berth("solve", TAGS, *FEW, "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert (told["within"], told["differ"], told["reason"]) == (0.05, 2, None)
    problem, plans = load(TAGS), [plan_from(each) for each in told["plans"]]
    assert len(plans) == 4
    best = plans[0].objective
    assert best is not None
    for plan in plans:
        assert evaluate(problem, plan).violations == ()
        assert plan.objective is not None
        assert best <= plan.objective <= best * 1.05
        count = differing(dict(plans[0].assignment), dict(plan.assignment))
        assert plan.trace["alternative"]["differs"] == count
    for one, other in combinations(plans, 2):
        assert differing(dict(one.assignment), dict(other.assignment)) >= 2


def test_without_the_option_nothing_changes() -> None:
    told = json.loads(berth("solve", TAGS, "--json").stdout)
    assert told["format"] == "berth-plan/v1"
    assert "alternative" not in told["trace"]


def test_files(tmp_path: Path) -> None:
    """The best one where it was asked for, the others beside it."""
    file = tmp_path / "plan.json"
    done = berth("solve", TAGS, *FEW, "--out", str(file))
    names = [str(file), *(str(tmp_path / f"plan-{number}.json") for number in (2, 3, 4))]
    assert f"plans written to {', '.join(names)}" in done.stderr
    assert sorted(str(each) for each in tmp_path.iterdir()) == sorted(names)
    assert [load_plan(name).trace["alternative"]["number"] for name in names] == [1, 2, 3, 4]
    told = json.loads(berth("solve", TAGS, *FEW, "--out", "-").stdout)
    assert len(told["plans"]) == 4


def test_fewer_than_asked_for() -> None:
    done = berth("solve", str(EXAMPLES / "edge-cameras.yaml"), "--alternatives", "3", "--within", "1%")
    assert done.returncode == 0
    words = "no other plan is within 1 % of the best and differs from each of these in at least 1 operator"
    assert f"no more than 1 plan: {words}" in done.stdout


def test_no_plan(tmp_path: Path) -> None:
    raw = chain(0)
    raw["applications"][0]["operators"][0]["demand"] = {"cpu": 99}
    problem, file = tmp_path / "p.yaml", tmp_path / "plan.json"
    problem.write_text(json.dumps(raw))
    done = berth("solve", str(problem), "--alternatives", "3", "--out", str(file), "--json")
    assert done.returncode == 3
    told = json.loads(done.stdout)
    assert (told["plans"], told["status"]) == ([], "infeasible")
    assert "cpu" in told["reason"]
    assert not file.exists()
    assert "infeasible" in berth("solve", str(problem), "--alternatives", "3").stdout


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--alternatives", "0"), "--alternatives: 0 is below 1"),
        (("--differ", "2"), "--differ: only with --alternatives"),
        (("--alternatives", "2", "--differ", "99"), "--differ: 99 is too much; "),
        (("--alternatives", "2", "--within", "x"), "--within x: expected a share"),
        (("--alternatives", "2", "--within", "1%", "--within", "2%"), "--within: once with --alternatives"),
        (("--alternatives", "2", "--sequential"), "--alternatives: not with --sequential"),
        (("--alternatives", "2", "--policy", "ffd"), "--policy: ffd can't keep one goal"),
    ],
)
def test_mistakes(options: tuple[str, ...], line: str) -> None:
    done = berth("solve", TAGS, *options)
    assert done.returncode == 2
    assert done.stderr.startswith(line), done.stderr
