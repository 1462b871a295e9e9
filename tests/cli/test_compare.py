"""`berth compare` and `berth diff`: every plan is judged by the problem that is shown."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from berth.cli.output import folded
from berth.files import load
from tests.cli.in_process import run_berth as berth

TAG = str(Path(__file__).parents[2] / "examples" / "tag-and-count.yaml")
SMALL: dict[str, Any] = {
    "format": "berth/v1",
    "name": "small",
    "network": {
        "nodes": [
            {"name": "near", "capacity": {"cpu": 2}, "availability": 0.9, "speed": 2},
            {"name": "far", "capacity": {"cpu": 2}},
        ],
        "links": [{"from": "near", "to": "far", "delay_ms": 10}],
    },
    "applications": [
        {
            "name": "a",
            "operators": [
                {"name": "s", "pinned": "near", "emits_bytes_per_s": 2e6},
                {"name": "t", "demand": {"cpu": 2}, "work_ms": 4},
            ],
            "streams": [{"from": "s", "to": "t"}],
        }
    ],
}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two nodes: the near one is fast, the far one never fails. Here, `changed.yaml` has a slower link."""
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(yaml.safe_dump(SMALL))
    changed = copy.deepcopy(SMALL)
    changed["network"]["links"][0]["delay_ms"] = 30
    Path("changed.yaml").write_text(yaml.safe_dump(changed))
    for name, objective in (("fast", "response_time"), ("steady", "availability")):
        assert berth("solve", "small.yaml", "--objective", objective, "--out", f"{name}.json").returncode == 0
    return tmp_path


def rows(printed: str) -> dict[str, list[str]]:
    """The first table: cells by the name of the plan."""
    table = printed.split("\n\n")[1].splitlines()
    cells = [line.partition("  ") for line in table[1:]]
    return {name.strip(): rest.split() for name, _, rest in cells}


def test_plan_files_beside_policies(small: Path) -> None:
    """Each has a row with its own goal, and what it is worth by the problem's objective."""
    done = berth("compare", "small.yaml", "--policy", "odp", "--plan", "fast.json", "--plan", "steady.json")
    assert done.returncode == 0
    assert f"all judged by small ({load('small.yaml').fingerprint}) · objective: response time" in done.stdout
    assert done.stderr == ""
    table = rows(done.stdout)
    assert table["odp"][:5] == ["response", "time", "optimal", "2", "ms"]
    assert table["fast.json"][:6] == ["response", "time", "optimal", "2", "ms", "*"]
    assert table["steady.json"][:4] == ["availability", "optimal", "14", "ms"]


def test_plans_alone(small: Path) -> None:
    """With plan files and no policy, nothing is solved."""
    done = berth("compare", "small.yaml", "--plan", "steady.json", "--plan", "fast.json", "--json")
    steady, fast = json.loads(done.stdout)
    assert (steady["file"], fast["file"]) == ("steady.json", "fast.json")
    assert (steady["goal"], fast["goal"]) == ({"availability": 1.0}, {"response_time": 1.0})
    assert (steady["problem_objective"], fast["problem_objective"]) == (14.0, 2.0)
    assert (steady["objective"], steady["status"], steady["bound"]) == (0.9, "optimal", 0.9)
    fingerprint = load("small.yaml").fingerprint
    assert steady["judged_by"] == fast["judged_by"] == {"problem": "small", "fingerprint": fingerprint}


def test_another_version_is_judged_by_the_problem_that_is_shown(small: Path) -> None:
    """Its figures are those under this problem, what was proved is gone, and everybody is told."""
    done = berth("compare", "changed.yaml", "--policy", "odp", "--plan", "steady.json")
    here, there = load("changed.yaml").fingerprint, load("small.yaml").fingerprint
    note = f"note: steady.json was made for another version of small ({there}; this one is {here})\n"
    assert done.stderr == note
    assert rows(done.stdout)["steady.json (another version)"][:3] == ["availability", "feasible", "34"]
    done = berth("compare", "changed.yaml", "--plan", "steady.json", "--json")
    assert done.stderr == note
    (plan,) = json.loads(done.stdout)
    assert (plan["problem_fingerprint"], plan["judged_by"]["fingerprint"]) == (there, here)
    assert plan["metrics"]["response_time_ms"] == plan["problem_objective"] == 34.0
    assert (plan["status"], plan["objective"], plan["bound"], plan["gap"]) == ("feasible", 0.9, None, None)


def test_a_claim_that_is_not_about_this_plan(small: Path) -> None:
    """Somebody has moved an operator in the file, and left what was proved of another plan."""
    plan = json.loads(Path("fast.json").read_text())
    plan["assignment"]["a/t"] = "far"
    Path("fast.json").write_text(json.dumps(plan))
    (judged,) = json.loads(berth("compare", "small.yaml", "--plan", "fast.json", "--json").stdout)
    assert (judged["status"], judged["objective"], judged["bound"]) == ("feasible", 14.0, None)


def test_a_policy_that_does_not_apply(small: Path) -> None:
    """It has a row and a reason, and the others their plans."""
    done = berth("compare", "small.yaml", "--policy", "mips", "--policy", "odp")
    assert done.returncode == 0
    assert rows(done.stdout)["mips"][:4] == ["-", "does", "not", "apply"]
    assert "\nmips: applications[0].containers: a has none" in done.stdout
    refused, solved = json.loads(
        berth("compare", "small.yaml", "--policy", "mips", "--policy", "odp", "--json").stdout
    )
    assert (refused["policy"], refused["status"], refused["applies"]) == ("mips", "unknown", False)
    assert refused["reason"].startswith("applications[0].containers: a has none")
    assert (solved["status"], solved["applies"]) == ("optimal", True)
    assert berth("compare", "small.yaml", "--policy", "mips").returncode == 4


def test_all_policies(small: Path) -> None:
    """Whatever some of them can't take: each has its row."""
    done = berth("compare", "small.yaml", "--time-limit", "1")
    assert done.returncode == 0
    table = rows(done.stdout)
    assert {"odp", "mips", "forest", "sbon", "round-robin"} <= table.keys()
    assert all(len(line) <= 120 for line in done.stdout.splitlines() if not line.partition(": ")[2])


def test_a_plan_that_can_not_be_judged(small: Path) -> None:
    """A plan of a version with other nodes has a row with the reason."""
    changed = copy.deepcopy(SMALL)
    changed["network"]["nodes"][1]["name"] = changed["network"]["links"][0]["to"] = "away"
    Path("changed.yaml").write_text(yaml.safe_dump(changed))
    done = berth("compare", "changed.yaml", "--policy", "odp", "--plan", "steady.json")
    assert done.returncode == 0
    assert "does not apply" in done.stdout
    assert "steady.json: assignment.a/t: no node named 'far'" in done.stdout
    assert berth("compare", "changed.yaml", "--plan", "steady.json").returncode == 4


def test_plans_that_break_something(small: Path) -> None:
    """What they break is counted and listed, no star goes there, and the exit code is theirs."""
    Path("broken.json").write_text(json.dumps({"assignment": {"a/s": "far", "a/t": "near"}}))
    done = berth("compare", "small.yaml", "--plan", "broken.json")
    assert done.returncode == 5
    assert "\nbroken.json: instance a/s" in done.stdout
    assert "*" not in done.stdout
    assert berth("compare", "small.yaml", "--plan", "broken.json", "--plan", "fast.json").returncode == 0


def test_what_many_lines_would_say_is_counted(tmp_path: Path) -> None:
    """Three lines for a plan, and how many more there are; instances of one operator share a line."""
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps({"assignment": {}}))
    compared = ("compare", TAG, "--plan", str(empty))
    count = len(folded(json.loads(berth(*compared, "--json").stdout)[0]["violations"]))
    lines = [line.partition(": ")[2] for line in berth(*compared).stdout.splitlines() if ".json: " in line]
    assert len(lines) == 4
    assert lines[-1] == f"and {count - 3} more; --json has them all"


def test_what_plans_are_warned_of(small: Path) -> None:
    """A column and lines say what is overloaded; what several plans have in common is told once."""
    assert "warnings" not in berth("compare", "small.yaml", "--policy", "odp").stdout
    busy = copy.deepcopy(SMALL)
    operators = busy["applications"][0]["operators"]
    operators[1] |= {"parallelism": 2, "demand": {"cpu": 1}, "work_ms": 40}
    busy["applications"][0]["streams"][0]["tuple_bytes"] = 1000
    busy["network"]["nodes"][0]["cores"] = 2
    Path("busy.yaml").write_text(yaml.safe_dump(busy))
    assert berth("solve", "busy.yaml", "--out", "busy.json").returncode == 0
    printed = berth("compare", "busy.yaml", "--policy", "odp", "--plan", "busy.json").stdout
    assert "breaks  warnings\n" in printed
    assert [cells[-1] for cells in rows(printed).values() if cells] == ["3", "3"]
    assert "odp, busy.json: node near: 80 processors needed, 4 there" in printed
    assert "odp, busy.json: a/t#0: 40 processors needed, 2 there (and 1 more instance of it)" in printed


def test_sums_are_on_one_scale(small: Path) -> None:
    """A plan that was found for something else is measured by the same bounds as those of the policies."""
    weights = ("--objective", "response_time=1", "--objective", "availability=1")
    done = berth(
        "compare",
        "small.yaml",
        *weights,
        "--policy",
        "odp",
        "--policy",
        "round-robin",
        "--plan",
        "fast.json",
        "--json",
    )
    odp, dealt, fast = json.loads(done.stdout)
    assert odp["trace"]["objective_bounds"] == dealt["trace"]["objective_bounds"]
    assert odp["objective"] == pytest.approx(odp["problem_objective"])
    assert fast["problem_objective"] >= odp["problem_objective"] - 1e-9
    assert fast["objective"] == 2.0


def test_goals_in_order(small: Path) -> None:
    """Each level is named, and what was proved of it elsewhere is dropped with the rest."""
    levels = [{"goal": {"response_time": 1.0}, "objective": 2.0, "bound": 2.0, "gap": 0.0}] * 2
    plan = json.loads(Path("fast.json").read_text())
    plan |= {"goal": [{"response_time": 1.0}, {"traffic": 1.0, "nodes_used": 2.0}], "levels": levels}
    Path("ordered.json").write_text(json.dumps(plan))
    done = berth("compare", "small.yaml", "--plan", "ordered.json")
    assert "response time, then 1 traffic + 2 nodes used  optimal" in done.stdout
    (here,) = json.loads(berth("compare", "small.yaml", "--plan", "ordered.json", "--json").stdout)
    (there,) = json.loads(berth("compare", "changed.yaml", "--plan", "ordered.json", "--json").stdout)
    assert here["levels"] == levels
    assert "levels" not in there
    assert there["goal"] == plan["goal"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("missing.yaml",), "missing.yaml: "),
        (("small.yaml", "--plan", "missing.json"), "missing.json: "),
        (("small.yaml", "--plan", "small.yaml"), "small.yaml: this is a problem, not a plan"),
        (("small.yaml", "--objective", "moved_state"), "objective.moved_state: needs a previous plan"),
        (("small.yaml", "--sequential", "--plan", "fast.json"), "--plan: not with --sequential"),
    ],
)
def test_mistakes_of_the_caller(small: Path, arguments: tuple[str, ...], line: str) -> None:
    """In the problem, in a file that is no plan, or in what was asked: exit code 2, as everywhere."""
    done = berth("compare", *arguments)
    assert done.returncode == 2
    assert line in done.stderr


def test_diff_as_recorded(small: Path) -> None:
    """Without a problem: the figures of the files, and whether they are of one version."""
    fingerprint = load("small.yaml").fingerprint
    done = berth("diff", "fast.json", "steady.json")
    assert done.stdout.startswith(f"figures as the files have them, both for small ({fingerprint})\n")
    lines = {line[:20].strip(): line[20:].split() for line in done.stdout.splitlines()}
    assert lines["response time"] == ["2", "ms", "14", "ms", "+12", "ms", "worse"]
    assert lines["traffic"][-3:] == ["+2", "MB/s", "worse"]
    assert lines["nodes used"][-2:] == ["+1", "worse"]
    assert lines["availability"][-3:] == ["+9", "points", "better"]
    assert berth("solve", "changed.yaml", "--out", "new.json").returncode == 0
    done = berth("diff", "fast.json", "new.json")
    both = f"({fingerprint} and {load('changed.yaml').fingerprint})"
    assert f"for two versions of small {both}: they can't be compared; --problem PROBLEM" in done.stdout
    assert "worse" not in done.stdout
    assert "better" not in done.stdout
    Path("old.json").write_text(json.dumps({"assignment": {"a/s": "near", "a/t": "far"}}))
    assert "not both say for which version" in berth("diff", "old.json", "new.json").stdout


def test_diff_of_failovers(small: Path) -> None:
    """Where all is the same but what goes where after a loss."""
    assignment = {"a/s": "near", "a/t#0": "near", "a/t#1": "near"}
    for name, node in (("one", "far"), ("two", "away")):
        failover = {"near": {"a/t#0": node, "a/t#1": node}}
        Path(f"{name}.json").write_text(json.dumps({"assignment": assignment, "failover": failover}))
    printed = berth("diff", "one.json", "two.json").stdout
    assert "nothing moved; the failover differs" in printed
    assert printed.splitlines()[-1].split() == ["near", "a/t×2", "far", "away"]
    change = json.loads(berth("diff", "one.json", "two.json", "--json").stdout)
    assert change["failover"]["near"]["a/t#1"] == {"from": "far", "to": "away"}
    Path("two.json").write_text(json.dumps({"assignment": assignment}))
    assert berth("diff", "one.json", "two.json").stdout.splitlines()[-1].split()[-1] == "-"
    assert json.loads(berth("diff", "one.json", "one.json", "--json").stdout)["failover"] == {}


def test_diff_judged(small: Path) -> None:
    """With a problem both are judged by it, whatever their files have recorded."""
    done = berth("diff", "fast.json", "steady.json", "--problem", "changed.yaml")
    changed = load("changed.yaml")
    assert done.stdout.startswith(f"both judged by small ({changed.fingerprint})\n")
    assert done.stderr.count("was made for another version of small") == 2
    assert "+32 ms" in done.stdout
    change = json.loads(
        berth("diff", "fast.json", "steady.json", "--problem", "changed.yaml", "--json").stdout
    )
    assert change["judged_by"] == {"problem": "small", "fingerprint": changed.fingerprint}
    assert change["metrics"]["response_time_ms"] == {"before": 2.0, "after": 34.0, "change": 32.0}
    assert json.loads(berth("diff", "fast.json", "steady.json", "--json").stdout)["judged_by"] is None


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "changed.yaml", "fast.json", "--json"),
        ("explain", "changed.yaml", "fast.json", "--what-if", "none", "--json"),
        ("simulate", "changed.yaml", "fast.json", "--duration", "1", "--set", "tuple_bytes=1e6", "--json"),
        ("show", "changed.yaml", "fast.json"),
    ],
)
def test_every_command_says_so(small: Path, command: tuple[str, ...]) -> None:
    """A line on standard error, never an error; with the right problem there is none."""
    done = berth(*command)
    assert done.returncode in (0, 5)
    assert done.stderr.count("note: fast.json was made for another version of small") == 1
    if "--json" in command:
        assert "fingerprint" not in json.loads(done.stdout)
    same = berth(*["small.yaml" if word == "changed.yaml" else word for word in command])
    assert "note:" not in same.stderr


def test_a_plan_of_another_problem(small: Path) -> None:
    """It is called by its name."""
    Path("fast.json").write_text(
        Path("fast.json").read_text().replace('"problem": "small"', '"problem": "big"')
    )
    assert (
        "note: fast.json was made for another problem, big ("
        in berth("evaluate", "changed.yaml", "fast.json").stderr
    )


def test_pictures_tell_what_holds_here(small: Path) -> None:
    """Not what the file has recorded under another version."""
    done = berth("show", "changed.yaml", "steady.json")
    assert "feasible · made for another version of the problem" in done.stdout
    assert "response time 34 ms" in done.stdout
