"""Where an application's operators and streams go on paper, in points.

Layers follow each other from left to right. A graph that is too wide goes on below, in another band: a
stream that comes to the end of a band begins the next one at the height of the vertex that it goes to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from berth.drawing.layout import Layout, arrange

Point = tuple[float, float]
Step = tuple[Point, Point]
"""A part of a stream between two layers."""

BETWEEN_BOXES = 16
BETWEEN_BANDS = 40.0
WIDEST_BAND = 1000.0
WAYPOINT_HEIGHT = 10.0
BAND_END = 22.0
"""How far streams go on at the end of a band, and begin before the next one."""


@dataclass(frozen=True)
class Column:
    """A layer's place: its band, and the left and right end of its boxes."""

    band: int
    left: float
    right: float


class GraphGeometry:
    """Places for boxes of known sizes."""

    def __init__(self, layout: Layout, sizes: Sequence[Point], rooms: Sequence[float]) -> None:
        """Find the places.

        Args:
            layout: the graph.
            sizes: width and height of every operator's box.
            rooms: what every layer needs to its right for streams.
        """
        self._layout = layout
        self._layer_of = {vertex: number for number, layer in enumerate(layout.layers) for vertex in layer}
        self._heights = [height for _, height in sizes]
        self._heights += [WAYPOINT_HEIGHT] * (len(self._layer_of) - len(sizes))
        halves = [round(height / 2.0) for height in self._heights]
        self._down = arrange(layout, halves, halves, BETWEEN_BOXES)
        self._columns = _columns(layout, [width for width, _ in sizes], rooms)
        self._shifts, self.height = self._band_shifts()
        self.width = max(column.right + self._beyond(number) for number, column in enumerate(self._columns))

    def _band_shifts(self) -> tuple[list[float], float]:
        """What to add to the heights in every band, and the height of all bands together."""
        shifts: list[float] = []
        bottom = -BETWEEN_BANDS
        for band in range(self._columns[-1].band + 1):
            numbers = [number for number, column in enumerate(self._columns) if column.band == band]
            # what the streams at the end of the band go to gives their heights there
            layers = self._layout.layers[numbers[0] : numbers[-1] + 2]
            vertices = [vertex for layer in layers for vertex in layer]
            top = min(self._down[vertex] - self._heights[vertex] / 2.0 for vertex in vertices)
            low = max(self._down[vertex] + self._heights[vertex] / 2.0 for vertex in vertices)
            shifts.append(bottom + BETWEEN_BANDS - top)
            bottom += BETWEEN_BANDS + low - top
        return shifts, bottom

    def _beyond(self, layer: int) -> float:
        return BAND_END if self._ends_band(layer) else 0.0

    def _ends_band(self, layer: int) -> bool:
        return layer + 1 < len(self._columns) and self._columns[layer + 1].band > self._columns[layer].band

    def box(self, operator: int) -> tuple[Point, Point]:
        """The upper left corner and the size of an operator's box; a layer's boxes are equally wide."""
        column = self._columns[self._layer_of[operator]]
        height = self._heights[operator]
        top = self._height_in(operator, column.band) - height / 2.0
        return (column.left, top), (column.right - column.left, height)

    def _height_in(self, vertex: int, band: int) -> float:
        return self._down[vertex] + self._shifts[band]

    def pieces(self, stream: int) -> list[list[Step]]:
        """The steps of a stream, in one piece for every band that it is in."""
        pieces: list[list[Step]] = [[]]
        for here, there in pairwise(self._layout.routes[stream]):
            before, after = (self._columns[self._layer_of[vertex]] for vertex in (here, there))
            start = before.right, self._height_in(here, before.band)
            end = after.left, self._height_in(there, after.band)
            if after.band == before.band:
                pieces[-1].append((start, end))
            else:
                pieces[-1].append((start, (before.right + BAND_END, self._height_in(there, before.band))))
                pieces.append([((after.left - BAND_END, end[1]), end)])
        return pieces


def _columns(layout: Layout, widths: Sequence[float], rooms: Sequence[float]) -> list[Column]:
    """Layers side by side; where that is too wide, in bands of about the same width."""
    boxes = [
        max((widths[vertex] for vertex in layer if vertex < layout.operators), default=0.0)
        for layer in layout.layers
    ]
    whole = sum(boxes) + sum(rooms)
    widest = whole / math.ceil(whole / WIDEST_BAND) + max(boxes)
    columns: list[Column] = []
    band, left = 0, 0.0
    for width, room in zip(boxes, rooms, strict=True):
        if left + width > widest:
            band, left = band + 1, BAND_END
        columns.append(Column(band, left, left + width))
        left += width + room
    return columns
