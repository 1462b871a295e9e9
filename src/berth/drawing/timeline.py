"""What happened to a running application over time, as pictures show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TIME_STEPS = (
    *(1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0),
    *(3600.0, 7200.0, 14400.0, 21600.0, 43200.0, 86400.0),
)


@dataclass(frozen=True)
class Stay:
    """A time in which instances ran on nodes, one for each of them."""

    begin: float
    end: float
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Lane:
    """An instance, or all instances of an operator, through time."""

    name: str
    stays: tuple[Stay, ...]


@dataclass(frozen=True)
class Move:
    """A change of plan, with the pause before it."""

    time: float
    pause: float
    label: str
    back: bool = False
    """Whether it went back to the plan before."""


@dataclass(frozen=True)
class Loss:
    """A node that died; None: it has not come back."""

    node: str
    time: float
    back: float | None = None


@dataclass(frozen=True)
class Timeline:
    """Everything in one picture; times are seconds since its beginning."""

    title: str
    line: str
    length: float
    nodes: tuple[str, ...]
    """All nodes of the problem, in its order: a node's colour is the same in every picture."""
    lanes: tuple[Lane, ...]
    moves: tuple[Move, ...] = ()
    losses: tuple[Loss, ...] = ()
    value_name: str = "objective"
    value_key: str | None = None
    """The metric's key, which tells its unit."""
    achieved: tuple[tuple[float, float], ...] = ()
    promised: tuple[tuple[float, float], ...] = ()
    rates: tuple[tuple[float, float], ...] = ()
    """Bytes per second that the sources send."""


def time_ticks(length: float, most: int) -> list[float]:
    """Round times from 0 on, at most so many."""
    step = next((step for step in TIME_STEPS if length / step <= most), None)
    if step is None:
        days = TIME_STEPS[-1]
        step = days * -(-length // (days * most))
    return [number * step for number in range(int(length / step) + 1)]


def time_text(seconds: float) -> str:
    """A time as people read it: 30 s, 1:30 min, 2:00 h, 3 d."""
    if seconds < 60:
        return f"{seconds:g} s"
    if seconds < 3600:
        return f"{int(seconds // 60)}:{int(seconds % 60):02d} min"
    if seconds < 86400:
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02d} h"
    return f"{seconds / 86400:.3g} d"


def value_ticks(values: Sequence[float], most: int) -> list[float]:
    """Round values around some values: the first is not above the least, the last not below the largest."""
    low, high = min(values), max(values)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = (0.0, high) if high > 0 else (low, low + 1.0)
    step = _round_up((high - low) / most)
    first, last = int(low // step), int(-(-high // step))
    return [number * step for number in range(first, last + 1)]


def _round_up(step: float) -> float:
    """The least of 1, 2, 5, 10, 20, ... (and 0.5, 0.2, ...) that is not below a step."""
    power = 1.0
    while power > step:
        power /= 10.0
    while power * 10.0 <= step:
        power *= 10.0
    return next(power * factor for factor in (1.0, 2.0, 5.0, 10.0) if power * factor >= step * (1 - 1e-9))


def rows_for(spans: Sequence[tuple[float, float]], gap: float) -> list[int]:
    """The row of each of some labels, so that none in one row comes closer to another than a gap."""
    ends: list[float] = []
    rows = []
    for left, right in spans:
        row = next((number for number, end in enumerate(ends) if left >= end + gap), len(ends))
        if row == len(ends):
            ends.append(right)
        ends[row] = right
        rows.append(row)
    return rows
