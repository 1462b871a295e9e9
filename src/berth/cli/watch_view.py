"""What people see of a watch: a line for each event, a question before a move, a table at the end."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from berth.cli.output import err, out, plain_table
from berth.cli.plan_view import print_change
from berth.evaluation.evaluate import change_between
from berth.files.run_folder import asking

if TYPE_CHECKING:
    from berth.runtime.control.history import Event
    from berth.runtime.control.loop import Proposal
    from berth.runtime.control.running import Running

QUIET = ("looked",)
"""Events that nobody is told of: they are in the record."""
POLL_SECONDS = 0.5
MOST_ROWS = 40
_STYLES = {
    "migrated": "bold green",
    "rolled back": "bold yellow",
    "proposed": "bold cyan",
    "declined": "cyan",
    "node lost": "bold red",
    "node back": "green",
    "stuck": "bold red",
    "failed": "bold red",
    "migration failed": "red",
    "measuring failed": "red",
    "kept": "dim",
    "waited": "dim",
}


def tell(event: Event) -> None:
    """One line on standard error, as it happens."""
    if event.event not in QUIET:
        err.print(f"{_clock(event.time)} {_line(event)}", soft_wrap=True)


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
    return "; ".join(part for part in (moved, pause) if part)


def _clock(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%H:%M:%S}"


def ask_about(
    proposal: Proposal,
    run: Running,
    aside: Callable[[], AbstractContextManager[None]],
    folder: Path,
    *,
    here: bool = True,
) -> bool:
    """Show what would change, and wait for a yes; a run that ends meanwhile is a no.

    The answer may be typed, or come through the run's folder, from the page of `berth serve`; where nobody is
    `here`, only from there.
    """
    from berth.runtime.control.running import RUNNING

    with aside(), asking(folder, proposal.decision.reason, proposal.before, proposal.after) as question:
        out.print(f"\n[bold]{escape(proposal.decision.reason)}[/]", soft_wrap=True)
        print_change(change_between(proposal.before, proposal.after))
        err.print("\nmove? [y/N] " if here else "\nmove? (asked on the page)", end="", markup=False)
        while True:
            decided = question.answer()
            if decided is not None:
                err.print(f"{'yes' if decided else 'no'}, from the page", markup=False)
                return decided
            typed = _typed() if here else None
            if typed is not None:
                return typed
            if run.wait(POLL_SECONDS) != RUNNING:
                err.print("the run has something else to say", markup=False)
                return False


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
