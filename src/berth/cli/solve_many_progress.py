"""Progress of many solves: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from berth.cli.output import err
from berth.cli.progress import EVERY_SECONDS
from berth.drawing.amounts import duration

POLL_SECONDS = 0.2


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


@contextmanager
def counting(counts: Counts, total: int) -> Iterator[None]:
    """Show the counts on standard error while the block runs."""
    counter = Counter(counts, total)
    if err.is_terminal:
        with Live(counter, console=err, transient=True, refresh_per_second=1 / POLL_SECONDS):
            yield
        return
    done = threading.Event()
    watcher = threading.Thread(target=counter.watch, args=(done,), name="berth progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
