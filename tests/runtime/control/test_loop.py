from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from berth.model import BadInput, Plan, Problem
from berth.runtime.control.history import Event, History, read_history
from berth.runtime.control.loop import ControlLoop, Proposal
from berth.runtime.control.options import WatchOptions
from berth.runtime.running import MigrationFailed

from .situations import FakeRun, Inline, at, chain, hub, with_objective, work_on

TERMS = WatchOptions(every_s=30.0, cool_down_s=60.0, move_price=0.0, time_limit=None)
EVEN = {"rome": 10.0, "paris": 10.0, "oslo": 12.0}
FAST_PARIS = {**EVEN, "paris": 5.0}

Script = Mapping[float, Callable[[FakeRun], str | None]]


class Measured:
    """Gives one hub after the other, the last one for ever; remembers how far back it was asked to look."""

    def __init__(self, *slownesses: Mapping[str, float] | Exception) -> None:
        self._left = list(slownesses)
        self.spans: list[float] = []

    def __call__(self, telemetry: Path, problem: Problem, seconds: float) -> Problem:
        self.spans.append(seconds)
        now = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        if isinstance(now, Exception):
            raise now
        return hub(now)


def watched(
    folder: Path,
    measured: Measured,
    script: Script | None = None,
    *,
    options: WatchOptions = TERMS,
    start: str = "rome",
    ask: Callable[[Proposal], bool] = lambda proposal: True,
    seconds: float = 300.0,
    problem: Problem | None = None,
) -> tuple[FakeRun, list[Event], str]:
    run = FakeRun(at(start), script)
    with History(folder) as history:
        word = ControlLoop(
            run,
            problem or hub(EVEN),
            at(start),
            measured,
            options,
            history,
            ask,
            run.clock,
            beside=Inline(),
        ).run(seconds)
    return run, read_history(folder), word


def names(events: Sequence[Event], *wanted: str) -> list[str]:
    return [event.event for event in events if not wanted or event.event in wanted]


def only(events: Sequence[Event], name: str) -> Event:
    (event,) = [event for event in events if event.event == name]
    return event


def dies(node: str) -> Callable[[FakeRun], str]:
    def happens(run: FakeRun) -> str:
        run.dead.add(node)
        return "node lost"

    return happens


def comes_back(node: str) -> Callable[[FakeRun], None]:
    return lambda run: run.dead.discard(node)


def test_a_quiet_run_is_looked_at_and_left_alone(tmp_path: Path) -> None:
    """Every look is written down, with the value and the reason; in the end, the end."""
    run, events, word = watched(tmp_path, Measured(EVEN), {100.0: lambda run: "finished"})
    assert word == "finished"
    assert names(events) == ["started", *["looked", "kept"] * 3, "finished"]
    assert [event.time - 1000.0 for event in events if event.event == "looked"] == [30.0, 60.0, 90.0]
    assert {event.value_achieved for event in events if event.event == "looked"} == {10.0}
    assert run.applied == []


def test_a_change_that_lasts_is_followed(tmp_path: Path) -> None:
    """Waited once, migrated with all figures; achieved is told beside promised afterwards."""
    run, events, word = watched(tmp_path, Measured(EVEN, FAST_PARIS), seconds=150.0)
    assert word == "stopped"
    (applied,) = run.applied
    assert applied[1].assignment == {"app/work": "paris"}
    moved = only(events, "migrated")
    assert moved.time == applied[0]
    assert moved.moved == {"app/work": ("rome", "paris")}
    assert (moved.value_before, moved.value_promised, moved.gain) == (10.0, 5.0, 0.5)
    assert (moved.pause_s, moved.state_bytes, moved.plan) == (2.0, 64.0, 2)
    assert "50 % better (10 ms -> 5 ms)" in moved.reason
    after = next(event for event in events if event.event == "looked" and event.time > moved.time)
    assert (after.value_promised, after.value_achieved) == (5.0, 5.0)
    assert after.assignment == {"app/work": "paris"}
    assert names(events, "waited") == ["waited"]


def busy(rate: float, **network: float) -> Problem:
    """A chain whose worker takes so many tuples a second of 10 ms; paris has more cores, and is slower."""
    problem = chain(work={"parallelism": 2}, rate=100.0 * rate)
    (application,) = problem.applications
    source, work, sink = application.operators
    operators = replace(source, work_ms=0.0), replace(work, work_ms=10.0), replace(sink, work_ms=0.0)
    streams = tuple(replace(stream, tuple_bytes=100.0) for stream in application.streams)
    nodes = tuple(
        replace(node, cores=4.0, speed=0.9) if node.name == "paris" else node
        for node in problem.network.nodes
    )
    return replace(
        problem,
        network=replace(problem.network, nodes=nodes, **network),
        applications=(replace(application, operators=operators, streams=streams),),
    )


def watch_busy(folder: Path, *problems: Problem) -> list[Event]:
    """A watch that begins with the worker on rome, and measures one problem after the other."""
    left = list(problems)
    run = FakeRun(work_on("rome", problems[0]), None)

    def measure(telemetry: Path, problem: Problem, seconds: float) -> Problem:
        return left.pop(0) if len(left) > 1 else left[0]

    with History(folder) as history:
        ControlLoop(
            run, problems[0], work_on("rome", problems[0]), measure, TERMS, history,
            clock=run.clock, beside=Inline(),
        ).run(200.0)  # fmt: skip
    return read_history(folder)


def test_what_does_not_keep_up_is_told_once(tmp_path: Path) -> None:
    """Rates that were measured make rome too busy: a line says so, and nothing moves for it."""
    events = watch_busy(tmp_path, busy(50.0), busy(150.0))
    warned = only(events, "warned")
    assert warned.reason == "node rome: 1.5 processors needed, 1 there"
    assert names(events, "migrated") == []


def test_a_plan_that_breaks_a_limit_of_utilisation_is_left(tmp_path: Path) -> None:
    """The same with max_utilisation: another plan breaks nothing, so it is worth the slower path."""
    problems = (busy(rate, max_utilisation=1.0) for rate in (50.0, 150.0))
    events = watch_busy(tmp_path, *problems)
    moved = only(events, "migrated")
    assert moved.reason.startswith("node rome: 1.5 processors needed, 1 there; a plan that breaks 1 fewer")
    assert names(events, "warned") == []


def test_only_what_was_measured_since_a_migration_counts_after_it(tmp_path: Path) -> None:
    """And never more than the memory."""
    measured = Measured(EVEN, FAST_PARIS)
    run, _, _ = watched(tmp_path, measured, seconds=170.0)
    # looks at 30, 60 and 90, then a migration of 2 s
    assert measured.spans == [30.0, 60.0, 60.0, 30.0, 60.0]
    # before each of them, and behind the migration, so that no file has rows of both plans
    assert [time - 1000.0 for time in run.flushed] == [30.0, 60.0, 90.0, 92.0, 122.0, 152.0]


def test_a_dead_node_is_left_at_once_and_used_again_when_it_is_back(tmp_path: Path) -> None:
    """Without waiting for a look, without measuring; the way back takes the usual time."""
    script = {100.0: dies("rome"), 200.0: comes_back("rome")}
    slow = {"rome": 5.0, "paris": 10.0, "oslo": 12.0}
    run, events, _ = watched(tmp_path, Measured(slow), script, seconds=400.0, problem=hub(slow))
    assert run.applied[0][0] == 1000.0 + 100.0 + 2.0
    assert run.applied[0][1].assignment == {"app/work": "paris"}
    assert run.applied[1][1].assignment == {"app/work": "rome"}
    assert names(events, "node lost", "node back", "migrated") == [
        "node lost",
        "migrated",
        "node back",
        "migrated",
    ]
    assert only(events, "node lost").node == "rome"
    lost, back = (event for event in events if event.event == "migrated")
    assert lost.reason.startswith("rome is dead with 1 instance")
    assert back.time > 200.0 + 1000.0


def test_stuck_without_a_plan_and_again_on_its_way_when_the_node_is_back(tmp_path: Path) -> None:
    """A pinned operator can't go anywhere: told, not hidden; the run is never moved."""
    run = FakeRun(work_on("paris"), {40.0: dies("oslo"), 100.0: comes_back("oslo")})
    with History(tmp_path) as history:
        ControlLoop(
            run,
            chain(),
            work_on("paris"),
            lambda telemetry, problem, seconds: chain(),
            TERMS,
            history,
            clock=run.clock,
            beside=Inline(),
        ).run(200.0)
    events = read_history(tmp_path)
    assert "app/sink is pinned to oslo" in next(e.reason for e in events if e.event == "stuck")
    assert names(events, "node lost", "node back") == ["node lost", "node back"]
    assert names(events)[-2] == "kept"
    assert run.applied == []


def test_old_news_of_a_dead_node_dont_keep_the_loop_spinning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that says 'node lost' again and again is looked at as often as any other."""
    run = FakeRun(at("rome"))
    monkeypatch.setattr(time, "sleep", lambda seconds: setattr(run, "now", run.now + seconds))
    run.dead = {"paris"}
    run.wait = lambda seconds: "node lost"  # type: ignore[method-assign]
    with History(tmp_path) as history:
        ControlLoop(
            run, hub(EVEN), at("rome"), Measured(EVEN), TERMS, history, clock=run.clock,
            beside=Inline(),
        ).run(95.0)  # fmt: skip
    assert len(names(read_history(tmp_path), "kept")) <= 4


def test_a_measuring_that_fails_is_told_and_forgiven(tmp_path: Path) -> None:
    """The problem before stays, the next look goes on."""
    measured = Measured(EVEN, RuntimeError("Spark fell over\nhere"), FAST_PARIS)
    run, events, _ = watched(tmp_path, measured, seconds=150.0)
    assert only(events, "measuring failed").reason == "Spark fell over; here"
    assert len(run.applied) == 1


def test_a_promise_that_is_broken_is_rolled_back_and_not_tried_again(tmp_path: Path) -> None:
    """Back on the plan before, with the reason; the same plan looks good again, and is avoided."""
    slow_paris = {**EVEN, "paris": 20.0}
    measured = Measured(FAST_PARIS, FAST_PARIS, slow_paris, slow_paris, slow_paris, FAST_PARIS)
    run, events, _ = watched(tmp_path, measured, seconds=500.0)
    assert [plan.assignment["app/work"] for _, plan in run.applied] == ["paris", "rome"]
    back = only(events, "rolled back")
    assert "5 ms promised, 20 ms achieved" in back.reason
    assert back.moved == {"app/work": ("paris", "rome")}
    assert back.plan == 1
    assert "did worse than promised" in [event for event in events if event.event == "kept"][-1].reason


def test_asked_first_and_declined(tmp_path: Path) -> None:
    """The difference is shown with metrics of both plans; a no is remembered for a while."""
    asked: list[Proposal] = []

    def no(proposal: Proposal) -> bool:
        asked.append(proposal)
        return False

    options = WatchOptions(every_s=30.0, approve=True, time_limit=None)
    run, events, _ = watched(tmp_path, Measured(FAST_PARIS), options=options, ask=no, seconds=400.0)
    assert run.applied == []
    assert len(asked) == 1
    assert asked[0].before.metrics["response_time_ms"] == 10.0
    assert asked[0].after.metrics["response_time_ms"] == 5.0
    assert only(events, "declined").assignment == {"app/work": "paris"}
    assert "was declined" in [event for event in events if event.event == "kept"][-1].reason


def test_approved_moves_are_made(tmp_path: Path) -> None:
    """A yes is a yes."""
    options = WatchOptions(every_s=30.0, approve=True, time_limit=None)
    run, _, _ = watched(tmp_path, Measured(FAST_PARIS), options=options, ask=lambda proposal: True)
    assert len(run.applied) == 1


def test_without_approval_nobody_is_asked(tmp_path: Path) -> None:
    """The default."""

    def never(proposal: Proposal) -> bool:
        raise AssertionError("asked")

    run, _, _ = watched(tmp_path, Measured(FAST_PARIS), ask=never)
    assert len(run.applied) == 1


def test_a_run_that_ended_while_somebody_was_asked_is_not_moved(tmp_path: Path) -> None:
    """The answer came too late."""
    run = FakeRun(at("rome"))

    def slowly(proposal: Proposal) -> bool:
        run.wait = lambda seconds: "finished"  # type: ignore[method-assign]
        return True

    with History(tmp_path) as history:
        word = ControlLoop(
            run, hub(EVEN), at("rome"), Measured(FAST_PARIS), WatchOptions(approve=True), history, slowly,
            run.clock, beside=Inline(),
        ).run()  # fmt: skip
    assert (word, run.applied) == ("finished", [])


def test_a_dry_run_only_tells(tmp_path: Path) -> None:
    """What it would do, now and then again, and nothing moves."""
    options = WatchOptions(every_s=30.0, cool_down_s=120.0, dry_run=True, time_limit=None)
    run, events, _ = watched(tmp_path, Measured(FAST_PARIS), options=options, seconds=400.0)
    assert run.applied == []
    proposed = [event for event in events if event.event == "proposed"]
    assert 1 < len(proposed) < 4
    assert proposed[0].moved == {"app/work": ("rome", "paris")}


def test_a_migration_that_fails_leads_back(tmp_path: Path) -> None:
    """The run goes on by the plan before, and that plan is not tried again soon."""
    run = FakeRun(at("rome"))
    run.refused = [MigrationFailed("no executor on paris in 60 s")]
    with History(tmp_path) as history:
        ControlLoop(
            run, hub(EVEN), at("rome"), Measured(FAST_PARIS), TERMS, history, clock=run.clock,
            beside=Inline(),
        ).run(300.0)  # fmt: skip
    events = read_history(tmp_path)
    assert only(events, "migration failed").reason == "no executor on paris in 60 s"
    assert [plan.assignment for _, plan in run.applied] == [{"app/work": "rome"}]
    assert only(events, "rolled back").assignment == {"app/work": "rome"}


def test_a_node_that_dies_during_a_migration_is_planned_around(tmp_path: Path) -> None:
    """First the way back fails as well, because the old node is dead, too; then a third one is found."""
    run = FakeRun(at("rome"))
    fails = MigrationFailed("paris is gone")

    def apply(plan: Plan) -> object:
        run.dead |= {"rome", "paris"}
        del run.apply  # type: ignore[method-assign]
        raise fails

    run.apply = apply  # type: ignore[method-assign,assignment]
    with History(tmp_path) as history:
        ControlLoop(
            run, hub(EVEN), at("rome"), Measured(FAST_PARIS), TERMS, history, clock=run.clock,
            beside=Inline(),
        ).run(300.0)  # fmt: skip
    assert [plan.assignment for _, plan in run.applied] == [{"app/work": "oslo"}]
    assert names(read_history(tmp_path), "node lost") == ["node lost", "node lost"]


def test_state_goes_into_the_problem(tmp_path: Path) -> None:
    """A large state makes its move too dear."""
    run = FakeRun(at("rome"))
    run.state = {"work": 4e9}
    with History(tmp_path) as history:
        ControlLoop(
            run, hub(EVEN), at("rome"), Measured(FAST_PARIS), WatchOptions(state_price=0.2), history,
            clock=run.clock, beside=Inline(),
        ).run(300.0)  # fmt: skip
    assert run.applied == []


def test_the_first_run_without_rates_and_the_second_with_them(tmp_path: Path) -> None:
    """Paper 000, section 6.2: nothing is compared before rates are known, then the objective is followed."""
    unknown = with_objective(chain(rate=None), traffic=1.0)
    # more comes in than goes out: the worker belongs to the source
    known = with_objective(chain(rate=1000.0, work={"selectivity": 0.1}), traffic=1.0)
    problems = [unknown, known]
    run = FakeRun(work_on("paris"))
    with History(tmp_path) as history:
        ControlLoop(
            run,
            unknown,
            work_on("paris"),
            lambda telemetry, problem, seconds: problems.pop(0) if len(problems) > 1 else problems[0],
            TERMS,
            history,
            clock=run.clock,
            beside=Inline(),
        ).run(200.0, reason="a first plan")
    events = read_history(tmp_path)
    assert events[0].reason == "a first plan"
    assert "still no rate is known of app/source -> work" in only(events[:3], "kept").reason
    assert [plan.assignment["app/work"] for _, plan in run.applied] == ["rome"]
    assert only(events, "migrated").value_promised == pytest.approx(100.0)
    assert [e.source_bytes_per_s for e in events if e.event == "looked"][:2] == [None, 1000.0]


def test_ctrl_c_is_written_down(tmp_path: Path) -> None:
    """And goes on its way: whoever called decides what to do with it."""

    def interrupted(run: FakeRun) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watched(tmp_path, Measured(EVEN), {50.0: interrupted})
    assert read_history(tmp_path)[-1].event == "stopped"


def test_a_failed_run_is_a_failed_watch(tmp_path: Path) -> None:
    """The word of the run is the word of the watch."""
    _, events, word = watched(tmp_path, Measured(EVEN), {50.0: lambda run: "failed"})
    assert (word, events[-1].event) == ("failed", "failed")


def test_a_plan_that_cannot_be_applied_is_left_alone(tmp_path: Path) -> None:
    """The run has not been stopped for it: there is nothing to lead back."""
    run = FakeRun(at("rome"))
    run.refused = [BadInput(["node paris: no executor within 90 s"])]
    with History(tmp_path) as history:
        ControlLoop(
            run, hub(EVEN), at("rome"), Measured(FAST_PARIS), TERMS, history, clock=run.clock,
            beside=Inline(),
        ).run(300.0)  # fmt: skip
    events = read_history(tmp_path)
    assert only(events, "migration failed").reason == "node paris: no executor within 90 s"
    assert run.applied == []


def test_a_run_that_fails_because_a_node_died_goes_on_elsewhere(tmp_path: Path) -> None:
    """Another failure ends it, and so does the same one without a way out."""

    def fails(run: FakeRun) -> str:
        run.dead.add("rome")
        return "failed"

    run, events, word = watched(tmp_path, Measured(EVEN), {40.0: fails, 90.0: lambda run: "failed"})
    assert [plan.assignment["app/work"] for _, plan in run.applied] == ["paris"]
    assert (word, names(events, "failed")) == ("failed", ["failed"])


def test_a_node_that_dies_while_something_else_is_done_is_noticed_at_once(tmp_path: Path) -> None:
    """The run itself may have told somebody already, and doesn't say it twice."""
    run = FakeRun(at("rome"))
    plain = run.apply

    def apply(plan: Plan) -> object:
        done = plain(plan)
        run.dead = {"paris"} if len(run.applied) == 1 else run.dead
        return done

    run.apply = apply  # type: ignore[method-assign,assignment]
    with History(tmp_path) as history:
        ControlLoop(
            run, hub(EVEN), at("rome"), Measured(FAST_PARIS), TERMS, history, clock=run.clock,
            beside=Inline(),
        ).run(100.0)  # fmt: skip
    assert [(time, plan.assignment["app/work"]) for time, plan in run.applied] == [
        (1062.0, "paris"),
        (1064.0, "rome"),
    ]


def test_a_slow_measuring_doesnt_hide_a_dead_node(tmp_path: Path) -> None:
    """Measuring happens beside the loop: the node is left while it is still going on."""
    release = threading.Event()

    def slow(telemetry: Path, problem: Problem, seconds: float) -> Problem:
        release.wait(20)
        return problem

    run = FakeRun(at("rome"), {31.0: dies("rome")})
    plain = run.apply

    def apply(plan: Plan) -> object:
        assert not release.is_set()
        release.set()
        return plain(plan)

    run.apply = apply  # type: ignore[method-assign,assignment]
    with ThreadPoolExecutor(1) as executor, History(tmp_path) as history:
        ControlLoop(run, hub(EVEN), at("rome"), slow, TERMS, history, clock=run.clock, beside=executor).run(
            60.0
        )
    assert len(run.applied) == 1
    assert run.applied[0][0] == 1000.0 + 31.0 + 2.0


def without_work(problem: Problem) -> Problem:
    """The same where nobody knows yet what work the operators have."""
    applications = tuple(
        replace(each, operators=tuple(replace(item, work_ms=0.0) for item in each.operators))
        for each in problem.applications
    )
    return replace(problem, applications=applications)


class WorkLater(Measured):
    """Gives work from the third time on."""

    def __call__(self, telemetry: Path, problem: Problem, seconds: float) -> Problem:
        measured = super().__call__(telemetry, problem, seconds)
        return measured if len(self.spans) > 2 else without_work(measured)


def test_nothing_is_promised_before_work_is_known(tmp_path: Path) -> None:
    """Delays alone are no response time: no figures, and no move before work is measured."""
    _, events, _ = watched(tmp_path, WorkLater(FAST_PARIS), problem=without_work(hub(EVEN)))
    looks = [event for event in events if event.event == "looked"]
    assert [look.value_achieved is None for look in looks[:4]] == [True, True, False, False]
    assert only(events, "started").value_achieved is None
    kept = [event for event in events if event.event == "kept"][:2]
    assert {event.reason for event in kept} == {
        "what plans are worth is not known yet: no work of the operators is"
    }
    assert [event.value_before for event in kept] == [None, None]
    assert only(events, "migrated").time > looks[2].time


def test_a_dead_node_is_left_without_figures_before_work_is_known(tmp_path: Path) -> None:
    """What is told and remembered promises nothing."""
    _, events, _ = watched(
        tmp_path,
        Measured(Exception("no rows yet")),
        {40.0: dies("rome")},
        problem=without_work(hub(EVEN)),
        seconds=90.0,
    )
    moved = only(events, "migrated")
    assert "1 of 1 instances move at once, what plans are worth is not known yet" in moved.reason
    assert moved.value_promised is None
