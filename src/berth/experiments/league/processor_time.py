"""A time limit in processor time: what else runs on the machine takes nothing from anybody."""

from __future__ import annotations

import time

from berth.budget import Budget

LEAST_MEASURED = 0.001


class ProcessorBudget(Budget):
    """Seconds of this process's processor time from now on."""

    def __init__(self, seconds: float, whole: Budget | None = None) -> None:
        super().__init__(seconds, whole)
        self._limit = seconds
        self._began = time.process_time()

    @property
    def elapsed(self) -> float:
        """Processor time since the start."""
        return time.process_time() - self._began

    @property
    def remaining(self) -> float:
        """Seconds on the clock until the processor time is used up, if the machine stays as busy as it is.

        Solvers that only know the clock are told this; what is over is decided by processor time.
        """
        return self._left * max(1.0, super().elapsed / max(self.elapsed, LEAST_MEASURED))

    @property
    def _left(self) -> float:
        return 0.0 if self.stopped is not None else max(0.0, self._limit - self.elapsed)

    def part(self, share: float, most: float = float("inf")) -> Budget:
        """A part of the processor time that is left."""
        return ProcessorBudget(min(self._left * share, most), self)
