"""Lines in text: strokes on a grid, and the box-drawing characters that show them.

Where lines touch, they join. A line that only passes another one is interrupted and goes on behind it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from berth.drawing.tracks import Net

LIGHT, HEAVY = 1, 2

CHARACTERS = " ╴╸╷┐┑╻┒┓╶─╾┌┬┭┎┰┱╺╼━┍┮┯┏┲┳╵┘┙│┤┥╽┧┪└┴┵├┼┽┟╁╅┕┶┷┝┾┿┢╆╈╹┚┛╿┦┩┃┨┫┖┸┹┞╀╃┠╂╉┗┺┻┡╄╇┣╊╋"
"""By the four weights, read as the digits of a number to the base of 3."""


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
