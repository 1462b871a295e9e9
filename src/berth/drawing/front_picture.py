"""A front as a picture: a point for each plan, numbered as its file is, with the knee marked."""

from __future__ import annotations

from matplotlib.path import Path

from berth.drawing.charts import HEADING_SIZE, NOTE_SIZE, value_ticks
from berth.drawing.paper import (
    INK,
    MARGIN,
    PALE,
    SOFT,
    Format,
    Panel,
    Paper,
    Point,
    picture_file,
    text_width,
    title_width,
)
from berth.evaluation import METRIC_BY_NAME, metric_text
from berth.model.front import Front

TOP, LEFT, BELOW = 84.0, 96.0, 46.0
WIDTH, HEIGHT = 600.0, 360.0
MOST_TICKS = 6
RADIUS, RING = 4.0, 8.5
BLUE, ORANGE = "#0072b2", "#d55e00"
CROWDED = 11.0
"""Points nearer than this to one that has its number written have none."""


def draw_front(front: Front, file_format: Format) -> bytes:
    """Draw a front that has points as a PNG or SVG file; the same front gives the same bytes.

    Raises:
        ValueError: the format is neither `png` nor `svg`.
    """
    return picture_file(_Picture(front).drawn, file_format)


class _Picture:
    def __init__(self, front: Front) -> None:
        self._front = front
        self._panel = Panel(LEFT, TOP, WIDTH, HEIGHT)
        self._ticks = [
            value_ticks([point.values[side] for point in front.points], MOST_TICKS) for side in (0, 1)
        ]

    def drawn(self) -> Paper:
        first, second = (name.replace("_", " ") for name in self._front.objectives)
        title, line = f"{self._front.problem}: {first} and {second}", self._line()
        width = max(self._panel.right, MARGIN + title_width(title, line)) + MARGIN
        paper = Paper(width, self._panel.bottom + BELOW)
        paper.title(title, line)
        self._draw_axes(paper, first, second)
        self._draw_steps(paper)
        self._draw_points(paper)
        self._write_key(paper)
        return paper

    def _line(self) -> str:
        """How many points there are, and how many of their plans are warned of something."""
        warned, count = self._front.warned, len(self._front.points)
        if not warned:
            return self._front.line
        points = "every point" if warned == count else f"{warned} of {count}"
        return f"{self._front.line} · warnings for {points}"

    def _place(self, values: Point) -> Point:
        """Where a pair of values is on the paper."""
        shares = [
            (value - ticks[0]) / (ticks[-1] - ticks[0])
            for value, ticks in zip(values, self._ticks, strict=True)
        ]
        return self._panel.left + shares[0] * WIDTH, self._panel.bottom - shares[1] * HEIGHT

    def _draw_axes(self, paper: Paper, first: str, second: str) -> None:
        panel, (across, up) = self._panel, self._ticks
        keys = [METRIC_BY_NAME[name].key for name in self._front.objectives]
        for tick in across:
            x, _ = self._place((tick, up[0]))
            paper.line((x, panel.top), (x, panel.bottom), 0.5, PALE, level=0.5)
            text = metric_text(keys[0], tick)
            paper.write((x, panel.bottom + 11.0), text, NOTE_SIZE, across="center", colour=SOFT)
        for tick in up:
            _, y = self._place((across[0], tick))
            paper.line((panel.left, y), (panel.right, y), 0.5, PALE, level=0.5)
            paper.write(
                (panel.left - 8.0, y), metric_text(keys[1], tick), NOTE_SIZE, across="right", colour=SOFT
            )
        paper.write((panel.left, panel.top - 14.0), second, HEADING_SIZE, bold=True, colour=SOFT)
        below = panel.right, panel.bottom + 29.0
        paper.write(below, first, HEADING_SIZE, bold=True, colour=SOFT, across="right")

    def _draw_steps(self, paper: Paper) -> None:
        """What can be had of the second metric for so much of the first, and the line between both ends."""
        points = self._front.points
        places = [self._place(points[0].values)]
        for point in points[1:]:
            place = self._place(point.values)
            places += [(place[0], places[-1][1]), place]
        if len(points) > 1:
            paper.curve(Path(places), 1.2, BLUE, heads="-", level=1.5)
            paper.curve(Path([places[0], places[-1]]), 0.8, SOFT, heads="-", dashed=True, level=1.2)

    def _draw_points(self, paper: Paper) -> None:
        numbered: list[Point] = []
        for number, point in enumerate(self._front.points, start=1):
            x, y = self._place(point.values)
            if point.knee:
                paper.disc((x, y), RING, "white", ORANGE, level=2.5)
                self._name_knee(paper, number)
            paper.disc((x, y), RADIUS, BLUE if point.proved else "white", BLUE)
            near = any(abs(x - left) < CROWDED and abs(y - top) < CROWDED for left, top in numbered)
            if not point.knee and not near and not self._hides_another(x, y, str(number)):
                numbered.append((x, y))
                paper.write((x + 7.0, y - 8.0), str(number), NOTE_SIZE, colour=SOFT, behind="halo")

    def _hides_another(self, x: float, y: float, text: str) -> bool:
        """Whether a number above and to the right of a point would lie on another point."""
        right = x + 7.0 + text_width(text, NOTE_SIZE) + RADIUS
        places = (self._place(point.values) for point in self._front.points)
        return any(
            x + 7.0 - RADIUS < left < right and abs(top - (y - 8.0)) < NOTE_SIZE / 2 + RADIUS
            for left, top in places
        )

    def _name_knee(self, paper: Paper, number: int) -> None:
        """Its number and values, on the side where the front is not."""
        point = self._front.points[number - 1]
        keys = [METRIC_BY_NAME[name].key for name in self._front.objectives]
        values = ", ".join(metric_text(key, value) for key, value in zip(keys, point.values, strict=True))
        text = f"{number}, the knee: {values}"
        x, y = self._place(point.values)
        ends = [self._place(self._front.points[end].values) for end in (0, -1)]
        middle = ends[0][0] + ends[1][0], ends[0][1] + ends[1][1]
        left, above = 2 * x < middle[0], 2 * y < middle[1]
        width, room = text_width(text, NOTE_SIZE, bold=True), 14.0
        fits_left = x - room - width > self._panel.left
        fits_right = x + room + width < self._panel.right
        left = fits_left and (left or not fits_right)
        side = -room if left else room
        place = x + side, y + (-room if above else room)
        paper.write(
            place, text, NOTE_SIZE, bold=True, colour=INK, across="right" if left else "left", behind="plate"
        )

    def _write_key(self, paper: Paper) -> None:
        """What the points' looks mean, where both are there."""
        proofs = {point.proved for point in self._front.points}
        x, y = self._panel.right, self._panel.top - 14.0
        for proved in sorted(proofs):
            text = "proved" if proved else "found, not proved"
            x -= text_width(text, NOTE_SIZE)
            paper.write((x, y), text, NOTE_SIZE, colour=SOFT)
            x -= 10.0
            paper.disc((x, y), RADIUS, BLUE if proved else "white", BLUE)
            x -= 18.0
