"""`berth watch`: a line for each event, a question before a move, a table at the end."""

from __future__ import annotations

import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from berth.amounts import in_unit
from berth.cli.exit_codes import INFEASIBLE, NOT_FOUND
from berth.cli.options import (
    AppFile,
    Configuration,
    Objectives,
    Policy,
    PolicySettings,
    Seed,
    TimeLimit,
    flag,
    option,
    settings_from,
    time_limit_from,
    with_objective,
)
from berth.cli.output import err, out, plain_table, tell
from berth.cli.plan_view import print_change
from berth.cli.run import (
    ClusterUrl,
    EmulateNetwork,
    Encrypt,
    Every,
    ExecutorMemory,
    Fresh,
    MasterPage,
    Once,
    ProblemFile,
    RunDisplay,
    Seconds,
    SecretFile,
    exit_code_of,
    run_options_from,
)
from berth.cli.run_view import print_report
from berth.evaluation.evaluate import change_between

if TYPE_CHECKING:
    from berth.runtime.control.history import Event
    from berth.runtime.control.loop import Proposal

WATCH_EXAMPLES = """Examples:

  berth watch app.py --problem problem.yaml

  berth watch app.py --problem problem.yaml --plan plan.json --every 20 --min-gain 0.2 --max-moves 2

  berth watch app.py --problem problem.yaml --freeze count --approve

  berth watch app.py --problem problem.yaml --dry-run --for 600

Runs the application, measures it, plans again with what was measured, and moves it when that is worth it.
A node that dies is left at once. DIR gets the history (history.jsonl, history.parquet, plans), timeline.svg
and timeline.png. Ctrl-C ends it; the same command goes on where it stopped.
"""

QUIET = ("looked",)
"""Events that nobody is told of: they are in the record."""
MOST_ROWS = 40
_STYLES = {
    "migrated": "bold green",
    "rolled back": "bold yellow",
    "proposed": "bold cyan",
    "declined": "cyan",
    "node lost": "bold red",
    "node back": "green",
    "stuck": "bold red",
    "warned": "yellow",
    "failed": "bold red",
    "migration failed": "red",
    "measuring failed": "red",
    "kept": "dim",
    "waited": "dim",
}


def watch(
    app: AppFile,
    problem: ProblemFile,
    plan: Path | None = option(None, "Plan file to begin with. Default: what the policy finds.", "PLAN"),
    folder: Path | None = option(
        None,
        "For checkpoint, telemetry and history. Default: NAME.run, by the application's name.",
        "DIR",
        "--out",
    ),
    policy: Policy = "auto",
    objective: Objectives = None,
    every: float = option(30.0, "Seconds from one look to the next.", "S"),
    min_gain: float = option(0.1, "Minimum relative gain for a move (0.1 = 10 %).", "SHARE"),
    cool_down: float = option(60.0, "Seconds without a move after a move, unless a node dies.", "S"),
    confirmations: int = option(2, "Looks in a row that must see the gain.", "N"),
    max_moves: int | None = option(None, "Instances that may move at once; more only from a dead node.", "N"),
    move_price: float = option(0.01, "Gain that each moved instance must bring on top.", "SHARE"),
    state_price: float = option(0.1, "Gain that each moved gigabyte of state must bring on top.", "SHARE"),
    freeze: list[str] | None = option(
        None, "An operator that stays where it is. Can be repeated.", "OPERATOR"
    ),
    tolerance: float = option(
        0.1, "How much worse than promised a plan may do before it is rolled back.", "SHARE"
    ),
    distrust: float = option(600.0, "Seconds for which a plan that failed or was declined isn't tried.", "S"),
    memory: float | None = option(None, "Seconds of telemetry that count. Default: those of two looks.", "S"),
    approve: bool = flag("--approve", "Show the difference and ask first, here and on the page."),
    approve_on_page: bool = flag(
        "--approve-on-page", "As --approve, but only the page of 'berth serve' is asked."
    ),
    dry_run: bool = flag("--dry-run", "Only tell what would be done."),
    time_limit: TimeLimit = 10.0,
    seed: Seed = 0,
    settings: PolicySettings = None,
    seconds: Seconds = None,
    once: Once = False,
    fresh: Fresh = False,
    emulate_network: EmulateNetwork = None,
    batch_every: Every = 0.0,
    executor_memory: ExecutorMemory = "512m",
    master: ClusterUrl = None,
    master_ui: MasterPage = None,
    secret_file: SecretFile = None,
    encrypt: Encrypt = False,
    conf: Configuration = None,
) -> None:
    """Run an application, measure it, and move its operators when a better plan is worth it."""
    from berth.cli.plan_files import read_own_plan
    from berth.runtime import NoFirstPlan, WatchOptions, load_application, load_watched
    from berth.runtime import watch as watch_application

    run_options = run_options_from(
        emulate_network,
        batch_every,
        executor_memory,
        conf,
        once=once,
        fresh=fresh,
        seconds=seconds,
        secret_file=secret_file,
        encrypt=encrypt,
    )
    options = WatchOptions(
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
    application = load_application(app)
    watched = with_objective(load_watched(problem), objective)
    try:
        with WatchDisplay(ask_here=not approve_on_page) as display:
            result = watch_application(
                application,
                watched,
                plan=None if plan is None else read_own_plan(watched, plan),
                reason=f"the plan of {plan}",
                folder=folder,
                options=options,
                run_options=run_options,
                master_url=master,
                ui_url=master_ui,
                observer=display,
            )
    except NoFirstPlan as error:
        tell(str(error))
        raise typer.Exit(INFEASIBLE if error.status == "infeasible" else NOT_FOUND) from None
    code = exit_code_of(result)
    print_report(result.tally)
    out.print()
    print_history(result.events)
    written = "report.html, report.json, history.parquet, timeline.svg and timeline.png"
    out.print(f"\n{written} are in {escape(str(result.folder))}", soft_wrap=True)
    raise typer.Exit(code)


def _line(event: Event) -> str:
    style = _STYLES.get(event.event, "bold")
    words = [f"{escape(event.node)}:"] if event.node is not None else []
    words += [escape(event.reason)] if event.reason else []
    if event.event in ("migrated", "rolled back"):
        words.append(f"({_moves(event)})")
    return " ".join([f"[{style}]{event.event}[/]", *words])


def _moves(event: Event) -> str:
    moved = ", ".join(
        f"{escape(name)} {escape(old)} -> {escape(new)}" for name, (old, new) in event.moved.items()
    )
    pause = "" if event.pause_s is None else f"pause {event.pause_s:.1f} s"
    noticed = (
        "" if event.noticed_s is None else f"{in_unit(event.noticed_s * 1000, 'ms')} after it was noticed"
    )
    return "; ".join(part for part in (moved, noticed, pause) if part)


def _clock(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%H:%M:%S}"


class WatchDisplay(RunDisplay):
    """A run that is watched: it tells every event, and asks before a move.

    Where nobody is here to type an answer, only the page of `berth serve` can give one.
    """

    def __init__(self, *, ask_here: bool = True) -> None:
        super().__init__()
        self._ask_here = ask_here

    def event(self, event: Event) -> None:
        """One line on standard error, as it happens."""
        if event.event not in QUIET:
            err.print(f"{_clock(event.time)} {_line(event)}", soft_wrap=True)

    @contextmanager
    def asking(self, proposal: Proposal) -> Iterator[None]:
        """Show what would change, and the question."""
        with nullcontext() if self._view is None else self._view.aside():
            out.print(f"\n[bold]{escape(proposal.decision.reason)}[/]", soft_wrap=True)
            print_change(change_between(proposal.before, proposal.after))
            question = "\nmove? [y/N] " if self._ask_here else "\nmove? (asked on the page)"
            err.print(question, end="", markup=False)
            yield

    def answer(self) -> bool | None:
        """What somebody has typed."""
        return _typed() if self._ask_here else None


def _typed() -> bool | None:
    """What somebody has answered; None: nothing yet."""
    try:
        ready, _, _ = select.select([sys.stdin], [], [], 0.0)
    except (OSError, ValueError):
        # there is nobody to ask
        return False
    return sys.stdin.readline().strip().lower() in ("y", "yes") if ready else None


def print_history(events: Sequence[Event]) -> None:
    """The events that matter, as a table on standard output."""
    told = [event for event in events if event.event not in (*QUIET, "kept", "waited")]
    if len(told) > MOST_ROWS:
        out.print(f"[dim]the last {MOST_ROWS} of {len(told)} events[/]")
    table = plain_table("time", "event", "plan", "why")
    for event in told[-MOST_ROWS:]:
        number = "" if event.plan is None else str(event.plan)
        _, _, rest = _line(event).partition("[/]")
        table.add_row(_clock(event.time), event.event, number, rest.strip())
    out.print(table)
