"""Progress of many solves: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager
from typing import Protocol

from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from berth.amounts import duration
from berth.cli.live_count import shown
from berth.cli.output import err
from berth.cli.progress import EVERY_SECONDS


class Counts(Protocol):
    """What is counted."""

    @property
    def solved(self) -> int:
        """How many are done, errors among them."""
        ...

    @property
    def errors(self) -> int:
        """How many of these are errors."""
        ...


class Counter:
    """Solved so far of all, the rate, the time left, errors."""

    def __init__(self, counts: Counts, total: int) -> None:
        self._counts, self._total = counts, total
        self._start = time.monotonic()

    def line(self) -> str:
        """All of it on one line."""
        solved, errors = self._counts.solved, self._counts.errors
        seconds = time.monotonic() - self._start
        parts = [f"{solved:,} of {self._total:,} solved"]
        if solved:
            rate = solved / seconds
            parts.append(f"{rate:,.1f}/s" if rate < 100 else f"{rate:,.0f}/s")
            parts.append(f"{duration((self._total - solved) / rate)} left")
        else:
            parts.append(duration(seconds))
        if errors:
            parts.append(f"{errors:,} error{'s' if errors > 1 else ''}")
        return " · ".join(parts)

    def __rich__(self) -> Table:
        row = Table.grid(padding=(0, 1))
        row.add_row(
            ProgressBar(total=max(self._total, 1), completed=self._counts.solved, width=30),
            Text(self.line(), style="dim"),
        )
        return row

    def watch(self, done: threading.Event) -> None:
        """Print a line every few seconds until done."""
        while not done.wait(EVERY_SECONDS):
            err.print(self.line(), style="dim", markup=False, soft_wrap=True)


def counting(counts: Counts, total: int) -> AbstractContextManager[None]:
    """Show the counts on standard error while a block runs."""
    return shown(Counter(counts, total))
