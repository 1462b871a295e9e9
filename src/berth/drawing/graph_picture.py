"""An application's graph on paper: operators as boxes in the colours of their nodes.

Layers follow each other from left to right. A graph that is too wide goes on below, in another band: a
stream that comes to the end of a band begins the next one at the height of the vertex that it goes to.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.path import Path

from berth.amounts import byte_rate, cut
from berth.drawing.layout import Layout, arrange, layered
from berth.drawing.palette import node_colour, text_colour
from berth.drawing.paper import INK, SOFT, Paper, Point, text_width
from berth.drawing.views import ApplicationView, OperatorView

Step = tuple[Point, Point]
"""A part of a stream between two layers."""

BETWEEN_BOXES = 16
BETWEEN_BANDS = 40.0
WIDEST_BAND = 1000.0
WAYPOINT_HEIGHT = 10.0
BAND_END = 22.0
"""How far streams go on at the end of a band, and begin before the next one."""
HEADING_SIZE, NAME_SIZE, HOST_SIZE, RATE_SIZE = 10.0, 9.0, 8.0, 6.8
HEADING_HEIGHT, NAME_HEIGHT, HOST_HEIGHT = 26.0, 19.0, 14.0
PADDING = 8.0
SHORTEST_STREAM = 34.0
MOST_STRIPES = 5
MOST_CHARACTERS = 30
NO_NODE = "#f2f2f2"


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


class GraphPicture:
    """A graph that knows its size before it is drawn."""

    def __init__(self, view: ApplicationView, node_names: Sequence[str]) -> None:
        self.view = view
        self._stripes = [_stripes(operator, node_names) for operator in view.operators]
        layout = layered(len(view.operators), view.edges)
        rooms = [_room_after(view, layout, layer) for layer in layout.layers]
        sizes = [_box_size(*item) for item in zip(view.operators, self._stripes, strict=True)]
        self._geometry = GraphGeometry(layout, sizes, rooms)
        self._outputs = Counter(stream.sender for stream in view.streams)

    @property
    def width(self) -> float:
        """In points."""
        return max(self._geometry.width, text_width(self.view.name, HEADING_SIZE, bold=True))

    @property
    def height(self) -> float:
        """In points, with the heading."""
        return HEADING_HEIGHT + self._geometry.height

    def draw(self, paper: Paper, corner: Point) -> None:
        """Draw it with its upper left corner at a place."""
        paper.write((corner[0], corner[1] + 7.0), self.view.name, HEADING_SIZE, bold=True, colour=SOFT)
        origin = corner[0], corner[1] + HEADING_HEIGHT
        for number in range(len(self.view.streams)):
            self._draw_stream(paper, origin, number)
        for number in range(len(self.view.operators)):
            self._draw_operator(paper, origin, number)

    def _draw_operator(self, paper: Paper, origin: Point, number: int) -> None:
        operator, stripes = self.view.operators[number], self._stripes[number]
        corner, size = self._geometry.box(number)
        left, top = _moved(corner, origin)
        heights = [(HOST_HEIGHT, fill) for _, fill in stripes]
        line, colour = (2.2, INK) if operator.critical else (0.8, SOFT)
        paper.card((left, top), size, heights, line, colour)
        middle = left + size[0] / 2.0
        paper.write(
            (middle, top + NAME_HEIGHT / 2.0), _title(operator), NAME_SIZE, bold=True, across="center"
        )
        for position, (text, fill) in enumerate(stripes):
            place = middle, top + NAME_HEIGHT + (position + 0.5) * HOST_HEIGHT - 0.5
            paper.write(place, text, HOST_SIZE, colour=text_colour(fill), across="center")

    def _draw_stream(self, paper: Paper, origin: Point, number: int) -> None:
        stream = self.view.streams[number]
        width, colour, level = (2.4, INK, 2.5) if stream.critical else (1.0, SOFT, 2.0)
        *others, last = [
            [(_moved(start, origin), _moved(end, origin)) for start, end in piece]
            for piece in self._geometry.pieces(number)
        ]
        for piece in others:
            paper.curve(_through(piece), width, colour, heads="-", level=level)
        paper.curve(_through(last), width, colour, level=level)
        if not math.isnan(stream.bytes_per_s):
            first = (others or [last])[0]
            _write_rate(
                paper, stream.bytes_per_s, first[0] if self._outputs[stream.sender] == 1 else last[-1]
            )


def _moved(point: Point, by: Point) -> Point:
    return point[0] + by[0], point[1] + by[1]


def _write_rate(paper: Paper, bytes_per_s: float, step: Step) -> None:
    """Write a rate at a part of its stream: above a level one, or else on it."""
    (left, start), (right, end) = step
    middle, height = (left + right) / 2.0 - 2.0, (start + end) / 2.0
    text = byte_rate(bytes_per_s)
    if start == end:
        paper.write((middle, height - 6.5), text, RATE_SIZE, colour=SOFT, across="center")
    else:
        paper.write((middle, height), text, RATE_SIZE, colour=SOFT, across="center", behind="plate")


def _box_size(operator: OperatorView, stripes: list[tuple[str, str]]) -> Point:
    texts = [text_width(_title(operator), NAME_SIZE, bold=True)]
    texts += [text_width(text, HOST_SIZE) for text, _ in stripes]
    return max(texts) + 2 * PADDING, NAME_HEIGHT + HOST_HEIGHT * len(stripes)


def _room_after(view: ApplicationView, layout: Layout, layer: Sequence[int]) -> float:
    """What the streams to the right of a layer need, with their rates."""
    here = set(layer)
    rates = [
        text_width(byte_rate(stream.bytes_per_s), RATE_SIZE) + 18.0
        for stream, route in zip(view.streams, layout.routes, strict=True)
        if not here.isdisjoint(route[:-1])
    ]
    return max([SHORTEST_STREAM, *rates])


def _through(steps: list[Step]) -> Path:
    """A smooth line through all steps: level at the layers, and straight across those that it passes."""
    points, codes = [steps[0][0]], [Path.MOVETO]
    for start, end in steps:
        if points[-1] != start:
            points.append(start)
            codes.append(Path.LINETO)
        bend = (end[0] - start[0]) * 0.5
        points += [(start[0] + bend, start[1]), (end[0] - bend, end[1]), end]
        codes += [Path.CURVE4] * 3
    return Path(points, codes)


def _title(operator: OperatorView) -> str:
    return cut(operator.title, MOST_CHARACTERS)


def _stripes(operator: OperatorView, node_names: Sequence[str]) -> list[tuple[str, str]]:
    """What to write below the name, each with its background: the nodes, and what else must be said."""
    lines = operator.host_lines(node_names, MOST_STRIPES, lambda name: cut(name, MOST_CHARACTERS))
    stripes = [(text, NO_NODE if node is None else node_colour(node)) for text, node in lines]
    if operator.note:
        stripes.append((cut(operator.note, MOST_CHARACTERS), NO_NODE))
    return stripes
