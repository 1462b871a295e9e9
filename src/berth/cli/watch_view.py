"""What people see of a watch: a line for each event, a question before a move, a table at the end."""

from __future__ import annotations

import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING

from rich.markup import escape

from berth.cli.output import err, out, plain_table
from berth.cli.plan_view import print_change
from berth.cli.running import RunDisplay
from berth.evaluation.evaluate import change_between

if TYPE_CHECKING:
    from berth.runtime.control.history import Event
    from berth.runtime.control.loop import Proposal

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


class WatchDisplay(RunDisplay):
    """A run that is watched: it tells every event, and asks before a move.

    Where nobody is here to type an answer, only the page of `berth serve` can give one.
    """

    def __init__(self, *, ask_here: bool = True) -> None:
        super().__init__()
        self._ask_here = ask_here

    def event(self, event: Event) -> None:
        """One line on standard error."""
        tell(event)

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
