"""What a command shows while it works: something live on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from rich.text import Text

from berth.amounts import duration, percentage, quantity
from berth.cli.output import err

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from berth.budget import Budget
    from berth.experiments.framework.job import Tally
    from berth.experiments.framework.missing import State
    from berth.pipeline.many import Tally as ManyTally
    from berth.policies import Progress
    from berth.spark import SparkSession
    from berth.spark.internals import Tasks

QUIET_SECONDS = 2.0
EVERY_SECONDS = 5.0
POLL_SECONDS = 0.2


class View(Protocol):
    """Something that changes while it is shown."""

    def __rich__(self) -> RenderableType:
        """What is drawn on a terminal."""

    def report(self) -> Iterable[str]:
        """The lines that are printed now and then where there is none."""


@contextmanager
def showing(
    view: View, quiet: float = EVERY_SECONDS, update: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Show a view on standard error while the block runs.

    Args:
        view: what is shown.
        quiet: seconds before the first line, where there is no terminal.
        update: is called before anything is shown, in a thread of its own.
    """
    done = threading.Event()
    with ExitStack() as until_the_end:
        live = None
        if err.is_terminal:
            from rich.live import Live

            drawn = Live(view, console=err, transient=True, auto_refresh=False)
            live = until_the_end.enter_context(drawn)
        arguments = (view, done, live, quiet, update)
        watcher = threading.Thread(target=_watch, args=arguments, name="berth progress", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            # a JVM that hangs must not hold us up
            watcher.join(timeout=5)


def _watch(
    view: View, done: threading.Event, live: Live | None, quiet: float, update: Callable[[], None]
) -> None:
    next_line = time.monotonic() + quiet
    while not done.wait(POLL_SECONDS):
        update()
        if live is not None:
            live.refresh()
        elif time.monotonic() >= next_line and not done.is_set():
            next_line = time.monotonic() + EVERY_SECONDS
            for line in view.report():
                err.print(line, style="dim", markup=False, soft_wrap=True)


class SolveProgress:
    """The best objective, the bound and the gap of a policy at work."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._objective: float | None = None
        self._bound: float | None = None
        self._stage = ""

    def __call__(self, progress: Progress) -> None:
        """Take note of what a policy reports."""
        self._objective = progress.objective if progress.objective is not None else self._objective
        self._bound = progress.bound if progress.bound is not None else self._bound
        if progress.stage != self._stage:
            self._stage, self._objective, self._bound = progress.stage, progress.objective, progress.bound

    def report(self) -> Iterator[str]:
        """One line: time, best, bound, gap."""
        from berth.evaluation.goal import gap_between

        parts = [f"{self._stage or 'solving'} {self._budget.elapsed:.0f} s"]
        if self._objective is not None:
            parts.append(f"best {quantity(self._objective)}")
        if self._bound is not None:
            parts.append(f"bound {quantity(self._bound)}")
        if self._objective is not None and self._bound is not None:
            parts.append(f"gap {percentage(gap_between(self._objective, self._bound))}")
        yield " · ".join(parts) + " (Ctrl-C: take the best so far)"

    def __rich__(self) -> Text:
        return Text("".join(self.report()) if self._budget.elapsed >= 0.3 else "", style="dim")


@contextmanager
def solving(budget: Budget) -> Iterator[Callable[[Progress], None]]:
    """Show how solving goes; Ctrl-C ends the budget, a second one the program."""
    progress = SolveProgress(budget)
    with (
        stopping_on_signals(lambda: budget.stop("interrupted"), signal.SIGINT),
        showing(progress, QUIET_SECONDS),
    ):
        yield progress


@contextmanager
def stopping_on_signals(stop: Callable[[], None], *numbers: signal.Signals) -> Iterator[None]:
    """The first of these signals asks to stop; after that, it does what it did before, and leaves at once.

    A handler may not talk to Java: it interrupts whoever does.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {each: signal.getsignal(each) for each in numbers}

    def ask(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, before[number])
        stop()

    for each in numbers:
        signal.signal(each, ask)
    try:
        yield
    finally:
        for caught, handler in before.items():
            signal.signal(caught, handler)


class Steps:
    """What a command does now, how many tasks of it are done, and for how long it has been at work."""

    def __init__(self, text: str, tasks: Callable[[], Tasks | None]) -> None:
        self._text = text
        self._ask = tasks
        self._tasks: Tasks | None = None
        self._start = time.monotonic()

    def __call__(self, text: str) -> None:
        """Say what is being done from now on."""
        self._text = text
        self._tasks = None

    @property
    def seconds(self) -> float:
        """Since when the command has been at work."""
        return time.monotonic() - self._start

    def update(self) -> None:
        """Ask how far Spark is."""
        self._tasks = self._ask()

    def report(self) -> Iterator[str]:
        """One line: the step, its tasks, the time."""
        tasks = self._tasks
        parts = [self._text]
        if tasks is not None:
            parts.append(f"{tasks.done:,} of {tasks.total:,} tasks")
        parts.append(f"{self.seconds:.0f} s")
        yield " · ".join(parts)

    def __rich__(self) -> Text:
        return Text("".join(self.report()) if self.seconds >= POLL_SECONDS else "", style="dim")


@contextmanager
def watching(session: SparkSession, text: str = "working") -> Iterator[Steps]:
    """Show what Spark is doing; `steps("reading probes")` says what it is for."""
    from berth.spark.internals import tasks_now

    steps = Steps(text, lambda: tasks_now(session))
    with showing(steps, QUIET_SECONDS, steps.update):
        yield steps


@contextmanager
def waiting(text: str) -> Iterator[Steps]:
    """Show that something takes its time, without or before a session."""
    steps = Steps(text, lambda: None)
    with showing(steps, QUIET_SECONDS):
        yield steps


class SolvedCount:
    """Solved so far of all, the rate, the time left, errors."""

    def __init__(self, counts: ManyTally, total: int) -> None:
        self._counts, self._total = counts, total
        self._start = time.monotonic()

    def report(self) -> Iterator[str]:
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
        yield " · ".join(parts)

    def __rich__(self) -> RenderableType:
        words = Text("".join(self.report()), style="dim")
        return _bars([(self._counts.solved, max(self._total, 1), words)], 30)


@dataclass(frozen=True)
class RunsDone:
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


class ExperimentBoard:
    """All experiments that are being run."""

    def __init__(self, tally: Tally, states: Sequence[State], cores: int) -> None:
        self._tally, self._cores = tally, cores
        self._states = [state for state in states if len(state.succeeded) < len(state.runs)]
        self._finished = sum(len(state.runs) for state in states if len(state.succeeded) >= len(state.runs))
        self._start = time.monotonic()
        self._before: dict[str, int] = {}

    def experiments(self) -> list[RunsDone]:
        """Each of them. Time left: its runs on all processors, each as long as those before."""
        found = []
        for state in self._states:
            count, total = self._tally.of(state.name), len(state.runs)
            done = len(state.succeeded) + count.done
            each = count.seconds / count.done if count.done else state.seconds_each
            left = None if each is None else each * (total - done) / self._cores
            found.append(RunsDone(state.name, done, total, count.failed, left))
        return found

    def whole(self, experiments: Sequence[RunsDone]) -> RunsDone:
        """All together, finished ones too; the time left is known when each has done a run."""
        known = [each.left for each in experiments if each.left is not None]
        return RunsDone(
            "",
            self._finished + sum(each.done for each in experiments),
            self._finished + sum(each.total for each in experiments),
            sum(each.failed for each in experiments),
            sum(known) if len(known) == len(experiments) else None,
        )

    def report(self) -> Iterator[str]:
        """A line for each experiment that is done now, and one for all that moved."""
        experiments = self.experiments()
        moved = [each for each in experiments if each.done != self._before.get(each.name, 0)]
        self._before = {each.name: each.done for each in experiments}
        for each in moved:
            if each.done >= each.total:
                yield f"{each.text()}: done"
        active = [each.text() for each in moved if each.done < each.total]
        elapsed = duration(time.monotonic() - self._start)
        yield " · ".join([self.whole(experiments).text(), elapsed, *active])

    def __rich__(self) -> RenderableType:
        experiments = self.experiments()
        rows = [*experiments, self.whole(experiments)]
        return _bars([(row.done, row.total, Text(row.text(), "dim" if row.name else "")) for row in rows], 24)


def _bars(rows: Iterable[tuple[int, int, Text]], width: int) -> RenderableType:
    """Bars of what is done of a total, with words beside them."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    grid = Table.grid(padding=(0, 1))
    for done, total, words in rows:
        grid.add_row(ProgressBar(total=total, completed=done, width=width), words)
    return grid
