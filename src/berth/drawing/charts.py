"""Curves over time on paper: panels below one another that share an axis of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from berth.drawing.paper import PALE, SOFT, Panel, Paper, Point, text_width

NOTE_SIZE, HEADING_SIZE = 7.2, 9.0
PLOT_WIDTH = 760.0
BETWEEN_PANELS = 34.0
MOST_TIMES, MOST_VALUES = 10, 4
TIME_STEPS = (
    *(1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0),
    *(3600.0, 7200.0, 14400.0, 21600.0, 43200.0, 86400.0),
)


@dataclass(frozen=True)
class TimePanel(Panel):
    """A part of the paper with time across it."""

    seconds: float

    def x(self, time: float) -> float:
        """Where a time is; what is outside is at the edge."""
        return self.left + self.width * min(max(time / self.seconds, 0.0), 1.0)

    def below(self, height: float) -> TimePanel:
        """The next panel."""
        return TimePanel(self.left, self.bottom + BETWEEN_PANELS, self.width, height, self.seconds)

    def draw_times(self, paper: Paper) -> None:
        """The lines of round times, and the base."""
        for time in time_ticks(self.seconds, MOST_TIMES):
            paper.line((self.x(time), self.top), (self.x(time), self.bottom), 0.5, PALE, level=0.5)
        paper.line((self.left, self.bottom), (self.right, self.bottom), 0.8, SOFT, level=1.2)

    def write_times(self, paper: Paper) -> None:
        """The times, below the last panel."""
        for time in time_ticks(self.seconds, MOST_TIMES):
            place = self.x(time), self.bottom + 11.0
            paper.write(place, time_text(time), NOTE_SIZE, across="center", colour=SOFT)

    def write_heading(self, paper: Paper, text: str) -> None:
        """What the panel shows."""
        paper.write((self.left, self.top - 10.0), text, HEADING_SIZE, bold=True, colour=SOFT)

    def write_nothing(self, paper: Paper, text: str, size: float) -> None:
        """What to say where there is nothing to show."""
        middle = (self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0
        paper.write(middle, text, size, colour=SOFT, across="center", behind="plate")

    def write_key(self, paper: Paper, entries: Mapping[str, Callable[[Point], None]], room: float) -> None:
        """What signs mean, above the panel on the right: words, and what draws a sign before them."""
        x, y = self.right, self.top - 10.0
        for text, draw in reversed(list(entries.items())):
            x -= text_width(text, NOTE_SIZE)
            paper.write((x, y), text, NOTE_SIZE, colour=SOFT)
            x -= room
            draw((x, y))
            x -= 14.0

    def draw_values(
        self, paper: Paper, ticks: Sequence[float], text: Callable[[float], str], by_factors: bool = False
    ) -> Callable[[float], float]:
        """Draw the axis of values; gives the height of a value on the paper.

        From the first tick at the bottom to the last one at the top, equal differences are equally high, or
        equal factors.
        """
        low, high = ticks[0], ticks[-1]

        def y(value: float) -> float:
            if by_factors:
                share = math.log(max(value, low) / low) / math.log(high / low)
            else:
                share = (value - low) / (high - low)
            return self.bottom - (self.height - 6.0) * share

        for tick in ticks:
            paper.line((self.left, y(tick)), (self.right, y(tick)), 0.5, PALE, level=0.5)
            paper.write((self.left - 8.0, y(tick)), text(tick), NOTE_SIZE, across="right", colour=SOFT)
        return y


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
