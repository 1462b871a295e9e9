"""A timeline as a picture: where everything ran, when it moved, and what that was worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

from matplotlib.path import Path

from berth.amounts import byte_rate, cut, metric, quantity
from berth.drawing.charts import MOST_VALUES, NOTE_SIZE, PLOT_WIDTH, TimePanel
from berth.drawing.palette import node_colour, text_colour
from berth.drawing.paper import (
    INK,
    LINE_SIZE,
    MARGIN,
    SOFT,
    TITLE_HEIGHT,
    Format,
    Paper,
    Point,
    picture_file,
    text_width,
)
from berth.drawing.timeline import Lane, Stay, Timeline, rows_for, value_ticks

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
        lost = list(dict.fromkeys(loss.node for loss in timeline.losses))
        self._lost = lost
        names = [cut(lane.name, MOST_CHARACTERS) for lane in timeline.lanes]
        names += [cut(f"node {node}", MOST_CHARACTERS) for node in lost]
        widest = max((text_width(name, NAME_SIZE) for name in names), default=0.0)
        self._left = MARGIN + max(widest, NARROWEST_NAMES) + 10.0

    def drawn(self) -> Paper:
        timeline = self._timeline
        legend = self._legend_rows()
        labels_top = TITLE_HEIGHT + LEGEND_HEIGHT * len(legend) + 8.0
        rows = self._label_rows()
        label_height = LABEL_HEIGHT * (max(rows, default=-1) + 1)
        height = self._lane_height * (len(timeline.lanes) + len(self._lost))
        lanes = TimePanel(self._left, labels_top + label_height + 4.0, PLOT_WIDTH, height, self._length)
        values = lanes.below(VALUE_HEIGHT)
        rates = values.below(RATE_HEIGHT)
        right = max(self._left + PLOT_WIDTH, MARGIN + text_width(timeline.line, LINE_SIZE))
        paper = Paper(right + MARGIN, rates.bottom + 2 * MARGIN)
        paper.title(timeline.title, timeline.line)
        self._draw_legend(paper, legend)
        for panel in (lanes, values, rates):
            panel.draw_times(paper)
        rates.write_times(paper)
        self._draw_moves(paper, (lanes, values, rates), labels_top, rows)
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

    def _label_rows(self) -> list[int]:
        spans = []
        for number, move in enumerate(self._timeline.moves):
            middle = self._left + PLOT_WIDTH * min(move.time / self._length, 1.0)
            half = text_width(self._label(number), NOTE_SIZE) / 2.0
            middle = min(max(middle, self._left + half), self._left + PLOT_WIDTH - half)
            spans.append((middle - half, middle + half))
        rows = rows_for(spans, 6.0)
        if max(rows, default=0) < MOST_LABEL_ROWS:
            return rows
        # too many to name them all: those of the last row get no label
        return [min(row, MOST_LABEL_ROWS) for row in rows]

    def _label(self, number: int) -> str:
        return f"{number + 1}: {self._timeline.moves[number].label}"

    def _draw_moves(
        self, paper: Paper, panels: Sequence[TimePanel], labels_top: float, rows: list[int]
    ) -> None:
        lanes = panels[0]
        for number, move in enumerate(self._timeline.moves):
            x = lanes.x(move.time)
            colour = LOST if move.back else INK
            for panel in panels:
                start = panel.x(move.time - move.pause)
                paper.block((start, panel.top), (x - start, panel.height), PAUSE, level=0.4)
                # behind the bars: what doesn't move isn't cut
                paper.line((x, panel.top), (x, panel.bottom), 0.7, colour, level=1.5)
            if rows[number] >= MOST_LABEL_ROWS:
                continue
            y = labels_top + LABEL_HEIGHT * (rows[number] + 0.5)
            paper.line((x, y + 4.0), (x, lanes.top), 0.5, colour, level=1.0)
            text = self._label(number)
            half = text_width(text, NOTE_SIZE) / 2.0
            middle = min(max(x, lanes.left + half), lanes.right - half)
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
        paper.write(
            middle,
            text,
            NOTE_SIZE,
            colour=one_colour,
            across="center",
            behind="nothing" if len(shares) == 1 else "halo",
        )

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
        key = timeline.value_key
        ticks = value_ticks(shown, MOST_VALUES)
        y = panel.draw_values(
            paper, ticks, lambda value: quantity(value) if key is None else metric(key, value)
        )
        # each plan has a curve of its own
        self._curve(paper, panel, y, timeline.achieved, ACHIEVED, [move.time for move in timeline.moves])
        for time, value in timeline.promised:
            _diamond(paper, (panel.x(time), y(value)), 4.0, PROMISED)
        self._key(
            paper, panel, [("achieved", ACHIEVED), *([("promised", PROMISED)] if timeline.promised else [])]
        )

    def _draw_rates(self, paper: Paper, panel: TimePanel) -> None:
        panel.write_heading(paper, "rate of the sources")
        rates = self._timeline.rates
        if not rates:
            panel.write_nothing(paper, "not measured yet", NAME_SIZE)
            return
        ticks = value_ticks([0.0, *(value for _, value in rates)], MOST_VALUES)
        y = panel.draw_values(paper, ticks, byte_rate)
        self._curve(paper, panel, y, rates, RATE)

    def _key(self, paper: Paper, panel: TimePanel, entries: Sequence[tuple[str, str]]) -> None:
        x = panel.right
        for text, colour in reversed(entries):
            x -= text_width(text, NOTE_SIZE)
            paper.write((x, panel.top - 10.0), text, NOTE_SIZE, colour=SOFT)
            x -= 10.0
            if colour == PROMISED:
                _diamond(paper, (x, panel.top - 10.0), 3.5, colour)
            else:
                paper.disc((x, panel.top - 10.0), 2.4, colour, colour)
            x -= 14.0

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
