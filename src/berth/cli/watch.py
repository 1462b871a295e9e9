"""`berth watch`."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from berth.cli.exit_codes import FAILED, INFEASIBLE, MISPLACED, NOT_FOUND
from berth.cli.options import (
    AppFile,
    Configuration,
    Objectives,
    Seed,
    TimeLimit,
    leaving_on_signals,
    settings_from,
    spark_settings_from,
    time_limit_from,
    with_objective,
)
from berth.cli.output import err, out
from berth.cli.progress import waiting
from berth.cli.running import (
    ClusterUrl,
    EmulateNetwork,
    Every,
    ExecutorMemory,
    MasterPage,
    check_numbers,
    cluster_access,
    stopping_on_signals,
)

if TYPE_CHECKING:
    from berth.model import Plan, Problem
    from berth.runtime.access import Access
    from berth.runtime.application import Application
    from berth.runtime.control.history import Event
    from berth.runtime.control.measuring import Measurer
    from berth.runtime.control.terms import Terms
    from berth.runtime.control.wanted import Wanted
    from berth.runtime.measures import BatchMeasures
    from berth.runtime.run import Run, RunOptions
    from berth.runtime.run_report import RunTally

EPILOG = """Examples:

  berth watch app.py --problem problem.yaml

  berth watch app.py --problem problem.yaml --plan plan.json --every 20 --min-gain 0.2 --max-moves 2

  berth watch app.py --problem problem.yaml --freeze count --approve

  berth watch app.py --problem problem.yaml --dry-run --for 600

Runs the application, measures it, plans again with what was measured, and moves it when that is worth it.
A node that dies is left at once. DIR gets the history (history.jsonl, history.parquet, plans), timeline.svg
and timeline.png. Ctrl-C ends it; the same command goes on where it stopped.
"""


def watch(
    app: AppFile,
    problem: Annotated[
        Path, typer.Option(help="Problem file: the nodes and the network.", metavar="PROBLEM")
    ],
    plan: Annotated[
        Path | None,
        typer.Option(help="Plan file to begin with. Default: what the policy finds.", metavar="PLAN"),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="For checkpoint, telemetry and history. Default: NAME.run, by the application's name.",
            metavar="DIR",
        ),
    ] = None,
    policy: Annotated[
        str, typer.Option(help="The policy; 'berth policies' lists them.", metavar="NAME")
    ] = "auto",
    objective: Objectives = None,
    every: Annotated[float, typer.Option(help="Seconds from one look to the next.", metavar="S")] = 30.0,
    min_gain: Annotated[
        float, typer.Option(help="What a new plan must be better by; 0.1 is a tenth.", metavar="SHARE")
    ] = 0.1,
    cool_down: Annotated[
        float, typer.Option(help="Seconds without a move after a move, unless a node dies.", metavar="S")
    ] = 60.0,
    confirmations: Annotated[
        int, typer.Option(help="Looks in a row that must see the gain.", metavar="N")
    ] = 2,
    max_moves: Annotated[
        int | None,
        typer.Option(help="Instances that may move at once; more only from a dead node.", metavar="N"),
    ] = None,
    move_price: Annotated[
        float, typer.Option(help="Gain that each moved instance must bring on top.", metavar="SHARE")
    ] = 0.01,
    state_price: Annotated[
        float, typer.Option(help="Gain that each moved gigabyte of state must bring on top.", metavar="SHARE")
    ] = 0.1,
    freeze: Annotated[
        list[str] | None,
        typer.Option(help="An operator that stays where it is. Can be repeated.", metavar="OPERATOR"),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            help="How much worse than promised a plan may do before it is rolled back.", metavar="SHARE"
        ),
    ] = 0.1,
    distrust: Annotated[
        float,
        typer.Option(help="Seconds for which a plan that failed or was declined isn't tried.", metavar="S"),
    ] = 600.0,
    memory: Annotated[
        float | None,
        typer.Option(help="Seconds of telemetry that count. Default: those of two looks.", metavar="S"),
    ] = None,
    approve: Annotated[
        bool, typer.Option("--approve", help="Show the difference and ask first, here and on the page.")
    ] = False,
    approve_on_page: Annotated[
        bool,
        typer.Option("--approve-on-page", help="As --approve, but only the page of 'berth serve' is asked."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
    time_limit: TimeLimit = 10.0,
    seed: Seed = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the policy. Can be repeated.", metavar="KEY=VALUE"),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--for", help="End after so many seconds.", metavar="S")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Take in what is there now, then end.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew: drop checkpoint and telemetry of earlier runs.")
    ] = False,
    emulate_network: EmulateNetwork = None,
    batch_every: Every = 0.0,
    executor_memory: ExecutorMemory = "512m",
    master: ClusterUrl = None,
    master_ui: MasterPage = None,
    conf: Configuration = None,
) -> None:
    """Run an application, measure it, and move its operators when a better plan is worth it."""
    from berth.runtime.control.terms import Terms
    from berth.runtime.control.wanted import load_wanted
    from berth.runtime.live import Live
    from berth.runtime.loading import load_application
    from berth.runtime.profiles import ExecutorSize
    from berth.runtime.run import RunOptions

    check_numbers(emulate_network, batch_every, seconds)
    terms = Terms(
        every_s=every,
        min_gain=min_gain,
        cool_down_s=cool_down,
        confirmations=confirmations,
        max_moves=max_moves,
        move_price=move_price,
        state_price=state_price,
        frozen=frozenset(freeze or ()),
        tolerance=tolerance,
        distrust_s=distrust,
        memory_s=memory,
        approve=approve or approve_on_page,
        dry_run=dry_run,
        policy=policy,
        time_limit=time_limit_from(time_limit),
        seed=seed,
        parameters=settings_from(settings),
    )
    options = RunOptions(
        emulate=emulate_network,
        every_s=batch_every,
        once=once,
        executor=ExecutorSize(executor_memory),
        settings=spark_settings_from(conf),
        fresh=fresh,
    )
    application = load_application(app)
    wanted = load_wanted(problem)
    wanted = replace(wanted, problem=with_objective(wanted.problem, objective))
    chosen, reason = _checked_plan(application, wanted.problem, plan, terms)
    place = folder if folder is not None else Path(f"{application.name}.run")
    watching = _Watching(application, wanted, chosen, reason, place, terms, ask_here=not approve_on_page)
    with ExitStack() as until_the_end:
        catch = until_the_end.enter_context(leaving_on_signals())
        catch(signal.SIGINT)
        with waiting("starting") as steps:
            access = until_the_end.enter_context(cluster_access(wanted.problem, master, master_ui, steps))
            running = until_the_end.enter_context(
                _run_for(
                    application,
                    wanted.problem,
                    chosen,
                    access,
                    place,
                    options,
                    Live(watching.tally, place).add,
                    steps,
                )
            )
        code = watching.until_over(running, seconds)
    watching.report()
    raise typer.Exit(code)


def _run_for(
    application: Application,
    problem: Problem,
    plan: Plan,
    access: Access,
    place: Path,
    options: RunOptions,
    observe: Callable[[BatchMeasures], None],
    steps: Callable[[str], None],
) -> Run:
    """The run that is watched; its `with` block starts and ends it."""
    from berth.runtime.run import Run

    return Run(application, problem, plan, access, place, options, observe, steps)


def _checked_plan(
    application: Application, problem: Problem, file: Path | None, terms: Terms
) -> tuple[Plan, str]:
    """The plan to begin with and the reason for it, after all checks that need no cluster."""
    from berth.files import load_plan
    from berth.policies.policy import parameters_from
    from berth.policies.registry import find_policy
    from berth.runtime.control.problems import kept_operators
    from berth.runtime.control.replan import first_plan
    from berth.runtime.control.worth import Yardstick
    from berth.runtime.placement import described_in, placement_of

    described_in(application, problem)
    kept_operators(problem, terms.frozen, application.name)
    Yardstick.of(problem)
    policy = find_policy(terms.policy)
    parameters_from(policy.parameters, terms.parameters, policy.about.name)
    if file is not None:
        given = load_plan(file)
        placement_of(application, problem, given)
        return given, f"the plan of {file}"
    found = first_plan(problem, terms)
    if found.plan is None:
        err.print(f"no plan to begin with: {found.reason}", markup=False, soft_wrap=True)
        raise typer.Exit(INFEASIBLE if found.status == "infeasible" else NOT_FOUND)
    placement_of(application, problem, found.plan)
    return found.plan, found.reason or f"the plan of {found.plan.policy}, {found.plan.status}"


class _Watching:
    """One watch from its start to its report."""

    def __init__(
        self,
        application: Application,
        wanted: Wanted,
        plan: Plan,
        reason: str,
        place: Path,
        terms: Terms,
        *,
        ask_here: bool,
    ) -> None:
        from berth.runtime.placement import placement_of
        from berth.runtime.run_report import RunTally

        self._application = application
        self._wanted = wanted
        self._plan = plan
        self._reason = reason
        self._place = place
        self._terms = terms
        self._ask_here = ask_here
        self._word = "failed"
        placement = placement_of(application, wanted.problem, plan)
        self.tally: RunTally = RunTally(application, placement, time.time() * 1000)

    def until_over(self, running: Run, seconds: float | None) -> int:
        """Watch until it ends; the exit code."""
        from berth.cli.run_view import RunView
        from berth.cli.watch_view import ask_about
        from berth.runtime.control.history import History
        from berth.runtime.control.loop import watch as watch_run
        from berth.runtime.control.measuring import Measurer
        from berth.runtime.failures import Misplaced

        view = RunView(self.tally, self._application.name)
        try:
            with (
                History(self._place, self._tell) as history,
                Measurer(self._place / "measuring") as measurer,
                stopping_on_signals(running.stop),
                view.shown(),
            ):
                measurer.warm_up()
                self._word = watch_run(
                    running,
                    self._wanted.problem,
                    self._plan,
                    _measure_by(measurer, running, self._wanted, self._place / "measuring"),
                    self._terms,
                    history,
                    lambda proposal: ask_about(
                        proposal, running, view.aside, self._place, here=self._ask_here
                    ),
                    seconds=seconds,
                    reason=self._reason,
                )
        finally:
            self.tally.end(time.time() * 1000)
            self._draw()
        if self._word != "failed":
            return 0
        err.print(str(running.error or "the run failed"), markup=False, soft_wrap=True)
        return MISPLACED if isinstance(running.error, Misplaced) else FAILED

    def _tell(self, event: Event) -> None:
        from berth.cli.watch_view import tell

        tell(event)
        if event.event in ("migrated", "rolled back"):
            self.tally.migrated(
                {
                    "moved": dict(event.moved),
                    "pause_seconds": event.pause_s,
                    "state_bytes": event.state_bytes,
                    "reason": event.reason,
                }
            )

    def _draw(self) -> None:
        from berth.drawing.timeline_picture import draw_timeline
        from berth.files import write_bytes
        from berth.runtime.control.history import read_history
        from berth.runtime.control.timeline import timeline_of

        events = read_history(self._place)
        timeline = timeline_of(events, self._wanted.problem, self._application.name)
        write_bytes(self._place / "timeline.svg", draw_timeline(timeline, "svg"))
        write_bytes(self._place / "timeline.png", draw_timeline(timeline, "png"))

    def report(self) -> None:
        """What happened and what came of it: on standard output, and in `report.json`."""
        from berth.cli.run_view import print_report
        from berth.cli.watch_page import page_of
        from berth.cli.watch_view import print_history
        from berth.files.document import write_text
        from berth.runtime.control.history import read_history

        document = self.tally.document() | {"ended_because": self._word}
        write_text(self._place / "report.json", json.dumps(document, indent=2, allow_nan=False) + "\n")
        print_report(self.tally)
        events = read_history(self._place)
        last = max((number for number, event in enumerate(events) if event.event == "started"), default=0)
        out.print()
        print_history(events[last:])
        timeline = (self._place / "timeline.svg").read_bytes()
        page = page_of(self._place, self._wanted.problem, events[last:], document, timeline)
        write_text(self._place / "report.html", page)
        written = "report.html, report.json, history.parquet, timeline.svg and timeline.png"
        out.print(f"\n{written} are in {escape(str(self._place))}", soft_wrap=True)


def _measure_by(
    measurer: Measurer, running: Run, wanted: Wanted, folder: Path
) -> Callable[[Path, Problem, float], Problem]:
    """Measuring for the control loop: what was measured before stays where nothing new was."""
    from berth.files import load
    from berth.files.document import write_text
    from berth.runtime.control.measuring import with_slow_availability
    from berth.runtime.control.wanted import with_objective_of

    start = folder / "problem.json"
    write_text(start, json.dumps(wanted.document, allow_nan=False) + "\n")
    known: dict[str, Any] = {"path": start, "at": time.monotonic()}

    def measure(telemetry: Path, problem: Problem, seconds: float) -> Problem:
        measurer.await_ready()
        running.flush()
        path = measurer.measure(telemetry, known["path"], seconds)
        passed = time.monotonic() - known["at"]
        known.update(path=path, at=time.monotonic())
        return with_slow_availability(problem, with_objective_of(wanted.problem, load(path)), passed)

    return measure


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(watch)
