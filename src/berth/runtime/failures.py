"""How a run can fail, in one line each."""

from __future__ import annotations

from berth.runtime import on_worker


class RunFailed(Exception):  # noqa: N818
    """A run can't go on; the line says why. What was done so far is in its checkpoint."""


class Misplaced(RunFailed):
    """An operator ran elsewhere than its plan says."""


def failure_of(line: str) -> RunFailed:
    """The failure that a worker's message stands for."""
    return Misplaced(line) if on_worker.MISPLACED in line else RunFailed(line)
