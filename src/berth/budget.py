"""How long to go on: a time limit, and the user's wish to stop."""

from __future__ import annotations

import time


class Budget:
    """Time from now on; it can be stopped early, from another thread or a signal handler too."""

    def __init__(self, seconds: float | None = None, whole: Budget | None = None) -> None:
        self._seconds = float("inf") if seconds is None else seconds
        self._whole = whole
        self._reason: str | None = None
        self._started = time.monotonic()

    @property
    def stopped(self) -> str | None:
        """Why it was stopped; None while it runs."""
        return self._reason or (self._whole.stopped if self._whole is not None else None)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    @property
    def remaining(self) -> float:
        """Seconds left; 0 once it is stopped or over."""
        return 0.0 if self.stopped is not None else max(0.0, self._seconds - self.elapsed)

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.remaining <= 0.0

    def stop(self, reason: str) -> None:
        """End it now, and the whole that it is a part of."""
        self._reason = self._reason or reason
        if self._whole is not None:
            self._whole.stop(reason)

    def part(self, share: float, most: float = float("inf")) -> Budget:
        """A budget for a part of the work: at most a share of what is left."""
        return Budget(min(self.remaining * share, most), self)

    @property
    def reason(self) -> str:
        """Why it ended."""
        return self.stopped or f"out of time after {self.elapsed:.1f} s"
