"""How a running application is watched: when to look, what is worth a move, how plans are found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from berth.model import BadInput

LOOKS_REMEMBERED = 2.0
"""Unless said otherwise, telemetry of so many looks counts: a change shows in full at the second one."""
GIGABYTE = 1e9


@dataclass(frozen=True)
class WatchOptions:
    """The options of a watch, checked when they are made."""

    every_s: float = 30.0
    """From one look to the next."""
    min_gain: float = 0.1
    """The minimum gain for a move, relative to the present plan."""
    cool_down_s: float = 60.0
    """After a migration nothing moves for so long, unless a node dies."""
    confirmations: int = 2
    """A gain must be seen in so many looks in a row (hysteresis)."""
    max_moves: int | None = None
    """Instances that may move at once; what has to leave a dead node moves nevertheless."""
    move_price: float = 0.01
    """The gain that each moved instance must bring on top of the least one."""
    state_price: float = 0.1
    """The gain that each moved gigabyte of state must bring on top of it."""
    frozen: frozenset[str] = frozenset()
    """Operators that stay where they are: `count` or `application/count`."""
    tolerance: float = 0.1
    """How much worse than promised a new plan may turn out."""
    distrust_s: float = 600.0
    """A plan that was rolled back or declined is not tried again for so long."""
    memory_s: float | None = None
    """How old telemetry may be and still count; None: two looks."""
    approve: bool = False
    dry_run: bool = False
    policy: str = "auto"
    time_limit: float | None = 10.0
    """For one plan, all its solves together."""
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        mistakes = list(self._mistakes())
        if mistakes:
            raise BadInput(mistakes)

    def _mistakes(self) -> Iterator[str]:
        positive = {"--every": self.every_s, "--memory": self.memory_s, "--time-limit": self.time_limit}
        for option, value in positive.items():
            if value is not None and not 0 < value < 1e9:
                yield f"{option}: {value:g} is not a number of seconds above 0"
        lasting = {"--cool-down": self.cool_down_s, "--distrust": self.distrust_s}
        for option, value in lasting.items():
            if not 0 <= value < 1e9:
                yield f"{option}: {value:g} is not a number of seconds of at least 0"
        prices = {"--move-price": self.move_price, "--state-price": self.state_price}
        for option, value in {**prices, "--tolerance": self.tolerance}.items():
            if not 0 <= value < math.inf:
                yield f"{option}: {value:g} is not a number of at least 0"
        if not 0 <= self.min_gain < 1:
            yield f"--min-gain: {self.min_gain:g} is not a share from 0 to below 1"
        if self.confirmations < 1:
            yield f"--confirmations: {self.confirmations} is below 1"
        if self.max_moves is not None and self.max_moves < 0:
            yield f"--max-moves: {self.max_moves} is below 0"

    @property
    def memory(self) -> float:
        """How old telemetry may be, in seconds."""
        return LOOKS_REMEMBERED * self.every_s if self.memory_s is None else self.memory_s

    def price(self, instances: int, state_bytes: float) -> float:
        """The gain that moving so much must bring, before anything is won."""
        return self.move_price * instances + self.state_price * state_bytes / GIGABYTE
