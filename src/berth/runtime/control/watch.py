"""Watching an application in one call: it runs, is measured, planned for again and moved, until it ends."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from berth.files import load
from berth.files.document import write_text
from berth.files.run_folder import asking
from berth.model import Plan, Problem
from berth.model.plan import Status
from berth.policies.policy import parameters_from
from berth.policies.registry import find_policy
from berth.runtime.application import Application
from berth.runtime.cluster.access import access_for
from berth.runtime.control.history import Event, History, last_watch, read_history
from berth.runtime.control.loop import ControlLoop, Measure, Proposal
from berth.runtime.control.measuring import Measurer, with_slow_availability
from berth.runtime.control.offers import Yardstick
from berth.runtime.control.options import WatchOptions
from berth.runtime.control.replan import first_plan
from berth.runtime.control.report import draw_timelines, write_page
from berth.runtime.control.watched_problem import document_to_measure, kept_operators, with_wishes_of
from berth.runtime.observer import RunFailed, RunObserver
from berth.runtime.placement import described_in, placement_of
from berth.runtime.runner import RunResult, folder_of
from berth.runtime.running import NODE_LOST, RUNNING, Run, RunOptions
from berth.runtime.tally import RunTally, TallyWriter

POLL_SECONDS = 0.5


class NoFirstPlan(Exception):  # noqa: N818
    """There is no plan to begin with; `status` says whether that is proved."""

    def __init__(self, reason: str, status: Status) -> None:
        self.reason = reason
        self.status = status
        super().__init__(f"no plan to begin with: {reason}")


@dataclass(frozen=True)
class WatchResult(RunResult):
    """How a watch ended, and what happened in it."""

    events: tuple[Event, ...]


def watch(
    application: Application,
    problem: Problem,
    *,
    plan: Plan | None = None,
    reason: str = "the plan that was given",
    folder: Path | None = None,
    options: WatchOptions | None = None,
    run_options: RunOptions | None = None,
    master_url: str | None = None,
    ui_url: str | None = None,
    observer: RunObserver | None = None,
) -> WatchResult:
    """Run an application, measure it, and move its operators when a better plan is worth it.

    The folder gets the history (`history.jsonl`, `history.parquet`, `plans`), `timeline.svg`, `timeline.png`,
    `report.json` and `report.html`. Another watch of the same folder goes on where this one ended.

    Args:
        application: what runs.
        problem: the nodes, the network and the objective; one of `load_watched` may have unknown rates.
        plan: what it begins with; None: what the policy finds.
        reason: why it begins with that plan, for the history.
        folder: None: `NAME.run`, by the application's name.
        options: when to look, what is worth a move, how plans are found.
        run_options: how it runs.
        master_url: the cluster; None: a running one of `start_cluster`, else one for the time of this call.
        ui_url: the page of that cluster's master; None: where Spark has it by default.
        observer: hears what happens, and is asked before a move where the options say so.

    Raises:
        BadInput: something of all this doesn't go together.
        NoFirstPlan: the policy finds no plan to begin with.
    """
    options, run_options = options or WatchOptions(), run_options or RunOptions()
    observer = observer or RunObserver()
    _check(application, problem, options)
    if plan is None:
        plan, reason = _first_plan(problem, options)
    placement = placement_of(application, problem, plan)
    folder = folder if folder is not None else folder_of(application)
    tally = RunTally(application, placement, time.time() * 1000)
    with (
        access_for(
            problem, master_url, ui_url, observer.step, run_options.secret_file, run_options.encrypt
        ) as access,
        Run(
            application,
            problem,
            plan,
            access,
            folder,
            run_options,
            TallyWriter(tally, folder).add,
            observer.step,
        ) as running,
    ):
        try:
            with (
                History(folder, lambda event: _heard(event, tally, observer)) as history,
                Measurer(folder / "measuring") as measurer,
                observer.running(running, tally),
            ):
                measurer.warm_up()
                loop = ControlLoop(
                    running,
                    problem,
                    plan,
                    _measure_by(measurer, running, problem, folder / "measuring"),
                    options,
                    history,
                    lambda proposal: approved(proposal, running, folder, observer),
                )
                ended_because = loop.run(run_options.seconds, reason)
        finally:
            tally.end(time.time() * 1000)
            draw_timelines(folder, problem, application.name)
    events = tuple(last_watch(read_history(folder)))
    error = (running.error or RunFailed("the run failed")) if ended_because == "failed" else None
    result = WatchResult(ended_because, error, tally, folder, events)
    result.write_report()
    write_page(folder, problem, events, result.document)
    return result


def _check(application: Application, problem: Problem, options: WatchOptions) -> None:
    """All that can be checked before anything is planned or started."""
    described_in(application, problem)
    kept_operators(problem, options.frozen, application.name)
    Yardstick.of(problem)
    policy = find_policy(options.policy)
    parameters_from(policy.parameters, options.parameters, policy.about.name)


def _first_plan(problem: Problem, options: WatchOptions) -> tuple[Plan, str]:
    """The plan to begin with, and the reason for it."""
    found = first_plan(problem, options)
    if found.plan is None:
        raise NoFirstPlan(found.reason, found.status)
    return found.plan, found.reason or f"the plan of {found.plan.policy}, {found.plan.status}"


def _heard(event: Event, tally: RunTally, observer: RunObserver) -> None:
    observer.event(event)
    if event.event in ("migrated", "rolled back"):
        tally.migrated(
            {
                "moved": dict(event.moved),
                "pause_seconds": event.pause_s,
                "state_bytes": event.state_bytes,
                "reason": event.reason,
            }
        )


def _measure_by(measurer: Measurer, running: Run, wanted: Problem, folder: Path) -> Measure:
    """Measuring for the control loop: what was measured before stays where nothing new was."""
    known = folder / "problem.json"
    write_text(known, json.dumps(document_to_measure(wanted), allow_nan=False) + "\n")
    known_at = time.monotonic()

    def measure(telemetry: Path, problem: Problem, seconds: float) -> Problem:
        nonlocal known, known_at
        measurer.await_ready()
        running.flush()
        known = measurer.measure(telemetry, known, seconds)
        passed, known_at = time.monotonic() - known_at, time.monotonic()
        return with_slow_availability(problem, with_wishes_of(wanted, load(known)), passed)

    return measure


def approved(proposal: Proposal, run: Run, folder: Path, observer: RunObserver) -> bool:
    """Wait for an answer to a proposal; a run that ends meanwhile is a no.

    The answer may come from the observer, or through the run's folder from the page of `berth serve`.
    """
    with (
        observer.asking(proposal),
        asking(folder, proposal.decision.reason, proposal.before, proposal.after) as question,
    ):
        while True:
            decided = question.answer()
            if decided is not None:
                observer.note(f"{'yes' if decided else 'no'}, from the page")
                return decided
            answer = observer.answer()
            if answer is not None:
                return answer
            word = run.wait(POLL_SECONDS)
            if word != RUNNING:
                what = "a node was lost" if word == NODE_LOST else "the run ended"
                observer.note(f"{what} before the move was approved")
                return False
