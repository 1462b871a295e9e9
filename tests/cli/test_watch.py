"""`berth watch` as a user meets it, with a run that only pretends."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest

from berth.cli import output
from berth.cli.app import load_command
from berth.cli.watch import WatchDisplay, print_history
from berth.files import load, load_plan
from berth.model import BadInput
from berth.runtime.control.history import Event, read_history
from tests.runtime.control.pretending import PLAN, PROBLEM, pretending, started_at

APPLICATION = """
from berth.runtime.application import Application

app = Application("app")

@app.source(pinned="rome")
def source(spark): ...

@app.operator
def work(source): ...

@app.sink(pinned="oslo")
def sink(work, batch_id): ...
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "app.py").write_text(APPLICATION)
    (tmp_path / "problem.yaml").write_text(PROBLEM.replace("RTT", "30"))
    (tmp_path / "plan.json").write_text(json.dumps({"format": "berth-plan/v1", "assignment": PLAN}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*arguments: str) -> tuple[int, str, str]:
    """The exit code and what was printed."""
    watch = load_command("watch")
    printed, complained = io.StringIO(), io.StringIO()
    output.out.width = output.err.width = 200
    with redirect_stdout(printed), redirect_stderr(complained):
        code = watch(["app.py", "--problem", "problem.yaml", *arguments], standalone_mode=False) or 0
    return code, printed.getvalue(), complained.getvalue()


def test_a_whole_watch(files: Path) -> None:
    """It is measured, moved and told; DIR has the history, the plans, the pictures and the report."""
    run = started_at("paris")
    with pretending(run):
        code, printed, complained = command("--plan", "plan.json", "--out", "w", "--for", "200")
    assert code == 0, complained
    ((_, applied),) = run.applied
    home = applied.assignment["app/work"]
    assert home in ("rome", "oslo")
    place = files / "w"
    events = read_history(place)
    moved = next(event for event in events if event.event == "migrated")
    assert (moved.value_before, moved.value_promised) == (23.0, 5.0)
    assert moved.reason in complained
    assert f"app/work paris -> {home}" in complained
    assert "looked" not in complained
    assert moved.reason in printed
    assert load_plan(place / "plans" / "0001.json").assignment == PLAN
    assert load_plan(place / "plans" / "0002.json").metrics["response_time_ms"] == 5.0
    count = duckdb.sql(f"select count(*) from '{place / 'history.parquet'}'").fetchall()
    assert count == [(len(events),)]
    assert (place / "timeline.svg").read_bytes().startswith(b"<?xml")
    assert (place / "timeline.png").read_bytes().startswith(b"\x89PNG")
    report = json.loads((place / "report.json").read_text())
    assert report["ended_because"] == "stopped"
    assert report["migrations"][0]["moved"] == {"app/work": {"from": "paris", "to": home}}


def test_without_a_plan_the_policy_begins(files: Path) -> None:
    """With the reason in the record; DIR is named after the application."""
    with pretending(started_at("paris")):
        code, _, complained = command("--for", "10")
    assert code == 0, complained
    (started, *_) = read_history(files / "app.run")
    assert started.reason == "the plan of odp, optimal"
    assert started.value_achieved == 23.0


def test_an_objective_that_waits_for_rates(files: Path) -> None:
    """Refused by others, begun here with what is known, and followed once rates are there."""
    (files / "problem.yaml").write_text(PROBLEM.replace("RTT", "30") + "objective: {traffic: 1}\n")
    with pytest.raises(BadInput, match="has no rate"):
        load(files / "problem.yaml")
    with pretending(started_at("paris")):
        code, _, complained = command("--plan", "plan.json", "--for", "200", "--min-gain", "0.3")
    assert code == 0, complained
    events = read_history(files / "app.run")
    looked = [event for event in events if event.event == "looked"]
    assert events[0].value_achieved is None
    assert looked[0].value_achieved == 1000.0
    assert looked[0].source_bytes_per_s == 500.0
    assert [event.value_promised for event in events if event.event == "migrated"] == [500.0]


def test_a_run_that_fails(files: Path) -> None:
    """Exit code 1 and the run's own line; the record and the pictures are there nevertheless."""
    run = started_at("paris", {40.0: lambda run: "failed"})
    run.error = RuntimeError("operator 'work' failed: no [/] luck")
    with pretending(run):
        code, _, complained = command("--plan", "plan.json")
    assert code == 1
    assert "operator 'work' failed: no [/] luck" in complained
    assert read_history(files / "app.run")[-1].event == "failed"
    assert (files / "app.run" / "timeline.svg").exists()


def test_an_operator_that_ran_elsewhere(files: Path) -> None:
    """Is an error of its own kind."""
    from berth.runtime.observer import Misplaced

    run = started_at("paris", {40.0: lambda run: "failed"})
    run.error = Misplaced("work ran on oslo")
    with pretending(run):
        code, _, _ = command("--plan", "plan.json")
    assert code == 6


def test_dry_run(files: Path) -> None:
    """Told, not done."""
    run = started_at("paris")
    with pretending(run):
        code, printed, complained = command("--plan", "plan.json", "--for", "100", "--dry-run")
    assert (code, run.applied) == (0, [])
    assert "proposed" in complained
    assert "proposed" in printed


@pytest.mark.parametrize(("answer", "moves"), [("y\n", 1), ("n\n", 0), ("", 0)])
def test_asked_first(files: Path, answer: str, moves: int) -> None:
    """The difference is shown; only a yes is a yes, and the end of the input is none."""
    run = started_at("paris")
    read, write = os.pipe()
    os.write(write, answer.encode())
    os.close(write)
    with pretending(run), os.fdopen(read) as typed, patch.object(sys, "stdin", typed):
        code, printed, complained = command("--plan", "plan.json", "--for", "100", "--approve")
    assert (code, len(run.applied)) == (0, moves)
    assert "app/work" in printed
    assert "response time" in printed
    assert "move? [y/N]" in complained
    assert ("declined" in complained) == (moves == 0)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--every", "0"], "--every"),
        (["--min-gain", "1"], "--min-gain"),
        (["--freeze", "wrok"], "--freeze: no operator named 'wrok'; did you mean 'work'?"),
        (["--policy", "nope"], "--policy: no policy named 'nope'"),
        (["--set", "gap=much"], "--set gap"),
        (["--set", "nope=1"], "--set nope"),
        (["--for", "0"], "--for"),
        (["--emulate-network", "-1"], "--emulate-network"),
        (["--conf", "master=x"], "--conf"),
        (["--plan", "missing.json"], "missing.json"),
    ],
)
def test_mistakes_come_before_any_cluster(files: Path, arguments: list[str], line: str) -> None:
    """A line, and nothing was started or written."""
    with pytest.raises(BadInput) as refused:
        command(*arguments)
    assert refused.value.mistakes[0].startswith(line)
    assert not (files / "app.run").exists()


def test_a_problem_for_another_application(files: Path) -> None:
    """What differs is named."""
    (files / "problem.yaml").write_text(
        PROBLEM.replace("RTT", "30").replace("work,", "werk,").replace("work}", "werk}")
    )
    with pytest.raises(BadInput, match="operator 'work': in the application, not in the problem"):
        command()


def test_no_plan_to_begin_with(files: Path) -> None:
    """Proved infeasible: exit code 3, with the reason."""
    text = PROBLEM.replace("RTT", "30").replace("- name: app\n", "- name: app\n    max_response_time_ms: 1\n")
    (files / "problem.yaml").write_text(text)
    code, _, complained = command()
    assert code == 3
    assert complained.startswith("no plan to begin with: ")


def test_a_question_is_withdrawn_when_the_run_ends(files: Path) -> None:
    """Nobody waits for an answer that can't matter any more."""
    read, write = os.pipe()
    run = started_at("paris", {100.0: lambda run: "finished"})
    with pretending(run), os.fdopen(read) as typed, patch.object(sys, "stdin", typed):
        code, _, complained = command("--plan", "plan.json", "--for", "200", "--approve")
    os.close(write)
    assert (code, run.applied) == (0, [])
    assert "the run ended before the move was approved" in complained


def test_only_the_page_is_asked(files: Path) -> None:
    """What is typed here answers nothing."""
    read, write = os.pipe()
    os.write(write, b"y\n")
    run = started_at("paris", {100.0: lambda run: "finished"})
    with pretending(run), os.fdopen(read) as typed, patch.object(sys, "stdin", typed):
        code, _, complained = command("--plan", "plan.json", "--for", "200", "--approve-on-page")
    os.close(write)
    assert (code, run.applied) == (0, [])
    assert "move? (asked on the page)" in complained


def test_names_are_no_markup() -> None:
    """Reasons come from users' names and files."""
    complained = io.StringIO()
    with redirect_stderr(complained):
        WatchDisplay().event(Event(0.0, "kept", "node [red]x[/] is [/] there", node="[b]"))
    assert "node [red]x[/] is [/] there" in complained.getvalue()


def test_long_histories_are_cut() -> None:
    """The last events, and how many there were."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        print_history([Event(float(number), "migrated") for number in range(100)])
    assert "the last 40 of 100 events" in printed.getvalue()
    assert printed.getvalue().count("migrated") == 40
