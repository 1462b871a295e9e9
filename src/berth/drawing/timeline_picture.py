"""A timeline as a picture: where everything ran, when it moved, and what that was worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from matplotlib.path import Path

from berth.amounts import byte_rate, cut
from berth.drawing.charts import MOST_VALUES, NOTE_SIZE, PLOT_WIDTH, TimePanel, value_ticks
from berth.drawing.palette import node_colour, text_colour
from berth.drawing.paper import (
    INK,
    LINE_SIZE,
    MARGIN,
    TITLE_HEIGHT,
    Format,
    Paper,
    Point,
    picture_file,
    text_width,
)
from berth.evaluation import metric_text

NAME_SIZE = 8.0
NARROWEST_NAMES = 70.0
HIGH_LANE, LOW_LANE, MANY_LANES = 21.0, 13.0, 14
"""Lanes are low where there are many."""
LABEL_HEIGHT, MOST_LABEL_ROWS = 12.0, 4
VALUE_HEIGHT, RATE_HEIGHT = 120.0, 70.0
LEGEND_HEIGHT = 18.0
MOST_CHARACTERS = 28
PAUSE = "#ececec"
LOST = "#d00000"
ACHIEVED, PROMISED, RATE = "#0072b2", "#d55e00", "#009e73"


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


def draw_timeline(timeline: Timeline, file_format: Format) -> bytes:
    """Draw a timeline as a PNG or SVG file; the same timeline gives the same bytes.

    Raises:
        ValueError: the format is neither `png` nor `svg`.
    """
    return picture_file(_Picture(timeline).drawn, file_format)


class _Picture:
    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._length = max(timeline.length, 1.0)
        self._colours = {name: node_colour(number) for number, name in enumerate(timeline.nodes)}
        self._lane_height = HIGH_LANE if len(timeline.lanes) <= MANY_LANES else LOW_LANE
        self._lost = list(dict.fromkeys(loss.node for loss in timeline.losses))
        names = [*(lane.name for lane in timeline.lanes), *(f"node {node}" for node in self._lost)]
        widest = max((text_width(cut(name, MOST_CHARACTERS), NAME_SIZE) for name in names), default=0.0)
        self._left = MARGIN + max(widest, NARROWEST_NAMES) + 10.0

    def drawn(self) -> Paper:
        timeline = self._timeline
        legend = self._legend_rows()
        labels_top = TITLE_HEIGHT + LEGEND_HEIGHT * len(legend) + 8.0
        labels = self._labels()
        # too many to name them all: those of further rows get no label
        label_rows = min(max((row for _, _, row in labels), default=-1), MOST_LABEL_ROWS) + 1
        height = self._lane_height * (len(timeline.lanes) + len(self._lost))
        lanes = TimePanel(
            self._left, labels_top + LABEL_HEIGHT * label_rows + 4.0, PLOT_WIDTH, height, self._length
        )
        values = lanes.below(VALUE_HEIGHT)
        rates = values.below(RATE_HEIGHT)
        right = max(self._left + PLOT_WIDTH, MARGIN + text_width(timeline.line, LINE_SIZE))
        paper = Paper(right + MARGIN, rates.bottom + 2 * MARGIN)
        paper.title(timeline.title, timeline.line)
        self._draw_legend(paper, legend)
        for panel in (lanes, values, rates):
            panel.draw_times(paper)
        rates.write_times(paper)
        self._draw_moves(paper, (lanes, values, rates), labels_top, labels)
        self._draw_lanes(paper, lanes)
        self._draw_losses(paper, lanes)
        self._draw_values(paper, values)
        self._draw_rates(paper, rates)
        return paper

    # which colour is which node

    def _legend_rows(self) -> list[list[str]]:
        """The nodes that ever ran anything, in rows that fit."""
        used = {node for lane in self._timeline.lanes for stay in lane.stays for node in stay.nodes}
        rows: list[list[str]] = []
        room = 0.0
        for node in (node for node in self._timeline.nodes if node in used):
            width = 26.0 + text_width(cut(node, MOST_CHARACTERS), NAME_SIZE)
            if room < width:
                rows.append([])
                room = PLOT_WIDTH
            rows[-1].append(node)
            room -= width
        return rows

    def _draw_legend(self, paper: Paper, rows: list[list[str]]) -> None:
        for number, row in enumerate(rows):
            x, y = self._left, TITLE_HEIGHT + LEGEND_HEIGHT * number + 6.0
            for node in row:
                name = cut(node, MOST_CHARACTERS)
                paper.block((x, y - 5.0), (10.0, 10.0), self._colours[node])
                paper.write((x + 14.0, y), name, NAME_SIZE)
                x += 26.0 + text_width(name, NAME_SIZE)

    # moves

    def _labels(self) -> list[tuple[str, float, int]]:
        """The words of every move, the middle of its label, and the label's row."""
        texts = [f"{number}: {move.label}" for number, move in enumerate(self._timeline.moves, start=1)]
        halves = [text_width(text, NOTE_SIZE) / 2.0 for text in texts]
        middles = []
        for move, half in zip(self._timeline.moves, halves, strict=True):
            middle = self._left + PLOT_WIDTH * min(max(move.time / self._length, 0.0), 1.0)
            middles.append(min(max(middle, self._left + half), self._left + PLOT_WIDTH - half))
        spans = [(middle - half, middle + half) for middle, half in zip(middles, halves, strict=True)]
        return list(zip(texts, middles, rows_for(spans, 6.0), strict=True))

    def _draw_moves(
        self,
        paper: Paper,
        panels: Sequence[TimePanel],
        labels_top: float,
        labels: Sequence[tuple[str, float, int]],
    ) -> None:
        lanes = panels[0]
        for move, (text, middle, row) in zip(self._timeline.moves, labels, strict=True):
            x = lanes.x(move.time)
            colour = LOST if move.back else INK
            for panel in panels:
                start = panel.x(move.time - move.pause)
                paper.block((start, panel.top), (x - start, panel.height), PAUSE, level=0.4)
                # behind the bars: what doesn't move isn't cut
                paper.line((x, panel.top), (x, panel.bottom), 0.7, colour, level=1.5)
            if row < MOST_LABEL_ROWS:
                y = labels_top + LABEL_HEIGHT * (row + 0.5)
                paper.line((x, y + 4.0), (x, lanes.top), 0.5, colour, level=1.0)
                paper.write((middle, y), text, NOTE_SIZE, colour=colour, across="center", behind="plate")

    # lanes

    def _draw_lanes(self, paper: Paper, panel: TimePanel) -> None:
        for number, lane in enumerate(self._timeline.lanes):
            top = panel.top + self._lane_height * number
            middle = top + self._lane_height / 2.0
            name = cut(lane.name, MOST_CHARACTERS)
            paper.write((panel.left - 8.0, middle), name, NAME_SIZE, across="right")
            for stay in lane.stays:
                self._draw_stay(paper, panel, top, stay)
            self._draw_leavings(paper, panel, middle, lane)

    def _draw_stay(self, paper: Paper, panel: TimePanel, top: float, stay: Stay) -> None:
        left, right = panel.x(stay.begin), panel.x(stay.end)
        height = self._lane_height - 3.0
        counts = Counter(stay.nodes)
        shares = [(node, counts[node] / len(stay.nodes)) for node in self._timeline.nodes if node in counts]
        y = top + 1.5
        for node, share in shares:
            paper.block((left, y), (right - left, height * share), self._colours[node])
            y += height * share
        names = [node if counts[node] == 1 else f"{node} x{counts[node]}" for node, _ in shares]
        text = ", ".join(names)
        if text_width(text, NOTE_SIZE) + 8.0 > right - left:
            return
        colours = {text_colour(self._colours[node]) for node, _ in shares}
        one_colour = colours.pop() if len(colours) == 1 else INK
        middle = (left + right) / 2.0, top + self._lane_height / 2.0
        behind: Literal["nothing", "halo"] = "nothing" if len(shares) == 1 else "halo"
        paper.write(middle, text, NOTE_SIZE, colour=one_colour, across="center", behind=behind)

    def _draw_leavings(self, paper: Paper, panel: TimePanel, middle: float, lane: Lane) -> None:
        """A cross where a lane's node died under it."""
        for loss in self._timeline.losses:
            stay = next((each for each in lane.stays if each.begin <= loss.time <= each.end), None)
            if stay is not None and loss.node in stay.nodes:
                _cross(paper, (panel.x(loss.time), middle), self._lane_height / 5.0)

    def _draw_losses(self, paper: Paper, panel: TimePanel) -> None:
        """A lane for every node that died: a cross, and a dashed line until it was back."""
        for number, node in enumerate(self._lost, len(self._timeline.lanes)):
            middle = panel.top + self._lane_height * (number + 0.5)
            name = cut(f"node {node}", MOST_CHARACTERS)
            paper.write((panel.left - 8.0, middle), name, NAME_SIZE, across="right", colour=LOST)
            for loss in self._timeline.losses:
                if loss.node != node:
                    continue
                start = panel.x(loss.time)
                end = panel.right if loss.back is None else panel.x(loss.back)
                away = Path([(start, middle), (end, middle)])
                paper.curve(away, 1.0, LOST, heads="-", dashed=True, level=3.0)
                _cross(paper, (start, middle), self._lane_height / 5.0)
                if loss.back is not None:
                    paper.disc((end, middle), 3.0, "white", LOST, level=4.5)

    # curves

    def _draw_values(self, paper: Paper, panel: TimePanel) -> None:
        timeline = self._timeline
        panel.write_heading(paper, timeline.value_name)
        shown = [value for _, value in (*timeline.achieved, *timeline.promised)]
        if not shown:
            panel.write_nothing(paper, "not known yet", NAME_SIZE)
            return

        def text(value: float) -> str:
            return metric_text(timeline.value_key or "", value)

        y = panel.draw_values(paper, value_ticks(shown, MOST_VALUES), text)
        # each plan has a curve of its own
        self._curve(paper, panel, y, timeline.achieved, ACHIEVED, [move.time for move in timeline.moves])
        for time, value in timeline.promised:
            _diamond(paper, (panel.x(time), y(value)), 4.0, PROMISED)
        key = {"achieved": lambda place: paper.disc(place, 2.4, ACHIEVED, ACHIEVED)}
        if timeline.promised:
            key["promised"] = lambda place: _diamond(paper, place, 3.5, PROMISED)
        panel.write_key(paper, key, 10.0)

    def _draw_rates(self, paper: Paper, panel: TimePanel) -> None:
        panel.write_heading(paper, "rate of the sources")
        rates = self._timeline.rates
        if not rates:
            panel.write_nothing(paper, "not measured yet", NAME_SIZE)
            return
        ticks = value_ticks([0.0, *(value for _, value in rates)], MOST_VALUES)
        y = panel.draw_values(paper, ticks, byte_rate)
        self._curve(paper, panel, y, rates, RATE)

    def _curve(
        self,
        paper: Paper,
        panel: TimePanel,
        y: Callable[[float], float],
        points: Sequence[tuple[float, float]],
        colour: str,
        broken_at: Sequence[float] = (),
    ) -> None:
        for (begin, before), (end, after) in pairwise(points):
            if not any(begin < time <= end for time in broken_at):
                paper.line((panel.x(begin), y(before)), (panel.x(end), y(after)), 1.4, colour, level=2.0)
        # dots that touch are no dots
        if len(points) * 5.0 <= PLOT_WIDTH:
            for time, value in points:
                paper.disc((panel.x(time), y(value)), 2.0, colour, "white", level=2.5)


def _cross(paper: Paper, middle: Point, size: float) -> None:
    x, y = middle
    for width, colour in ((3.6, "white"), (2.0, LOST)):
        paper.line((x - size, y - size), (x + size, y + size), width, colour, level=4.6)
        paper.line((x - size, y + size), (x + size, y - size), width, colour, level=4.6)


def _diamond(paper: Paper, middle: Point, size: float, colour: str) -> None:
    x, y = middle
    corners = [(x, y - size), (x + size, y), (x, y + size), (x - size, y), (x, y - size)]
    paper.curve(Path(corners), 1.3, colour, heads="-", level=3.0)


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
