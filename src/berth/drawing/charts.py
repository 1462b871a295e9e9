"""Curves over time on paper: panels below one another that share an axis of time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from berth.drawing.paper import PALE, SOFT, Panel, Paper
from berth.drawing.timeline import time_text, time_ticks

NOTE_SIZE, HEADING_SIZE = 7.2, 9.0
PLOT_WIDTH = 760.0
BETWEEN_PANELS = 34.0
MOST_TIMES, MOST_VALUES = 10, 4


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

    def draw_values(
        self,
        paper: Paper,
        ticks: Sequence[float],
        text: Callable[[float], str],
        share: Callable[[float], float] | None = None,
    ) -> Callable[[float], float]:
        """Draw the axis of values; gives the height of a value on the paper.

        `share` tells how far up a value is, from 0 at the first tick to 1 at the last one.
        """
        low, high = ticks[0], ticks[-1]
        share_of = share or (lambda value: (value - low) / (high - low))

        def y(value: float) -> float:
            return self.bottom - (self.height - 6.0) * share_of(value)

        for tick in ticks:
            paper.line((self.left, y(tick)), (self.right, y(tick)), 0.5, PALE, level=0.5)
            paper.write((self.left - 8.0, y(tick)), text(tick), NOTE_SIZE, across="right", colour=SOFT)
        return y
