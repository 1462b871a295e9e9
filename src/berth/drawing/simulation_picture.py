"""A simulation as a picture: latency, tuples, traffic and load over time, with what happened when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray

from berth.amounts import byte_rate, counted, milliseconds, percentage, quantity
from berth.drawing.lettering import text_width
from berth.drawing.paper import INK, PALE, SOFT, Format, Paper, settings
from berth.drawing.timeline import time_text, time_ticks, value_ticks
from berth.model import Problem
from berth.simulate import Simulation

FloatArray = NDArray[np.float64]

MARGIN = 24.0
TITLE_SIZE, LINE_SIZE, NOTE_SIZE, HEADING_SIZE = 15.0, 9.5, 7.2, 9.0
TOP, LEFT, WIDTH, BETWEEN = 78.0, 94.0, 760.0, 34.0
MOST_TIMES, MOST_VALUES = 10, 4
MUCH = 20.0
"""Values that differ by more than this factor don't fit on one ruler."""
BLUE, ORANGE, GREEN, PINK, RED = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#d00000"
OUTAGE = "#f6dada"


@dataclass(frozen=True)
class Curve:
    """Values over the windows of a simulation."""

    name: str
    colour: str
    values: FloatArray
    dashed: bool = False


@dataclass(frozen=True)
class Panel:
    """Curves with one scale."""

    heading: str
    text: Callable[[float], str]
    curves: tuple[Curve, ...]
    height: float
    by_factors: bool = False
    """Whether equal factors are equally high where values differ much."""


@dataclass(frozen=True)
class Scale:
    """Where values are between the bottom and the top of a panel, as shares of its height."""

    ticks: tuple[float, ...]
    by_factors: bool

    def share(self, value: float) -> float:
        """0 at the first tick or below, 1 at the last one."""
        low, high = self.ticks[0], self.ticks[-1]
        if self.by_factors:
            return float(np.log(max(value, low) / low) / np.log(high / low))
        return (value - low) / (high - low)


def scale_of(panel: Panel, curves: Sequence[Curve]) -> Scale:
    """From 0 on; by factors of ten where a panel asks for it and 0 would hide what is small."""
    values = np.concatenate([curve.values[np.isfinite(curve.values)] for curve in curves])
    above = values[values > 0]
    if panel.by_factors and len(above) and above.max() > MUCH * above.min():
        first, last = np.floor(np.log10(above.min())), np.ceil(np.log10(above.max()))
        return Scale(tuple(10.0 ** np.arange(first, last + 1)), by_factors=True)
    return Scale(tuple(value_ticks([0.0, float(values.max())], MOST_VALUES)), by_factors=False)


def draw_simulation(problem: Problem, simulation: Simulation, file_format: Format) -> bytes:
    """Draw a simulation as a PNG or SVG file; the same simulation gives the same bytes.

    Raises:
        ValueError: the format is neither `png` nor `svg`.
    """
    if file_format not in get_args(Format):
        raise ValueError(f"no picture format {file_format!r}: png or svg")
    with settings():
        return _Picture(problem, simulation).drawn().saved(file_format)


def panels_of(simulation: Simulation) -> tuple[Panel, ...]:
    """What is drawn, from above."""
    series = simulation.series
    latency = (
        Curve("99 %", PINK, series["latency_p99_ms"]),
        Curve("95 %", ORANGE, series["latency_p95_ms"]),
        Curve("mean", BLUE, series["latency_mean_ms"]),
        Curve("response time of the plan", INK, series["expected_response_time_ms"], dashed=True),
    )
    tuples = (
        Curve("in", GREEN, series["emitted_per_s"]),
        Curve("results", BLUE, series["results_per_s"]),
        Curve("lost", RED, series["lost_per_s"]),
    )
    traffic = (Curve("between nodes", BLUE, series["traffic_bytes_per_s"]),)
    usage = (
        Curve("measured", BLUE, series["network_usage_bytes"]),
        Curve("of the plan", INK, series["expected_network_usage_bytes"], dashed=True),
    )
    energy = (Curve("of the plan", INK, series["expected_elastic_energy"], dashed=True),)
    load = (
        Curve("busiest link", ORANGE, series["busiest_link"]),
        Curve("busiest node", BLUE, series["busiest_node"]),
    )
    inside = (Curve("inside", BLUE, series["tuples_inside"]),)
    return (
        Panel("latency from end to end", milliseconds, latency, 130.0, by_factors=True),
        Panel("tuples per second", quantity, tuples, 90.0),
        Panel("traffic", byte_rate, traffic, 60.0),
        Panel("network usage", lambda value: f"{quantity(value)}B", usage, 60.0),
        Panel("elastic energy", quantity, energy, 60.0),
        Panel("load", percentage, load, 70.0),
        Panel("tuples inside", quantity, inside, 60.0),
    )


class _Picture:
    def __init__(self, problem: Problem, simulation: Simulation) -> None:
        self._problem, self._simulation = problem, simulation
        self._length = simulation.options.duration_s
        ends = simulation.series["time_s"]
        self._times = ends - np.diff(ends, prepend=0.0) / 2.0

    def drawn(self) -> Paper:
        panels = panels_of(self._simulation)
        height = TOP + sum(panel.height + BETWEEN for panel in panels)
        paper = Paper(LEFT + WIDTH + MARGIN, height)
        paper.write((MARGIN, 22.0), f"{self._problem.name}: a simulation", TITLE_SIZE, bold=True)
        paper.write((MARGIN, 42.0), self._line(), LINE_SIZE, colour=SOFT)
        top = TOP
        for panel in panels:
            self._draw(paper, panel, top)
            top += panel.height + BETWEEN
        for time in time_ticks(self._length, MOST_TIMES):
            place = self._x(time), top - BETWEEN + 11.0
            paper.write(place, time_text(time), NOTE_SIZE, across="center", colour=SOFT)
        return paper

    def _line(self) -> str:
        totals = self._simulation.totals
        mean = "nothing came through"
        if totals.results:
            mean = (
                f"latency {milliseconds(totals.latency_mean_ms)}, 99 % {milliseconds(totals.latency_p99_ms)}"
            )
        lost, moves = f"{totals.lost:,} lost", f"{counted(totals.moves, 'instance')} moved"
        return f"{time_text(totals.seconds)} · {totals.results:,} results · {mean} · {lost} · {moves}"

    def _x(self, time: float) -> float:
        return LEFT + WIDTH * min(max(time / self._length, 0.0), 1.0)

    def _draw(self, paper: Paper, panel: Panel, top: float) -> None:
        bottom = top + panel.height
        self._draw_happenings(paper, top, bottom)
        for time in time_ticks(self._length, MOST_TIMES):
            paper.line((self._x(time), top), (self._x(time), bottom), 0.5, PALE, level=0.5)
        paper.line((LEFT, bottom), (LEFT + WIDTH, bottom), 0.8, SOFT, level=1.2)
        paper.write((LEFT, top - 10.0), panel.heading, HEADING_SIZE, bold=True, colour=SOFT)
        curves = [curve for curve in panel.curves if np.isfinite(curve.values).any()]
        if not curves:
            middle = LEFT + WIDTH / 2.0, (top + bottom) / 2.0
            paper.write(middle, "nothing to tell", NOTE_SIZE, across="center", colour=SOFT, behind="plate")
            return
        scale = scale_of(panel, curves)

        def height(value: float) -> float:
            return bottom - (panel.height - 6.0) * scale.share(value)

        for tick in scale.ticks:
            paper.line((LEFT, height(tick)), (LEFT + WIDTH, height(tick)), 0.5, PALE, level=0.5)
            paper.write((LEFT - 8.0, height(tick)), panel.text(tick), NOTE_SIZE, across="right", colour=SOFT)
        for curve in curves:
            self._draw_curve(paper, curve, height)
        self._draw_key(paper, curves, top)

    def _draw_curve(self, paper: Paper, curve: Curve, height: Callable[[float], float]) -> None:
        """A line through the middles of the windows, broken where there is nothing to tell."""
        known = np.flatnonzero(np.isfinite(curve.values))
        for run in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1):
            points = [(self._x(self._times[at]), height(curve.values[at])) for at in run.tolist()]
            if len(points) == 1:
                paper.disc(points[0], 1.6, curve.colour, curve.colour)
                continue
            width = 1.0 if curve.dashed else 1.4
            paper.curve(Path(points), width, curve.colour, heads="-", dashed=curve.dashed, level=2.0)

    def _draw_key(self, paper: Paper, curves: Sequence[Curve], top: float) -> None:
        x, y = LEFT + WIDTH, top - 10.0
        for curve in reversed(curves):
            x -= text_width(curve.name, NOTE_SIZE)
            paper.write((x, y), curve.name, NOTE_SIZE, colour=SOFT)
            x -= 18.0
            line = Path([(x, y), (x + 13.0, y)])
            paper.curve(line, 1.4, curve.colour, heads="-", dashed=curve.dashed)
            x -= 12.0

    def _draw_happenings(self, paper: Paper, top: float, bottom: float) -> None:
        """A red band where a node was down, a line where instances moved."""
        for outage in self._simulation.outages:
            begin = self._x(outage.begin_s)
            end = self._x(self._length if outage.end_s is None else outage.end_s)
            paper.block((begin, top), (end - begin, bottom - top), OUTAGE, level=0.3)
            if top == TOP:
                middle = (begin + end) / 2.0, top + 7.0
                paper.write(
                    middle, f"{outage.node} down", NOTE_SIZE, colour=RED, across="center", behind="halo"
                )
        moves = self._simulation.moves
        for time in sorted({move.time_s for move in moves}):
            x = self._x(time)
            paper.line((x, top), (x, bottom), 0.9, INK, level=1.5)
            if top == TOP:
                moved = counted(sum(move.time_s == time for move in moves), "move")
                paper.write((x + 4.0, top + 18.0), moved, NOTE_SIZE, behind="halo")
