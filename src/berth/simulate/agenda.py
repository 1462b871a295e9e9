"""What will happen beside the tuples' own events, in the order of its time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import count

Happening = Callable[[float], None]

MEASURE, HAPPEN, PLAN = range(3)
"""What comes first of all that happens at one time."""


class Agenda:
    """Times up to an end, with what happens then; what is put in first comes first among equals."""

    def __init__(self, end: float) -> None:
        self._end = end
        self._entries: list[tuple[float, int, int, Happening]] = []
        self._numbers = count()

    def add(self, time: float, rank: int, happen: Happening) -> None:
        """Put something in; what would be at the end or after it never happens."""
        if time < self._end:
            # compiled loops would be compiled once more for times that are whole numbers
            heapq.heappush(self._entries, (float(time), rank, next(self._numbers), happen))

    def __iter__(self) -> Iterator[tuple[float, Happening]]:
        """Take out everything, also what is put in meanwhile."""
        while self._entries:
            time, _, _, happen = heapq.heappop(self._entries)
            yield time, happen
