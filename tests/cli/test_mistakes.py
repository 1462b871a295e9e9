"""What people get wrong, and what they are told: lines in files, swapped arguments, unknown names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import berth as library
from tests.cli.in_process import run_berth as berth

PROBLEM = """format: berth/v1
name: small
network:
  nodes:
    - {name: rome, capacity: {cpu: 2}}
    - {name: paris, capacity: {cpu: 2}}
  links:
    - {from: rome, to: paris, delay_ms: 10}
applications:
  - name: a
    operators:
      - {name: s, pinned: rome, demand: {cpu: 1}, emits_bytes_per_s: 100}
      - {name: t, demand: {cpu: 2}, work_ms: 1}
    streams:
      - {from: s, to: t}
objective: {response_time: 1}
"""
EVENTS = "rates:\n  - {at_s: 1, factor: 2}\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a problem, a plan of it, and events."""
    monkeypatch.chdir(tmp_path)
    Path("problem.yaml").write_text(PROBLEM)
    Path("events.yaml").write_text(EVENTS)
    library.save_plan(library.solve(library.load("problem.yaml")), "plan.json")
    return tmp_path


def written(name: str, before: str, after: str) -> str:
    """A file with one thing changed; its name."""
    text = Path(name).read_text()
    assert before in text
    Path(f"wrong-{name}").write_text(text.replace(before, after))
    return f"wrong-{name}"


# Lines


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("to: t}", "to: tt}", "15: applications[0].streams[0].to: no operator named 'tt'; did you mean 't'?"),
        ("delay_ms: 10", "delay_ms: -10", "8: network.links[0].delay_ms: -10 is below 0"),
        ("name: paris", "nmae: paris", "6: network.nodes[1].nmae: unknown key named 'nmae'"),
        ("pinned: rome", "pinned: roma", "12: applications[0].operators[0].pinned: no node named 'roma'"),
        ("name: small", "name: [", "4:8: not valid YAML"),
        ("name: small", "name: small\nname: small", "3:1: key 'name' is there twice"),
    ],
)
def test_lines_in_a_problem(before: str, after: str, line: str) -> None:
    """Every mistake has its line in the file, whichever the command."""
    file = written("problem.yaml", before, after)
    for command in (["solve", file], ["evaluate", file, "plan.json"], ["coordinates", file, "--out", "x"]):
        done = berth(*command)
        assert done.returncode == 2
        assert done.stdout == ""
        assert f"{file}:{line}" in done.stderr


def test_lines_in_json() -> None:
    """In JSON, too; with tabs as well."""
    document = yaml.safe_load(PROBLEM)
    document["network"]["nodes"][1]["speed"] = 0
    for indent in (2, "\t"):
        text = json.dumps(document, indent=indent)
        Path("problem.json").write_text(text)
        line = next(number for number, each in enumerate(text.splitlines(), 1) if "speed" in each)
        done = berth("solve", "problem.json")
        assert done.stderr == f"problem.json:{line}: network.nodes[1].speed: 0 is not above 0\n"


def test_lines_in_a_plan_and_in_events() -> None:
    """Names that the problem doesn't have are mistakes of the plan."""
    plan = written("plan.json", '"a/t": "paris"', '"a/t": "oslo"')
    number = next(k for k, each in enumerate(Path(plan).read_text().splitlines(), 1) if "oslo" in each)
    for command in ("evaluate", "explain", "simulate", "show"):
        done = berth(command, "problem.yaml", plan)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1] == f"{plan}:{number}: assignment.a/t: no node named 'oslo'"
    events = written("events.yaml", "factor: 2", "factor: -2")
    done = berth("simulate", "problem.yaml", "plan.json", "--events", events)
    assert done.stderr == f"{events}:2: rates[0].factor: -2 is below 0\n"


# Names


def test_unknown_metrics_list_the_known_ones() -> None:
    """The nearest one first, then all: in the file and on the command line."""
    file = written("problem.yaml", "response_time: 1", "respons_time: 1")
    for done in (berth("solve", file), berth("solve", "problem.yaml", "--objective", "respons_time")):
        assert done.returncode == 2
        assert "named 'respons_time'; did you mean 'response_time'? (known: response_time, " in done.stderr
        assert all(f" {name}" in done.stderr for name in ("availability", "traffic", "moved_state"))


# Swapped arguments


PLAN_FOR_PROBLEM = "plan.json: this is a plan, not a problem"
PROBLEM_FOR_PLAN = "problem.yaml: this is a problem, not a plan"
SOLVE = "PROBLEM [--previous PLAN]"
SIMULATE = "PROBLEM PLAN [--events EVENTS]"


@pytest.mark.parametrize(
    ("arguments", "line", "usage"),
    [
        ("evaluate plan.json problem.yaml", PLAN_FOR_PROBLEM, "PROBLEM PLAN [--previous PLAN]"),
        ("explain plan.json problem.yaml", PLAN_FOR_PROBLEM, "PROBLEM PLAN"),
        ("simulate plan.json problem.yaml", PLAN_FOR_PROBLEM, SIMULATE),
        ("show plan.json problem.yaml", PLAN_FOR_PROBLEM, "PROBLEM [PLAN]"),
        ("export plan.json problem.yaml --to nomad --out x", PLAN_FOR_PROBLEM, "PROBLEM [PLAN]"),
        ("solve plan.json", PLAN_FOR_PROBLEM, SOLVE),
        ("compare plan.json", PLAN_FOR_PROBLEM, "PROBLEM [--plan PLAN] [--previous PLAN]"),
        ("coordinates plan.json --out x.json", PLAN_FOR_PROBLEM, "PROBLEM"),
        ("run a.py --problem plan.json --plan x", PLAN_FOR_PROBLEM, "APP... --problem PROBLEM --plan PLAN"),
        ("evaluate problem.yaml problem.yaml", PROBLEM_FOR_PLAN, "PROBLEM PLAN [--previous PLAN]"),
        ("diff problem.yaml plan.json", PROBLEM_FOR_PLAN, "PLAN PLAN [--problem PROBLEM]"),
        ("diff plan.json plan.json --problem plan.json", PLAN_FOR_PROBLEM, "PLAN PLAN [--problem PROBLEM]"),
        ("solve problem.yaml --previous problem.yaml", PROBLEM_FOR_PLAN, SOLVE),
        ("solve events.yaml", "events.yaml: this is a file of events, not a problem", SOLVE),
        (
            "simulate problem.yaml plan.json --events problem.yaml",
            "problem.yaml: this is a problem, not a file of events",
            SIMULATE,
        ),
        (
            "solve front.json",
            "front.json: this is a front (its plans are the files point-*.json beside it), not a problem",
            SOLVE,
        ),
        ("solve why.json", "why.json: this is an explanation, not a problem", SOLVE),
        (
            "ingest problem.yaml --problem plan.json --out x",
            PLAN_FOR_PROBLEM,
            "TELEMETRY --problem PROBLEM",
        ),
        ("solve telemetry", "telemetry: this is a folder of telemetry, not a file", SOLVE),
        (
            "solve measured",
            "measured: this is a folder, not a file; did you mean measured/problem.json?",
            SOLVE,
        ),
    ],
)
def test_files_of_another_kind(arguments: str, line: str, usage: str) -> None:
    """They are recognised by their format or shape; what goes where is told."""
    Path("telemetry/probes").mkdir(parents=True)
    Path("measured/links").mkdir(parents=True)
    Path("measured/problem.json").write_text("{}")
    Path("front.json").write_text('{"problem": "p", "objectives": ["traffic"], "points": []}')
    Path("why.json").write_text('{"format": "berth-explanation/v1"}')
    done = berth(*arguments.split())
    assert done.returncode == 2
    assert done.stderr == f"{line}; expected: berth {arguments.split()[0]} {usage}\n"


@pytest.mark.parametrize(
    "arguments", ["cluster start plan.json", "generate tag-and-count --network plan.json"]
)
def test_nothing_is_told_where_there_is_no_order(arguments: str) -> None:
    """A command below another one, and one whose arguments are no such files."""
    assert berth(*arguments.split()).stderr == f"{PLAN_FOR_PROBLEM}\n"


def test_what_can_not_be_told_is_checked_field_by_field() -> None:
    """A file of no known kind, or one that only lacks something."""
    Path("odd.yaml").write_text("a: 1\n")
    assert "odd.yaml:1: a: unknown key" in berth("solve", "odd.yaml").stderr
    Path("odd.yaml").write_text("format: berth/v2\nnetwork: {nodes: []}\n")
    assert "odd.yaml:1: format: expected 'berth/v1', found 'berth/v2'" in berth("solve", "odd.yaml").stderr


# Standard input and output


@pytest.mark.parametrize(
    "arguments",
    [
        "solve -",
        "evaluate - plan.json",
        "explain - plan.json --what-if none",
        "simulate - plan.json --duration 1",
        "show -",
        "show - plan.json",
        "compare - --policy odp",
        "coordinates - --out located.yaml",
        "diff plan.json plan.json --problem -",
        "generate tag-and-count --network -",
        "export - plan.json --to nomad --out job.json",
    ],
)
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_problem_on_standard_input(arguments: str, form: str) -> None:
    """Every command that takes a problem reads it there, in either form, as it reads the file."""
    text = PROBLEM if form == "yaml" else json.dumps(yaml.safe_load(PROBLEM))
    done = berth(*arguments.split(), given=text)
    same = berth(*("problem.yaml" if word == "-" else word for word in arguments.split()))
    assert done.returncode == same.returncode == 0
    assert _without_times(done.stdout) == _without_times(same.stdout)


def _without_times(text: str) -> list[str]:
    return [line for line in text.splitlines() if " s" not in line and "seconds" not in line]


@pytest.mark.parametrize(
    "arguments",
    [
        "evaluate problem.yaml -",
        "explain problem.yaml -",
        "show problem.yaml -",
        "simulate problem.yaml -",
        "diff plan.json -",
        "diff - plan.json",
        "solve problem.yaml --previous -",
    ],
)
def test_a_plan_on_standard_input(arguments: str) -> None:
    """Every command that takes a plan reads it there."""
    assert berth(*arguments.split(), given=Path("plan.json").read_text()).returncode == 0


def test_mistakes_on_standard_input() -> None:
    """It has lines, too, and is called what it is; it can't be two files."""
    done = berth("solve", "-", given=PROBLEM.replace("to: t}", "to: tt}"))
    assert done.returncode == 2
    assert done.stderr.startswith("standard input:15: applications[0].streams[0].to: no operator named 'tt'")
    done = berth("evaluate", "-", "plan.json", given=Path("plan.json").read_text())
    assert done.stderr.startswith("standard input: this is a plan, not a problem; expected: berth evaluate")
    done = berth("evaluate", "problem.yaml", "-", given='{"assignment": {"a/s": "rome",\n"a/t": "oslo"}}')
    assert done.stderr == "standard input:2: assignment.a/t: no node named 'oslo'\n"
    done = berth("evaluate", "-", "-", given=PROBLEM)
    assert done.returncode == 2
    assert done.stderr == "standard input: it has been read already; only one file can be -\n"
    assert berth("solve", "-", given="").returncode == 2


def test_results_on_standard_output() -> None:
    """`--out -` prints the file and nothing else there."""
    plan = berth("solve", "problem.yaml", "--out", "-")
    assert json.loads(plan.stdout)["format"] == "berth-plan/v1"
    located = berth("coordinates", "problem.yaml", "--out", "-")
    assert "coordinates" in json.loads(located.stdout)["network"]["nodes"][0]
    assert "have coordinates in 3 dimensions" in located.stderr
    both = berth("coordinates", "problem.yaml", "--out", "-", "--json")
    assert both.returncode == 2
    generated = berth("generate", "tag-and-count", "--out", "-")
    assert generated.stdout == berth("generate", "tag-and-count").stdout
    job = berth("export", "problem.yaml", "plan.json", "--to", "nomad", "--out", "-")
    assert json.loads(job.stdout)["Job"]["ID"] == "a"
    assert job.stderr == ""
    several = berth("export", "problem.yaml", "plan.json", "--to", "nomad", "--to", "heron", "--out", "-")
    assert several.returncode == 2
    assert not Path("-").exists()
