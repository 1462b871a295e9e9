"""`berth simulate` as people use it, and the page about it."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import berth
from berth.cli import output
from berth.cli.app import app
from berth.drawing.simulation_picture import charts_of, draw_simulation, ticks_of
from berth.model import BadInput
from berth.simulate import Options, simulate
from tests.simulate.problems import chain

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "simulate.md").read_text()
PROBLEM: dict[str, Any] = {
    "format": "berth/v1",
    "name": "two",
    "network": {
        "nodes": [{"name": "x"}, {"name": "y"}],
        "links": [{"from": "x", "to": "y", "delay_ms": 10, "bandwidth_bytes_per_s": 1e6}],
    },
    "applications": [
        {
            "name": "a",
            "operators": [
                {"name": "s", "work_ms": 1, "emits_bytes_per_s": 1e4},
                {"name": "r", "work_ms": 5},
            ],
            "streams": [{"from": "s", "to": "r"}],
        }
    ],
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(output.out, "width", 100)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    write(PROBLEM)
    Path("plan.json").write_text(json.dumps({"assignment": {"a/s": "x", "a/r": "y"}}))
    return tmp_path


def write(problem: dict[str, Any]) -> None:
    Path("problem.yaml").write_text(json.dumps(problem))


def run(*arguments: str, expected: int = 0) -> str:
    """What the command prints; its exit code is the expected one."""
    done = CliRunner().invoke(app, ["simulate", "problem.yaml", "plan.json", *arguments])
    if isinstance(done.exception, BadInput):
        assert expected == 2
        return "\n".join(done.exception.mistakes)
    assert done.exit_code == expected, done.output
    return done.stdout


def test_example_of_the_page(here: Path) -> None:
    """The commands there print what is written below them."""
    berth.save_plan(berth.solve(berth.load("examples/tag-and-count.yaml")), "plan.json")
    (events,) = blocks("yaml")
    Path("events.yaml").write_text(events)
    (console,) = blocks("console")
    command, *shown = console.splitlines()
    done = CliRunner().invoke(app, command.removeprefix("$ berth ").split())
    assert [line.rstrip() for line in done.stdout.splitlines()] == shown


def test_python_of_the_page(here: Path) -> None:
    """It runs, and its assertions hold."""
    (example,) = blocks("python")
    exec(compile(example, "simulate.md", "exec"), {})


def test_options_are_on_the_page() -> None:
    """Each of them, here or in the reference of commands."""
    commands = {"duration_s", "warm_up_s", "seed", "arrivals", "service"}
    named = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) | commands | {"record", "replan_every_s"}
    assert named == set(Options.__dataclass_fields__)


def test_json_tables_and_picture(here: Path) -> None:
    """All of them say the same; nothing is NaN."""
    printed = run("--json", "--out", "out", "--picture", "run.svg", "--duration", "30", "--warm-up", "5")
    document = json.loads(printed)
    totals, series = document["totals"], document["series"]
    assert totals["seconds"] == 25
    assert totals["emitted"] == pytest.approx(250, abs=60)
    assert document["expected"]["response_time_ms"] == 16
    assert document["violations"] == document["unstable"] == []
    assert sum(item["tuples"] for item in document["latency_histogram"]) == totals["results"]
    with Path("out/series.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["time_s"]) for row in rows] == series["time_s"]
    assert [float(row["traffic_bytes_per_s"]) for row in rows] == series["traffic_bytes_per_s"]
    assert Path("out/links.csv").read_text().startswith("time_s,x -> y\n")
    assert Path("out/nodes.csv").read_text().startswith("time_s,x,y\n")
    assert len(Path("out/instances.csv").read_text().splitlines()) == 3
    assert Path("run.svg").read_text().lstrip().startswith("<?xml")


def test_set_and_chance(here: Path) -> None:
    """Without any chance the latency is what the formulas say, and what transmission takes."""
    given = ("--arrivals", "regular", "--service", "fixed", "--json")
    assert json.loads(run(*given))["totals"]["latency_max_ms"] == pytest.approx(17.0)
    smaller = json.loads(run(*given, "--set", "tuple-bytes=100"))
    assert smaller["totals"]["latency_max_ms"] == pytest.approx(16.1)
    assert smaller["totals"]["emitted"] == pytest.approx(6000, abs=1)


def test_events_with_a_plan_file(here: Path) -> None:
    """A plan beside the file of events; an assignment after it changes that plan."""
    Path("other.json").write_text(json.dumps({"assignment": {"a/s": "y", "a/r": "y"}}))
    events = {
        "migrations": [
            {"at_s": 20, "assignment": {"a/s": "x"}},
            {"at_s": 10, "plan": "other.json"},
        ]
    }
    Path("events.yaml").write_text(yaml.safe_dump(events))
    moves = json.loads(run("--events", "events.yaml", "--json"))["moves"]
    assert [(move["time_s"], move["instance"], move["after"]) for move in moves] == [
        (10, "a/s", "y"),
        (20, "a/s", "x"),
    ]


@pytest.mark.parametrize(
    ("events", "line"),
    [
        ("rates: [{at_s: -1, factor: 2}]", "events.yaml:1: rates[0].at_s: -1 is below 0"),
        ("rates: [{at_s: 1}]", "events.yaml:1: rates[0].factor: is needed"),
        (
            "rates: [{at_s: 1, factor: 2, sources: [a/t]}]",
            "events.yaml:1: rates[0].sources[0]: no operator named 'a/t'",
        ),
        (
            "rates: [{at_s: 1, factor: 2, sources: [a/r]}]",
            "events.yaml:1: rates[0].sources[0]: a/r is no source",
        ),
        ("failures: [{node: z, at_s: 1}]", "events.yaml:1: failures[0].node: no node named 'z'"),
        (
            "failures: [{node: x, at_s: 5, until_s: 5}]",
            "events.yaml:1: failures[0].until_s: 5 is not after at_s, 5",
        ),
        ("failure: []", "events.yaml:1: failure: unknown key named 'failure'; did you mean 'failures'?"),
        ("migrations: [{at_s: 1}]", "events.yaml:1: migrations[0]: either plan or assignment is needed"),
        (
            "migrations: [{at_s: 1, plan: no.json}]",
            "events.yaml:1: migrations[0].plan: no.json: no such file or directory",
        ),
        ("migrations: [{at_s: 1, assignment: {a/s: z}}]", "migrations[0].plan: assignment.a/s: "),
        ("[]", "events.yaml: the file: expected a mapping, found a list"),
    ],
)
def test_bad_events(here: Path, events: str, line: str) -> None:
    """Exit code 2 and a line with the file and the path of the field."""
    Path("events.yaml").write_text(events)
    assert run("--events", "events.yaml", expected=2).startswith(line)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--duration", "0"], "--duration: 0 is not above 0"),
        (["--duration", "1e300"], "duration_s: about "),
        (["--warm-up", "60"], "--warm-up: 60 is not below the duration, 60"),
        (["--set", "jitter=1"], "--set jitter: berth simulate has no parameter named 'jitter'"),
        (["--set", "processors=two"], "--set processors: expected 'own' or 'node' or 'shared', found 'two'"),
        (["--picture", "x.gif"], "--picture x.gif: expected a name that ends in .png or .svg"),
        (["--events", "no.yaml"], "no.yaml: no such file or directory"),
    ],
)
def test_bad_options(here: Path, arguments: list[str], line: str) -> None:
    """Exit code 2 and a line that names the option."""
    assert run(*arguments, expected=2).startswith(line)


def test_unknown_rates(here: Path) -> None:
    """They are a mistake, with the path of the stream."""
    problem = json.loads(json.dumps(PROBLEM))
    del problem["applications"][0]["operators"][0]["emits_bytes_per_s"]
    write(problem)
    assert run(expected=2).startswith("applications[0].streams[0]: its rate is unknown")


def test_plans_that_leave_something_open(here: Path) -> None:
    """Exit code 5 with what is missing; nothing is simulated."""
    Path("plan.json").write_text(json.dumps({"assignment": {"a/s": "x"}}))
    assert "a/r" in run(expected=5)
    assert json.loads(run("--json", expected=5))["violations"]


def test_what_does_not_keep_up(here: Path) -> None:
    """It is simulated and told, exit code 5."""
    problem = json.loads(json.dumps(PROBLEM))
    problem["applications"][0]["operators"][1]["work_ms"] = 500
    write(problem)
    assert "node y: utilisation 5 (1 or more): its queue grows" in run(expected=5)


def test_warnings_and_sizes_that_are_assumed(here: Path) -> None:
    """The judge's warnings come before the table, assumed sizes after it; both are in JSON."""
    assumed = "stream a/s -> a/r: it has no tuple_bytes, 1 kB are assumed"
    printed = run()
    assert assumed in printed
    assert "warning" not in printed
    assert json.loads(run("--json"))["assumed"] == [assumed]
    problem = json.loads(json.dumps(PROBLEM))
    problem["applications"][0]["operators"][1]["work_ms"] = 500
    problem["applications"][0]["streams"][0]["tuple_bytes"] = 1000
    write(problem)
    warned = "node y: 5 processors needed, 1 there"
    printed = run(expected=5)
    assert printed.index(warned) < printed.index("latency, mean")
    assert assumed not in printed
    document = json.loads(run("--json", expected=5))
    assert (document["warnings"], document["assumed"]) == ([warned], [])


def test_picture_is_the_same_every_time() -> None:
    """Also where nothing came through; latencies far apart are drawn by factors of ten."""
    problem, plan = chain([1.0, 5.0], 10.0, nodes=["x", "y"], delay_ms=10.0)
    result = simulate(problem, plan, Options(duration_s=10.0))
    first, again = (draw_simulation(problem, result, "svg") for _ in range(2))
    assert first == again
    latency = charts_of(result)[0]
    _, by_factors = ticks_of(latency, latency.curves)
    assert not by_factors
    with pytest.raises(ValueError, match="no picture format 'gif'"):
        draw_simulation(problem, result, "gif")  # type: ignore[arg-type]
    slow, its_plan = chain([1.0, 20_000.0], 10.0)
    nothing = simulate(slow, its_plan, Options(duration_s=10.0, service="fixed"))
    assert draw_simulation(slow, nothing, "png").startswith(b"\x89PNG")


def test_a_loss(here: Path) -> None:
    """A node is lost, noticed and left; each phase has a row. What can't be lost is told."""
    write({**PROBLEM, "survive": "node"})
    plan = {"assignment": {"a/s": "x", "a/r": "y"}, "failover": {"y": {"a/r": "x"}, "x": {"a/s": "y"}}}
    Path("plan.json").write_text(json.dumps(plan))
    shown = CliRunner().invoke(app, ["simulate", "problem.yaml", "plan.json", "--lose", "y@20"])
    assert shown.exit_code == 0, shown.output
    assert [line.split()[:2] for line in shown.output.splitlines() if line[:7] in ("y lost ", "after y")] == [
        ["y", "lost"],
        ["after", "y"],
    ]
    told = CliRunner().invoke(app, ["simulate", "problem.yaml", "plan.json", "--lose", "y@20", "--json"])
    phases = json.loads(told.stdout)["phases"]
    assert [(phase["name"], phase["from_s"], phase["to_s"]) for phase in phases] == [
        ("before", 0.0, 20.0),
        ("y lost", 20.0, 21.0),
        ("after y", 21.0, 60.0),
    ]
    for option, line in (
        ("y", "--lose y: expected NAME@SECONDS, such as rome@30"),
        ("y@soon", "--lose y@soon: expected NAME@SECONDS, such as rome@30"),
        ("w@3", "--lose w@3: no loss named 'w' (known: x, y)"),
        ("y@60", "--lose y@60: the simulation ends after 60 s; see --duration"),
    ):
        with pytest.raises(BadInput, match=re.escape(line)):
            CliRunner().invoke(
                app, ["simulate", "problem.yaml", "plan.json", "--lose", option], catch_exceptions=False
            )
    twice = ["simulate", "problem.yaml", "plan.json", "--lose", "y@20", "--lose", "y@30"]
    with pytest.raises(BadInput, match="--lose y@30: y is lost already, and for good"):
        CliRunner().invoke(app, twice, catch_exceptions=False)
