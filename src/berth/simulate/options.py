"""What a simulation is asked to do, beside the problem and its plan."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args, get_type_hints

Arrivals = Literal["poisson", "regular"]
Service = Literal["exponential", "fixed"]
Processors = Literal["own", "node", "shared"]
Split = Literal["random", "in-turn"]
Fate = Literal["lose", "wait"]

ABOVE_ZERO = ("duration_s", "window_s", "tuple_bytes", "delay_period_s", "mean_repair_s", "replan_every_s")
NOT_BELOW_ZERO = ("warm_up_s", "jitter_ms", "delay_noise", "pause_s", "detect_s")
WINDOWS = 60
MOST_PERIODS = 100_000
MOST_RECORDED = 10_000_000


@dataclass(frozen=True)
class Options:
    """How long, how random, and what machines and networks do."""

    duration_s: float = 60.0
    warm_up_s: float = 0.0
    """What happens before counts for the time series, not for the totals."""
    window_s: float | None = None
    """The time between two points of the series; None: a sixtieth of the duration."""
    seed: int = 0
    arrivals: Arrivals = "poisson"
    service: Service = "exponential"
    processors: Processors = "shared"
    """`shared`: the instances of a node are threads that share its cores; `node`: a node serves as many
    tuples at a time as it has cores, first come, first served; `own`: each instance has its own core."""
    split: Split = "random"
    """How shuffle grouping chooses a receiver, and parts of results become whole ones."""
    tuple_bytes: float = 1000.0
    """The size that is assumed of a source's tuples where the problem has none; a line says so."""
    jitter_ms: float = 0.0
    """Standard deviation of every link's delay, from tuple to tuple."""
    delay_noise: float = 0.0
    """Standard deviation of the delays between nodes as a share of them, drawn anew every period."""
    delay_period_s: float = 10.0
    mean_repair_s: float | None = None
    """With it, nodes fail as their availability says, and are down for so long on average."""
    failures: Fate = "lose"
    """What becomes of tuples at a node that is down."""
    pause_s: float = 0.0
    """How long a migration stops an instance, beside the time that its state needs on the way."""
    detect_s: float = 1.0
    """How long nobody notices a loss; then the plan's failover begins."""
    migrations: Fate = "wait"
    """What becomes of tuples at an instance that is on its way."""
    replan_every_s: float = 10.0
    record: int = 0
    """So many of the first results are kept one by one."""

    def __post_init__(self) -> None:
        mistake = next(self._mistakes(), None)
        if mistake is not None:
            raise ValueError(mistake)

    @property
    def window(self) -> float:
        """The length of a window in seconds."""
        return self.duration_s / WINDOWS if self.window_s is None else self.window_s

    def _mistakes(self) -> Iterator[str]:
        for name in (*ABOVE_ZERO, *NOT_BELOW_ZERO, "record"):
            value = getattr(self, name)
            if value is None:
                continue
            if not math.isfinite(value):
                yield f"{name}: {value} is not a finite number"
            elif name in ABOVE_ZERO and value <= 0:
                yield f"{name}: {value:g} is not above 0"
            elif value < 0:
                yield f"{name}: {value:g} is below 0"
        for name, hint in get_type_hints(type(self)).items():
            choices, value = get_args(hint), getattr(self, name)
            if choices and all(isinstance(item, str) for item in choices) and value not in choices:
                yield f"{name}: expected {' or '.join(choices)}, found {value!r}"
        if self.warm_up_s >= self.duration_s:
            yield f"warm_up_s: {self.warm_up_s:g} is not below the duration, {self.duration_s:g}"
        for name in ("window_s", "mean_repair_s", *(("delay_period_s",) if self.delay_noise else ())):
            value = getattr(self, name)
            if value is not None and self.duration_s / value > MOST_PERIODS:
                yield f"{name}: {value:g} is too short: the duration has more than {MOST_PERIODS:,} of it"
        if self.record > MOST_RECORDED:
            yield f"record: {self.record:,} is above {MOST_RECORDED:,}"
