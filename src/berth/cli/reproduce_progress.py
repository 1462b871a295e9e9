"""Progress of experiments: runs done of all, for each, and the time left."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence, Sized
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from berth.amounts import duration
from berth.cli.live_count import shown
from berth.cli.output import err
from berth.cli.progress import EVERY_SECONDS


class Count(Protocol):
    """What is counted of an experiment."""

    @property
    def done(self) -> int:
        """Runs done, those that failed among them."""

    @property
    def failed(self) -> int:
        """Runs that failed."""

    @property
    def seconds(self) -> float:
        """What they took, added up."""


class Counts(Protocol):
    """Counts by experiment."""

    def of(self, experiment: str) -> Count:
        """What is counted of one."""


@dataclass(frozen=True)
class Line:
    """How far an experiment is, or all of them."""

    name: str
    done: int
    total: int
    failed: int
    left: float | None
    """Seconds; None: not known yet."""

    def text(self) -> str:
        """`X3.1 120 of 1,000 runs, 3 failed, 40 s left`."""
        parts = [f"{self.name} {self.done:,} of {self.total:,} runs".lstrip()]
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        if self.left is not None and self.done < self.total:
            parts.append(f"{duration(self.left)} left")
        return ", ".join(parts)


class State(Protocol):
    """What is known of an experiment before its runs are done."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def runs(self) -> Sequence[object]:
        """All of its runs."""

    @property
    def succeeded(self) -> Sized:
        """Those that are there already."""

    @property
    def seconds_each(self) -> float | None:
        """What a run takes; None: not known."""


class Board:
    """All experiments that are being run."""

    def __init__(self, counts: Counts, states: Sequence[State], cores: int) -> None:
        self._counts, self._cores = counts, cores
        self._states = [state for state in states if len(state.succeeded) < len(state.runs)]
        self._finished = sum(len(state.runs) for state in states if len(state.succeeded) >= len(state.runs))
        self._start = time.monotonic()
        self._before: dict[str, int] = {}

    def lines(self) -> list[Line]:
        """A line for each experiment. Time left: its runs on all processors, each as long as those before."""
        lines = []
        for state in self._states:
            count, total = self._counts.of(state.name), len(state.runs)
            done = len(state.succeeded) + count.done
            each = count.seconds / count.done if count.done else state.seconds_each
            left = None if each is None else each * (total - done) / self._cores
            lines.append(Line(state.name, done, total, count.failed, left))
        return lines

    def whole(self, lines: Sequence[Line]) -> Line:
        """All experiments together, finished ones too; the time left is known when each has done a run."""
        known = [line.left for line in lines if line.left is not None]
        left = sum(known) if len(known) == len(lines) else None
        return Line(
            "",
            self._finished + sum(line.done for line in lines),
            self._finished + sum(line.total for line in lines),
            sum(line.failed for line in lines),
            left,
        )

    def __rich__(self) -> Table:
        grid = Table.grid(padding=(0, 1))
        lines = self.lines()
        for line in [*lines, self.whole(lines)]:
            bar = ProgressBar(total=line.total, completed=line.done, width=24)
            grid.add_row(bar, Text(line.text(), style="dim" if line.name else ""))
        return grid

    def watch(self, done: threading.Event) -> None:
        """Print a line every few seconds until done, and one for each experiment that is done."""
        while not done.wait(EVERY_SECONDS):
            lines = self.lines()
            moved = [line for line in lines if line.done != self._before.get(line.name, 0)]
            self._before = {line.name: line.done for line in lines}
            for line in moved:
                if line.done >= line.total:
                    _print(f"{line.text()}: done")
            active = [line.text() for line in moved if line.done < line.total]
            elapsed = duration(time.monotonic() - self._start)
            _print(" · ".join([self.whole(lines).text(), elapsed, *active]))


def counting_runs(counts: Counts, states: Sequence[State], cores: int) -> AbstractContextManager[None]:
    """Show the counts on standard error while a block runs."""
    return shown(Board(counts, states, cores))


def _print(line: str) -> None:
    err.print(line, style="dim", markup=False, soft_wrap=True)
