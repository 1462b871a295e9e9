"""What whoever calls `run` or `watch` hears of it, and how it can fail. Commands load this before Spark."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from berth.runtime.control.history import Event
    from berth.runtime.control.loop import Proposal
    from berth.runtime.running import Run
    from berth.runtime.tally import RunTally


class RunFailed(Exception):  # noqa: N818
    """A run can't go on; the line says why. What was done so far is in its checkpoint."""


class Misplaced(RunFailed):
    """An operator ran elsewhere than its plan says."""


class RunObserver:
    """What a caller hears of a run, and may say. Everything here does nothing; override what you need."""

    def step(self, text: str) -> None:
        """What is being done before it runs, in a few words."""

    def note(self, line: str) -> None:
        """Something that whoever looks should know."""

    def running(self, run: Run, tally: RunTally) -> AbstractContextManager[object]:
        """It runs as long as the block does. `run.stop()` ends it, also from a signal handler."""
        return nullcontext()

    # only where the run is watched

    def event(self, event: Event) -> None:
        """An event of the history, as it happens."""

    def asking(self, proposal: Proposal) -> AbstractContextManager[object]:
        """An answer is waited for as long as the block runs; the page of `berth serve` may give it, too."""
        return nullcontext()

    def answer(self) -> bool | None:
        """Whether to do what was proposed; None: not decided yet."""
        return None
