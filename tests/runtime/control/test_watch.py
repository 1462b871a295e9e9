"""Watching as a library call, with a run that only pretends."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from berth.files import problem_from
from berth.files.run_folder import decide, open_proposal
from berth.model import Plan, Problem
from berth.runtime import Application, NoFirstPlan, RunObserver, RunOptions, WatchOptions, watch
from berth.runtime.control.decision import Decision
from berth.runtime.control.history import Event, read_history
from berth.runtime.control.loop import Proposal
from berth.runtime.control.offers import PlanValue
from berth.runtime.control.watch import approved
from berth.runtime.observer import RunFailed
from berth.runtime.running import NODE_LOST, Run
from berth.runtime.tally import RunTally
from tests.runtime.control.pretending import PLAN, PROBLEM, pretending, started_at


def application() -> Application:
    app = Application("app")
    app.source(lambda spark: None, name="source", pinned="rome")
    app.operator(lambda source: None, name="work")
    app.sink(lambda work, batch_id: None, name="sink", pinned="oslo")
    return app


def problem(**more: object) -> Problem:
    document = yaml.safe_load(PROBLEM.replace("RTT", "30"))
    document["applications"][0] |= more
    return problem_from(document)


class Heard(RunObserver):
    """Writes down what it hears, and answers as it is told."""

    def __init__(self, answer: bool | None = None) -> None:
        self.events: list[Event] = []
        self.notes: list[str] = []
        self.ran: list[str] = []
        self.asked: list[Proposal] = []
        self._answer = answer

    def note(self, line: str) -> None:
        self.notes.append(line)

    @contextmanager
    def running(self, run: Run, tally: RunTally) -> Iterator[None]:
        self.ran.append("begins")
        yield
        self.ran.append("ends")

    def event(self, event: Event) -> None:
        self.events.append(event)

    @contextmanager
    def asking(self, proposal: Proposal) -> Iterator[None]:
        self.asked.append(proposal)
        yield

    def answer(self) -> bool | None:
        return self._answer


def test_a_watch_without_a_command(tmp_path: Path) -> None:
    """It needs an application and a problem; everything else has a default."""
    run, heard = started_at("paris"), Heard()
    with pretending(run):
        result = watch(
            application(),
            problem(),
            folder=tmp_path / "w",
            run_options=RunOptions(seconds=200.0),
            observer=heard,
        )
    assert (result.ended_because, result.error) == ("stopped", None)
    assert heard.ran == ["begins", "ends"]
    assert [event.event for event in heard.events] == [event.event for event in result.events]
    assert read_history(tmp_path / "w") == list(result.events)
    assert json.loads((tmp_path / "w" / "report.json").read_text()) == json.loads(json.dumps(result.document))
    assert len(run.applied) == 1
    names = {file.name for file in (tmp_path / "w").iterdir()}
    assert names >= {"history.parquet", "plans", "report.html", "timeline.svg", "timeline.png"}


def test_the_page_of_a_watch(tmp_path: Path) -> None:
    """Everything in one file: pictures, plans, events; what comes from users is no markup."""
    with pretending(started_at("paris")):
        result = watch(
            application(),
            problem(),
            plan=Plan(PLAN),
            reason="because <b>I</b> say so",
            folder=tmp_path,
            run_options=RunOptions(seconds=200.0),
        )
    page = (tmp_path / "report.html").read_text()
    moved = next(event for event in result.events if event.event == "migrated")
    home = moved.assignment["app/work"]
    assert "<title>app</title>" in page
    assert f"<h1>app: watched for {result.document['seconds']:.0f} s</h1>" in page
    assert "0 tasks told where they ran: all on their planned nodes." in page
    assert "because &lt;b&gt;I&lt;/b&gt; say so" in page
    assert f"<td>app/work: paris → {home}</td>" in page
    assert '<td class="number">78%</td><td class="number">2.0 s</td>' in page
    assert page.count("<svg") == 3
    assert "<?xml" not in page
    assert "<h2>Plan 1</h2>" in page
    assert "<h2>Plan 2</h2>" in page
    assert "<td>looked</td>" not in page
    assert "<td>source</td><td>rome</td>" in page


def test_an_observer_may_decline(tmp_path: Path) -> None:
    """Asked where the options say so, with both plans judged."""
    for answer, moves in ((True, 1), (False, 0)):
        run, heard = started_at("paris"), Heard(answer)
        with pretending(run):
            watch(
                application(),
                problem(),
                plan=Plan(PLAN),
                folder=tmp_path / str(answer),
                options=WatchOptions(approve=True),
                run_options=RunOptions(seconds=100.0),
                observer=heard,
            )
        assert len(run.applied) == moves
        (proposal,) = heard.asked
        assert (proposal.before.objective, proposal.after.objective) == (23.0, 5.0)


def test_a_run_that_fails(tmp_path: Path) -> None:
    """The result says why; the files are there nevertheless."""
    run = started_at("paris", {40.0: lambda run: "failed"})
    run.error = RunFailed("operator 'work' failed")
    with pretending(run):
        result = watch(application(), problem(), plan=Plan(PLAN), folder=tmp_path)
    assert (result.ended_because, result.error) == ("failed", run.error)
    assert (tmp_path / "report.html").exists()


def test_no_plan_to_begin_with(tmp_path: Path) -> None:
    """Said before anything is started."""
    with pytest.raises(NoFirstPlan, match=r"^no plan to begin with: ") as refused:
        watch(application(), problem(max_response_time_ms=1), folder=tmp_path / "w")
    assert refused.value.status == "infeasible"
    assert not (tmp_path / "w").exists()


# questions


def proposal() -> Proposal:
    judged = PlanValue({}, (), None)
    plan = Plan(PLAN)
    return Proposal(Problem.__new__(Problem), plan, plan, Decision("migrate", "because [/]", judged))


def test_a_question_is_withdrawn_when_the_run_ends(tmp_path: Path) -> None:
    """Nobody waits for an answer that can't matter any more."""
    run, heard = started_at("paris", {1.0: lambda run: "finished"}), Heard()
    assert not approved(proposal(), run, tmp_path, heard)
    assert heard.notes == ["the run ended before the move was approved"]
    assert list(tmp_path.iterdir()) == []


def test_a_question_is_withdrawn_when_a_node_is_lost(tmp_path: Path) -> None:
    """The proposal was made for a network that is no longer there."""
    run, heard = started_at("paris", {1.0: lambda run: NODE_LOST}), Heard()
    assert not approved(proposal(), run, tmp_path, heard)
    assert heard.notes == ["a node was lost before the move was approved"]


@pytest.mark.parametrize("answer", [True, False])
def test_the_answer_may_come_from_the_page(tmp_path: Path, answer: bool) -> None:
    """Through the folder of the run, whoever else could type something."""
    run = started_at("paris")
    told: list[bool] = []

    def looking() -> None:
        while (waiting := open_proposal(tmp_path)) is None:
            time.sleep(0.01)
        told.append(decide(tmp_path, "another", True, "ann"))
        told.append(decide(tmp_path, waiting["id"], answer, "ann"))

    page = threading.Thread(target=looking)
    page.start()
    heard = Heard()
    assert approved(proposal(), run, tmp_path, heard) is answer
    page.join()
    assert heard.notes == ["yes, from the page" if answer else "no, from the page"]
    assert told == [False, True]
    assert list(tmp_path.iterdir()) == []
