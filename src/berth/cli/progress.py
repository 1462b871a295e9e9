"""Progress while solving: a live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.text import Text

from berth.budget import Budget
from berth.cli.output import err, number
from berth.evaluation.goal import gap_between
from berth.policies import Progress

QUIET_SECONDS = 2.0
EVERY_SECONDS = 5.0


class SolveProgress:
    """Shows the best objective, the bound and the gap."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._objective: float | None = None
        self._bound: float | None = None
        self._stage = ""
        self._last_line = time.monotonic() - EVERY_SECONDS + QUIET_SECONDS

    def __call__(self, progress: Progress) -> None:
        """Take note of what a policy reports."""
        self._objective = progress.objective if progress.objective is not None else self._objective
        self._bound = progress.bound if progress.bound is not None else self._bound
        if progress.stage != self._stage:
            self._stage, self._objective, self._bound = progress.stage, progress.objective, progress.bound

    def text(self) -> Text:
        """One line: time, best, bound, gap."""
        parts = [f"{self._stage or 'solving'} {self._budget.elapsed:.0f} s"]
        if self._objective is not None:
            parts.append(f"best {number(self._objective)}")
        if self._bound is not None:
            parts.append(f"bound {number(self._bound)}")
        if self._objective is not None and self._bound is not None:
            parts.append(f"gap {100 * gap_between(self._objective, self._bound):.2f} %")
        return Text(" · ".join(parts) + " (Ctrl-C: take the best so far)", style="dim")

    def __rich__(self) -> Text:
        return self.text() if self._budget.elapsed >= 0.3 else Text("")

    def watch(self, done: threading.Event) -> None:
        """Print a line every few seconds until done, where there is no terminal to draw on."""
        while not done.wait(0.2):
            if time.monotonic() - self._last_line >= EVERY_SECONDS:
                self._last_line = time.monotonic()
                err.print(self.text(), soft_wrap=True)


@contextmanager
def showing(budget: Budget) -> Iterator[Callable[[Progress], None]]:
    """Show progress on standard error; Ctrl-C ends the budget, a second one the program."""
    progress = SolveProgress(budget)
    with _stopping(budget):
        if err.is_terminal:
            from rich.live import Live

            with Live(progress, console=err, transient=True, refresh_per_second=5):
                yield progress
        else:
            done = threading.Event()
            watcher = threading.Thread(target=progress.watch, args=(done,), daemon=True)
            watcher.start()
            try:
                yield progress
            finally:
                done.set()
                watcher.join()


@contextmanager
def _stopping(budget: Budget) -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        if budget.stopped:
            raise KeyboardInterrupt
        budget.stop("interrupted")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
