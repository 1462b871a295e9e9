"""The network on paper: nodes with what they run, and what flows between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray

from berth.amounts import byte_rate, cut, milliseconds, percentage
from berth.drawing.palette import node_colour, text_colour
from berth.drawing.paper import INK, PALE, SOFT, Panel, Paper, Point, text_width, wrapped
from berth.drawing.places import LEADER_FROM, Label, node_places, place_labels, place_on_line, spread
from berth.drawing.usage import LinkUse, busy_shares, link_uses
from berth.drawing.views import (
    MOST_NAMED,
    ApplicationView,
    cables,
    coloured_nodes,
    critical_links,
    instance_groups,
    instances_by_node,
)
from berth.evaluation import Situation
from berth.model import Problem

FloatArray = NDArray[np.float64]
Disc = tuple[float, float, float]
"""x, y and radius."""

BEND = 0.28
"""How far the control point is from the straight line, as a share of its length."""
SAMPLES = 31
NAME_SIZE, RUNS_SIZE, RATE_SIZE, NOTE_SIZE = 9.0, 7.2, 6.8, 7.2
LINE_HEIGHT = 10.5
RUNS_WIDTH = 92.0
MOST_RUNS_LINES = 5
MOST_CHARACTERS = 30
MOST_RATES = 14
SHORTEST_RATED = 20.0
"""Arrows shorter than this have no rate: nothing tells whose it would be."""
CABLE_SAMPLES = 12
UNUSED = "#c9c9c9"
MISSING = "#d00000"
MARGIN_ACROSS, MARGIN_DOWN, FOOT = 108.0, 44.0, 34.0
USED_MARGIN, UNUSED_MARGIN = 20.0, 6.0
"""How much around a disc stays free of others."""
SCALE_BAR = 110.0
"""The longest bar that shows the scale."""


def bowed(start: Disc, end: Disc) -> Path:
    """A quadratic curve from the edge of one disc to that of another."""
    here, there = np.array(start[:2]), np.array(end[:2])
    along = there - here
    control = (here + there) / 2.0 + BEND / 2.0 * np.array([along[1], -along[0]])
    return Path(
        [_towards(here, control, start[2]), control, _towards(there, control, end[2] + 1.0)],
        [Path.MOVETO, Path.CURVE3, Path.CURVE3],
    )


def _towards(here: FloatArray, there: FloatArray, distance: float) -> FloatArray:
    length = float(np.hypot(*(there - here)))
    return here if length == 0.0 else here + (there - here) * min(1.0, distance / length)


def samples(path: Path) -> FloatArray:
    """Points along a quadratic curve, without its ends."""
    start, control, end = np.asarray(path.vertices, dtype=np.float64)
    part = np.linspace(0.0, 1.0, SAMPLES + 2)[1:-1, None]
    return np.asarray((1 - part) ** 2 * start + 2 * part * (1 - part) * control + part**2 * end)


@dataclass(frozen=True, eq=False)
class Spots:
    """Where the nodes are on the paper."""

    places: FloatArray
    radii: FloatArray
    points_per_ms: float

    def middle(self, node: int) -> Point:
        """The middle of a node's disc."""
        return float(self.places[node, 0]), float(self.places[node, 1])


class NetworkPicture:
    """The network of a problem, with a plan's instances and flows where there is one."""

    def __init__(self, problem: Problem, situation: Situation | None, views: list[ApplicationView]) -> None:
        self._problem = problem
        self._network = problem.network
        self._situation = situation
        self._runs = instances_by_node(situation)
        self._flows = [] if situation is None else link_uses(situation)
        self._critical = set() if situation is None else critical_links(situation)
        self._coloured = coloured_nodes(problem, situation, views)
        self._busy = np.zeros(len(self._network.nodes)) if situation is None else busy_shares(situation)

    def draw(self, paper: Paper, panel: Panel) -> None:
        """Draw it into a part of the paper."""
        inner = Panel(panel.left, panel.top, panel.width, panel.height - FOOT)
        spots = self._spots(inner)
        curves = [
            bowed(*((*spots.middle(node), float(spots.radii[node])) for node in (flow.sender, flow.receiver)))
            for flow in self._flows
        ]
        self._draw_cables(paper, spots)
        for flow, path in zip(self._flows, curves, strict=True):
            self._draw_flow(paper, flow, path)
        for node in range(len(self._network.nodes)):
            self._draw_node(paper, spots, node)
        boxes = self._draw_labels(paper, spots, inner, curves)
        self._draw_rates(paper, spots, curves, boxes)
        self._draw_foot(paper, panel, spots)

    def _spots(self, panel: Panel) -> Spots:
        places = node_places(self._network)
        crowded = len(places) > MOST_NAMED
        radii = np.full(len(places), 2.6 if crowded else 5.0)
        for node in self._coloured:
            radii[node] = 7.0 + 3.5 * math.sqrt(len(self._runs.get(node, [])))
        laid, scale = _fitted(places, panel)
        named = np.array(self._named(), dtype=np.intp)
        margins = np.array([USED_MARGIN if node in self._coloured else UNUSED_MARGIN for node in named])
        laid[named] = spread(laid[named], radii[named] + margins)
        return Spots(laid, radii, scale)

    def _named(self) -> list[int]:
        """The nodes whose names are written."""
        if len(self._network.nodes) > MOST_NAMED:
            return sorted(self._coloured)
        return list(range(len(self._network.nodes)))

    def _draw_cables(self, paper: Paper, spots: Spots) -> None:
        for here, there in cables(self._network):
            paper.line(spots.middle(here), spots.middle(there), 0.8, PALE)

    def _draw_flow(self, paper: Paper, flow: LinkUse, path: Path) -> None:
        widest = max(other.bytes_per_s for other in self._flows)
        share = flow.bytes_per_s / widest if widest > 0.0 else 0.0
        colour = INK if (flow.sender, flow.receiver) in self._critical else "#8c8c8c"
        lost = math.isnan(flow.delay_ms)
        paper.curve(
            path,
            1.0 + 4.0 * math.sqrt(share),
            MISSING if lost else colour,
            heads="<|-|>" if flow.both_ways else "-|>",
            dashed=not flow.complete,
        )

    def _colour(self, node: int) -> str:
        """The colour of a node in use."""
        return node_colour(node)

    def _draw_node(self, paper: Paper, spots: Spots, node: int) -> None:
        middle, radius = spots.middle(node), float(spots.radii[node])
        if node not in self._coloured:
            paper.disc(middle, radius, UNUSED, "white", level=2.6)
            return
        colour = self._colour(node)
        paper.disc(middle, radius, colour, INK)
        if count := len(self._runs.get(node, [])):
            paper.write(middle, str(count), NAME_SIZE, bold=True, colour=text_colour(colour), across="center")

    def _draw_labels(self, paper: Paper, spots: Spots, panel: Panel, curves: list[Path]) -> FloatArray:
        """Write the nodes' names and what runs there; returns the boxes taken."""
        named = self._named()
        texts = [self._label_lines(node) for node in named]
        labels = [
            Label(
                *spots.middle(node), float(spots.radii[node]), _lines_width(lines), LINE_HEIGHT * len(lines)
            )
            for node, lines in zip(named, texts, strict=True)
        ]
        discs = np.column_stack([spots.places, spots.radii])
        cable_ends = [(spots.places[here], spots.places[there]) for here, there in cables(self._network)]
        straight = [np.linspace(*ends, num=CABLE_SAMPLES) for ends in cable_ends]
        points = np.vstack([np.zeros((0, 2)), *(samples(path) for path in curves), *straight])
        boxes = place_labels(labels, discs, points, panel.bounds)
        for node, lines, box in zip(named, texts, boxes, strict=True):
            self._draw_label(paper, spots, node, lines, box)
        return boxes

    def _label_lines(self, node: int) -> list[str]:
        """A node's name, what runs there, and how busy that keeps its processors."""
        name = cut(self._network.nodes[node].name, MOST_CHARACTERS)
        groups = instance_groups(self._problem, self._runs.get(node, []))
        busy = [f"{percentage(self._busy[node])} busy"] if self._busy[node] > 0.0 else []
        return [name, *wrapped(groups, RUNS_SIZE, RUNS_WIDTH, MOST_RUNS_LINES), *busy]

    def _draw_label(self, paper: Paper, spots: Spots, node: int, lines: list[str], box: FloatArray) -> None:
        left, top, right, bottom = box.tolist()
        x, y = spots.middle(node)
        nearest = min(max(x, left), right), min(max(y, top), bottom)
        if math.dist((x, y), nearest) > spots.radii[node] + LEADER_FROM:
            paper.line((x, y), nearest, 0.6, SOFT, level=1.5)
        across, place = _side(x, left, right)
        for number, text in enumerate(lines):
            middle = place, top + LINE_HEIGHT * (number + 0.5)
            if number == 0 and node in self._coloured:
                paper.write(middle, text, NAME_SIZE, bold=True, across=across, behind="halo")
            else:
                paper.write(middle, text, RUNS_SIZE, colour=SOFT, across=across, behind="halo")

    def _draw_rates(self, paper: Paper, spots: Spots, curves: list[Path], taken: FloatArray) -> None:
        """Write the highest rates on their lines or, where these are short, beside them."""
        reach = spots.radii[:, None]
        taken = np.vstack([taken, np.hstack([spots.places - reach, spots.places + reach])])
        points = [samples(curve) for curve in curves]
        numbers = sorted(range(len(curves)), key=lambda number: -self._flows[number].bytes_per_s)[:MOST_RATES]
        for number in numbers:
            line, rate = points[number], self._flows[number].bytes_per_s
            text = byte_rate(rate)
            width = text_width(text, RATE_SIZE)
            if rate > 0.0 and math.dist(line[0], line[-1]) > SHORTEST_RATED:
                others = np.vstack([np.zeros((0, 2)), *points[:number], *points[number + 1 :]])
                box, on_line = place_on_line(line, width, RATE_SIZE, taken, others)
                taken = np.vstack([taken, box])
                middle = float(box[0] + box[2]) / 2.0, float(box[1] + box[3]) / 2.0
                paper.write(
                    middle, text, RATE_SIZE, across="center", behind="plate" if on_line else "halo", level=2.8
                )

    def _draw_foot(self, paper: Paper, panel: Panel, spots: Spots) -> None:
        """The scale, and what the signs mean."""
        base = panel.top + panel.height - 8.0
        if len(self._network.nodes) > 1:
            length = round_length(SCALE_BAR / spots.points_per_ms)
            end = panel.left + length * spots.points_per_ms
            paper.line((panel.left, base), (end, base), 1.4, SOFT)
            paper.write((end + 6.0, base), f"about {milliseconds(length)}", NOTE_SIZE, colour=SOFT)
        if self._situation is not None:
            paper.write((panel.left, base - 14.0), " · ".join(self._notes()), NOTE_SIZE, colour=SOFT)

    def _notes(self) -> list[str]:
        notes = ["in a circle: instances"]
        if self._flows:
            notes.append("line: traffic, the wider the more")
        if self._critical:
            notes.append("black: slowest path")
        if not all(flow.complete for flow in self._flows):
            notes.append("dashed: rate not known")
        if any(math.isnan(flow.delay_ms) for flow in self._flows):
            notes.append("red: no link")
        return notes


def _fitted(places: FloatArray, panel: Panel) -> tuple[FloatArray, float]:
    """Places in ms on a part of the paper, upwards as on a map, and how many points a ms is long."""
    low, high = places.min(axis=0), places.max(axis=0)
    across = min(MARGIN_ACROSS, panel.width / 4.0)
    room = np.array([panel.width - 2 * across, panel.height - 2 * MARGIN_DOWN])
    extent = high - low
    scale = float(np.min(room / np.maximum(extent, 1e-9))) if extent.any() else 1.0
    middle = np.array([panel.left + panel.width / 2.0, panel.top + panel.height / 2.0])
    return middle + (places - (low + high) / 2.0) * scale * [1.0, -1.0], scale


def _side(x: float, left: float, right: float) -> tuple[Literal["left", "center", "right"], float]:
    """How a label is aligned, and where: towards its disc."""
    if left > x:
        return "left", left
    if right < x:
        return "right", right
    return "center", (left + right) / 2.0


def _lines_width(lines: list[str]) -> float:
    name, *runs = lines
    return max(text_width(name, NAME_SIZE, bold=True), *(text_width(text, RUNS_SIZE) for text in runs), 0.0)


def round_length(longest: float) -> float:
    """The largest of 1, 2, 5, 10, 20, 50, ... (and 0.5, 0.2, ...) that is not above a length."""
    power = 10.0 ** math.floor(math.log10(longest))
    return next(step * power for step in (5.0, 2.0, 1.0) if step * power <= longest * (1.0 + 1e-9))
