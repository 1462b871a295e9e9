"""Failovers of a running plan: in store while all is well, applied without planning when a node dies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from berth.model import Plan, Problem, Survive
from berth.runtime.control import replan
from berth.runtime.control.failovers import prepared, stored_failover
from berth.runtime.control.history import Event, History, read_history
from berth.runtime.control.loop import ControlLoop
from berth.runtime.control.options import WatchOptions

from .situations import FakeRun, Inline, at, hub
from .test_loop import TERMS, dies, names, only

SLOW = {"rome": 5.0, "paris": 10.0, "oslo": 12.0}


def surviving(problem: Problem, label: str | None = None) -> Problem:
    return replace(problem, survive=Survive(label))


def watched(
    folder: Path, script: dict[float, object], problem: Problem, options: WatchOptions = TERMS
) -> tuple[FakeRun, list[Event]]:
    """A watch that begins on rome and measures nothing new."""
    run = FakeRun(at("rome"), script)  # type: ignore[arg-type]
    with History(folder) as history:
        ControlLoop(
            run,
            problem,
            at("rome"),
            lambda telemetry, known, seconds: problem,
            options,
            history,
            clock=run.clock,
            beside=Inline(),
        ).run(400.0)
    return run, read_history(folder)


def test_a_dead_node_is_left_without_planning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failover is made before anything dies: nobody is asked for a plan when it does."""
    asked: list[float] = []
    solve = replan.solve
    monkeypatch.setattr(replan, "solve", lambda *given, **more: asked.append(0.0) or solve(*given, **more))
    run, events = watched(tmp_path, {10.0: dies("rome"), 20.0: lambda run: "finished"}, surviving(hub(SLOW)))
    assert [plan.assignment for _, plan in run.applied] == [{"app/work": "paris"}]
    assert asked == []
    moved = only(events, "migrated")
    assert moved.reason == (
        "rome is dead with 1 instance: 1 of 1 instances move at once, "
        "response time 50 % worse (5 ms -> 10 ms); by the failover in store"
    )
    assert (moved.noticed_s, moved.moved) == (0.0, {"app/work": ("rome", "paris")})


def test_executors_stand_by_where_failovers_lead(tmp_path: Path) -> None:
    """Before anything dies; after a move, where the next failover leads."""
    seen: list[set[str]] = []
    script = {
        5.0: lambda run: seen.append(run.standing_by),
        10.0: dies("rome"),
        15.0: lambda run: seen.append(run.standing_by),
        20.0: lambda run: "finished",
    }
    watched(tmp_path, script, surviving(hub(SLOW)))
    assert seen == [{"paris"}, {"oslo"}]


def test_planning_goes_on_calmly_afterwards(tmp_path: Path) -> None:
    """By a failover in store that is not the best: the best comes later, by the usual rules."""
    problem = surviving(hub(SLOW))
    run = FakeRun(at("rome"), {10.0: dies("rome")})
    stored = replace(at("rome"), failover={"rome": {"app/work": "oslo"}})
    with History(tmp_path) as history:
        ControlLoop(
            run,
            problem,
            stored,
            lambda telemetry, known, seconds: problem,
            TERMS,
            history,
            clock=run.clock,
            beside=Inline(),
        ).run(400.0)
    events = read_history(tmp_path)
    assert [plan.assignment["app/work"] for _, plan in run.applied] == ["oslo", "paris"]
    first, later = (event for event in events if event.event == "migrated")
    assert (first.time, later.noticed_s) == (1012.0, None)
    assert later.time - first.time >= TERMS.cool_down_s
    assert "waited" in names(events)


def test_two_deaths_one_after_the_other(tmp_path: Path) -> None:
    """The plan that runs after a failover has its own, for what is left."""
    script = {10.0: dies("rome"), 20.0: dies("paris")}
    run, events = watched(tmp_path, script, surviving(hub(SLOW)))
    assert [plan.assignment["app/work"] for _, plan in run.applied] == ["paris", "oslo"]
    assert names(events, "stuck") == []


def test_the_last_node_is_used_though_it_survives_nothing(tmp_path: Path) -> None:
    """Nothing in store and nothing that would survive: any plan is better than none."""
    problem = surviving(hub({"rome": 5.0, "paris": 10.0}))
    run, events = watched(tmp_path, {10.0: dies("rome")}, problem)
    assert run.plan.assignment == {"app/work": "paris"}
    assert names(events)[-1] == "stopped"


def test_what_is_stored_must_be_there() -> None:
    """A failover to a node that is dead, too, is none; nor one that leaves something where it is."""
    problem = surviving(hub(SLOW))
    plan = replace(at("rome"), failover={"rome": {"app/work": "oslo"}})
    found = stored_failover(problem, plan, {"rome"})
    assert found is not None
    assert (found.assignment, found.failover) == ({"app/work": "oslo"}, {})
    assert stored_failover(problem, plan, {"rome", "oslo"}) is None
    assert stored_failover(problem, plan, {"paris"}) is None
    assert stored_failover(problem, at("rome"), {"rome"}) is None


def test_of_a_zone_only_what_is_dead_moves() -> None:
    """The failover of a zone, where one of its two nodes is dead."""
    problem = surviving(hub(SLOW), "zone")
    zones = {"rome": "south", "paris": "south", "oslo": "north"}
    nodes = tuple(replace(node, labels={"zone": zones[node.name]}) for node in problem.network.nodes)
    (application,) = problem.applications
    (work,) = application.operators
    both = replace(application, operators=(work, replace(work, name="more")))
    problem = replace(problem, network=replace(problem.network, nodes=nodes), applications=(both,))
    plan = prepared(problem, Plan({"app/work": "rome", "app/more": "paris"}))
    assert plan.failover == {"south": {"app/work": "oslo", "app/more": "oslo"}}
    found = stored_failover(problem, plan, {"rome"})
    assert found is not None
    assert found.assignment == {"app/work": "oslo", "app/more": "paris"}


def test_failovers_that_hold_stay_and_others_are_made_anew() -> None:
    """Whatever is in a plan: what breaks something, or is for another plan, is replaced."""
    problem = surviving(hub(SLOW))
    kept = prepared(problem, replace(at("rome"), failover={"rome": {"app/work": "oslo"}}))
    assert kept.failover == {"rome": {"app/work": "oslo"}}
    stale = prepared(problem, replace(at("paris"), failover={"rome": {"app/work": "oslo"}}))
    assert stale.failover == {"paris": {"app/work": "rome"}}
    assert prepared(hub(SLOW), at("rome")).failover == {}
