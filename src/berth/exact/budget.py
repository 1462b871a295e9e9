"""How long to go on: a time limit, and the user's wish to stop."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Budget:
    """Time from now on; it can be stopped early, from another thread too."""

    seconds: float | None = None
    stopped: str | None = None
    """Why it was stopped; None while it runs."""
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def remaining(self) -> float:
        """Seconds left; 0 once it is stopped or over."""
        if self.stopped is not None:
            return 0.0
        return float("inf") if self.seconds is None else max(0.0, self.seconds - self.elapsed)

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.remaining <= 0.0

    def stop(self, reason: str) -> None:
        """End it now."""
        if self.stopped is None:
            self.stopped = reason

    def part(self, share: float, most: float = float("inf")) -> Budget:
        """A budget of its own for a part of the work, at most a share of what is left."""
        seconds = min(self.remaining * share, most)
        return Budget(None if seconds == float("inf") else seconds, self.stopped)

    @property
    def reason(self) -> str:
        """Why it ended."""
        return self.stopped or f"out of time after {self.elapsed:.1f} s"
