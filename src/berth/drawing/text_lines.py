"""The lines of a text drawing: which there are between two layers, and the characters that show them.

Senders with the same receivers share a net: a vertical line on a track of its own that all of them reach
from the left and all the receivers from the right. A drawing is clear when no horizontal part of a net
lies on that of another one that it has nothing to do with. Where lines touch, they join. A line that only
passes another one is interrupted and goes on behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from graphlib import CycleError, TopologicalSorter

LIGHT, HEAVY = 1, 2
CHARACTERS = " ╴╸╷┐┑╻┒┓╶─╾┌┬┭┎┰┱╺╼━┍┮┯┏┲┳╵┘┙│┤┥╽┧┪└┴┵├┼┽┟╁╅┕┶┷┝┾┿┢╆╈╹┚┛╿┦┩┃┨┫┖┸┹┞╀╃┠╂╉┗┺┻┡╄╇┣╊╋"
"""By the four weights, read as the digits of a number to the base of 3."""


@dataclass(frozen=True)
class Net:
    """Every one of the senders sends to every one of the receivers."""

    senders: tuple[int, ...]
    receivers: tuple[int, ...]

    def span(self, rows: Mapping[int, int]) -> tuple[int, int]:
        """The highest and the lowest row that it reaches."""
        reached = [rows[vertex] for vertex in (*self.senders, *self.receivers)]
        return min(reached), max(reached)


def nets_between(layer: Sequence[int], after: Mapping[int, list[int]]) -> list[Net]:
    """The nets to the right of a layer."""
    senders: dict[tuple[int, ...], list[int]] = {}
    for vertex in layer:
        if after[vertex]:
            senders.setdefault(tuple(sorted(after[vertex])), []).append(vertex)
    return [Net(tuple(group), receivers) for receivers, group in senders.items()]


def tracks(nets: Sequence[Net], rows: Mapping[int, int]) -> list[int | None] | None:
    """The track of every net, from the left; None for one on a single row.

    Nothing at all where the rows don't allow a clear drawing.
    """
    left_of = {number: _ending_before(nets, number, rows) for number in _by_direction(nets, rows)}
    try:
        order = list(TopologicalSorter(left_of).static_order())
    except CycleError:
        return None
    found: list[int | None] = [None] * len(nets)
    taken: list[list[tuple[int, int]]] = []
    for number in order:
        high, low = nets[number].span(rows)
        if high < low:
            left = [track for other in left_of[number] if (track := found[other]) is not None]
            found[number] = _free_track(taken, max(left, default=-1) + 1, high, low)
    return found


def _ending_before(nets: Sequence[Net], number: int, rows: Mapping[int, int]) -> list[int]:
    """The nets that must be to the left of one.

    A sender's line ends at its net's track. A net that goes on to a receiver on the same row must begin
    to the right of that, unless the sender sends there, too, and to nobody else that the net doesn't.
    """
    entered = {rows[receiver]: receiver for receiver in nets[number].receivers}
    return [
        other
        for other, ending in enumerate(nets)
        if other != number
        and any(
            rows[sender] in entered
            and not ({entered[rows[sender]]} <= set(ending.receivers) <= set(nets[number].receivers))
            for sender in ending.senders
        )
    ]


def _by_direction(nets: Sequence[Net], rows: Mapping[int, int]) -> list[int]:
    """Nets that go down from the lowest to the highest, then those that go up: so they cross less."""

    def key(number: int) -> tuple[bool, int]:
        senders = [rows[vertex] for vertex in nets[number].senders]
        receivers = [rows[vertex] for vertex in nets[number].receivers]
        up = sum(receivers) / len(receivers) < sum(senders) / len(senders)
        return up, min(senders) if up else -max(senders)

    return sorted(range(len(nets)), key=key)


def _free_track(taken: list[list[tuple[int, int]]], first: int, high: int, low: int) -> int:
    """The leftmost track from the first on where the rows from high to low are free; it takes them."""
    track = first
    while track < len(taken) and any(high <= end + 1 and start <= low + 1 for start, end in taken[track]):
        track += 1
    taken.extend([] for _ in range(len(taken), track + 1))
    taken[track].append((high, low))
    return track


def dodged(
    layer: Sequence[int], rows: Mapping[int, int], heights: Sequence[int], taken: set[int]
) -> dict[int, int]:
    """New rows for a layer, the same or further down, with none of them on a row that is taken."""
    found: dict[int, int] = {}
    free_from = 0
    for vertex in layer:
        row = max(rows[vertex], free_from)
        while row in taken:
            row += 1
        found[vertex] = row
        free_from = row + heights[vertex]
    return found


class Direction(IntEnum):
    """Where from a cell's middle a stroke goes."""

    UP = 0
    RIGHT = 1
    DOWN = 2
    LEFT = 3


class StrokeGrid:
    """The strokes of several nets."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], dict[Net, list[int]]] = {}

    def begin(self, net: Net, row: int, column: int, weight: int) -> None:
        """The left half of a cell, where a horizontal line comes from outside."""
        self._stroke(net, row, column, Direction.LEFT, weight)

    def across(self, net: Net, row: int, start: int, end: int, weight: int) -> None:
        """A horizontal line from the middle of one cell to that of another further right."""
        for column in range(start, end):
            self._stroke(net, row, column, Direction.RIGHT, weight)
            self._stroke(net, row, column + 1, Direction.LEFT, weight)

    def down(self, net: Net, column: int, start: int, end: int, weight: int) -> None:
        """A vertical line from the middle of one cell to that of another, up or down."""
        for row in range(min(start, end), max(start, end)):
            self._stroke(net, row, column, Direction.DOWN, weight)
            self._stroke(net, row + 1, column, Direction.UP, weight)

    def characters(self) -> dict[tuple[int, int], str]:
        """What to print in each cell, by row and column."""
        return {place: CHARACTERS[_number(_visible(nets))] for place, nets in self._cells.items()}

    def _stroke(self, net: Net, row: int, column: int, direction: Direction, weight: int) -> None:
        strokes = self._cells.setdefault((row, column), {}).setdefault(net, [0, 0, 0, 0])
        strokes[direction] = max(strokes[direction], weight)


def _visible(nets: dict[Net, list[int]]) -> list[int]:
    """The strokes to show where several nets share a cell.

    Horizontal lines join a net that turns there if all of them lead to all that the net leads to, too:
    else one would take them to go where they don't. Of two straight lines that cross the heavier one shows.
    """
    level = {net: strokes for net, strokes in nets.items() if not _rises(strokes)}
    rising = {net: strokes for net, strokes in nets.items() if _rises(strokes)}
    if not level or not rising:
        return _together(nets.values())
    if not any(strokes[Direction.RIGHT] or strokes[Direction.LEFT] for strokes in rising.values()):
        return max(_together(rising.values()), _together(level.values()), key=max)
    reached = {receiver for net in rising for receiver in net.receivers}
    joining = all(reached <= set(net.receivers) for net in level)
    return _together((nets if joining else rising).values())


def _rises(strokes: list[int]) -> bool:
    return bool(strokes[Direction.UP] or strokes[Direction.DOWN])


def _together(several: Iterable[list[int]]) -> list[int]:
    return [max(weights) for weights in zip(*several, strict=True)]


def _number(strokes: list[int]) -> int:
    up, right, down, left = strokes
    return ((up * 3 + right) * 3 + down) * 3 + left
