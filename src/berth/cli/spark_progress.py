"""Progress of a command on Spark: a live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from berth.cli.output import err
from berth.cli.progress import EVERY_SECONDS, QUIET_SECONDS

if TYPE_CHECKING:
    from berth.spark import SparkSession
    from berth.spark.progress import Tasks

POLL_SECONDS = 0.3


class Steps:
    """What a command does now, how many tasks of it are done, and for how long it has been at work."""

    def __init__(self, text: str, tasks: Callable[[], Tasks | None]) -> None:
        self._text = text
        self._ask = tasks
        self._tasks: Tasks | None = None
        self._start = time.monotonic()
        self._next_line = self._start + QUIET_SECONDS

    def step(self, text: str) -> None:
        """Say what is being done from now on."""
        self._text = text
        self._tasks = None

    def __call__(self, text: str) -> None:
        """The same as `step`, for those who take a function."""
        self.step(text)

    @property
    def seconds(self) -> float:
        """Since when the command has been at work."""
        return time.monotonic() - self._start

    def text(self) -> Text:
        """One line: the step, its tasks, the time."""
        tasks = self._tasks
        parts = [self._text]
        if tasks is not None:
            parts.append(f"{tasks.done:,} of {tasks.total:,} tasks")
        parts.append(f"{self.seconds:.0f} s")
        return Text(" · ".join(parts), style="dim")

    def __rich__(self) -> Text:
        return self.text() if self.seconds >= POLL_SECONDS else Text("")

    def watch(self, done: threading.Event, live: Live | None) -> None:
        """Ask how far Spark is until done, and show it: a line every few seconds where nothing is live."""
        while not done.wait(POLL_SECONDS):
            self._tasks = self._ask()
            if live is not None:
                live.refresh()
            elif time.monotonic() >= self._next_line and not done.is_set():
                self._next_line = time.monotonic() + EVERY_SECONDS
                err.print(self.text(), soft_wrap=True)


@contextmanager
def watching(session: SparkSession, text: str = "working") -> Iterator[Steps]:
    """Show on standard error what Spark is doing; `steps.step("reading probes")` says what it is for."""
    from berth.spark.progress import tasks_now

    with _shown(Steps(text, lambda: tasks_now(session))) as steps:
        yield steps


@contextmanager
def waiting(text: str) -> Iterator[Steps]:
    """Show on standard error that something takes its time before there is a session."""
    with _shown(Steps(text, lambda: None)) as steps:
        yield steps


@contextmanager
def _shown(steps: Steps) -> Iterator[Steps]:
    done = threading.Event()
    with ExitStack() as shown:
        live = None
        if err.is_terminal:
            live = shown.enter_context(Live(steps, console=err, transient=True, auto_refresh=False))
        watcher = threading.Thread(target=steps.watch, args=(done, live), name="berth progress", daemon=True)
        watcher.start()
        try:
            yield steps
        finally:
            done.set()
            # a JVM that hangs must not hold us up
            watcher.join(timeout=5)
