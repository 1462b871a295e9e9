"""A simulation as a picture: latency, tuples, traffic and load over time, with what happened when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray

from berth.amounts import byte_rate, counted, milliseconds, percentage, quantity
from berth.drawing.charts import (
    BETWEEN_PANELS,
    MOST_VALUES,
    NOTE_SIZE,
    PLOT_WIDTH,
    TimePanel,
    time_text,
    value_ticks,
)
from berth.drawing.paper import INK, MARGIN, Format, Paper, Point, picture_file
from berth.evaluation import metric_text
from berth.model import Problem
from berth.simulate import Simulation

FloatArray = NDArray[np.float64]

TOP, LEFT = 78.0, 94.0
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
class Chart:
    """Curves with one scale."""

    heading: str
    text: Callable[[float], str]
    curves: tuple[Curve, ...]
    height: float
    by_factors: bool = False
    """Whether equal factors are equally high where values differ much."""


def ticks_of(chart: Chart, curves: Sequence[Curve]) -> tuple[list[float], bool]:
    """The axis of values, and whether it is by factors.

    From 0 on; by factors of ten where a chart asks for it and 0 would hide what is small.
    """
    values = np.concatenate([curve.values[np.isfinite(curve.values)] for curve in curves])
    above = values[values > 0]
    if chart.by_factors and len(above) and above.max() > MUCH * above.min():
        first, last = np.floor(np.log10(above.min())), np.ceil(np.log10(above.max()))
        return (10.0 ** np.arange(first, last + 1)).tolist(), True
    return value_ticks([0.0, float(values.max())], MOST_VALUES), False


def draw_simulation(problem: Problem, simulation: Simulation, file_format: Format) -> bytes:
    """Draw a simulation as a PNG or SVG file; the same simulation gives the same bytes.

    Raises:
        ValueError: the format is neither `png` nor `svg`.
    """
    return picture_file(_Picture(problem, simulation).drawn, file_format)


def charts_of(simulation: Simulation) -> tuple[Chart, ...]:
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
        Chart("latency from end to end", milliseconds, latency, 130.0, by_factors=True),
        Chart("tuples per second", quantity, tuples, 90.0),
        Chart("traffic", byte_rate, traffic, 60.0),
        Chart("network usage", partial(metric_text, "network_usage_bytes"), usage, 60.0),
        Chart("elastic energy", partial(metric_text, "elastic_energy"), energy, 60.0),
        Chart("load", percentage, load, 70.0),
        Chart("tuples inside", quantity, inside, 60.0),
    )


class _Picture:
    def __init__(self, problem: Problem, simulation: Simulation) -> None:
        self._problem, self._simulation = problem, simulation
        ends = simulation.series["time_s"]
        self._times = ends - np.diff(ends, prepend=0.0) / 2.0

    def drawn(self) -> Paper:
        charts = charts_of(self._simulation)
        height = TOP + sum(chart.height + BETWEEN_PANELS for chart in charts)
        paper = Paper(LEFT + PLOT_WIDTH + MARGIN, height)
        paper.title(f"{self._problem.name}: a simulation", self._line())
        panel = TimePanel(LEFT, TOP, PLOT_WIDTH, charts[0].height, self._simulation.options.duration_s)
        for number, chart in enumerate(charts):
            panel = panel.below(chart.height) if number else panel
            self._draw_events(paper, panel, named=number == 0)
            self._draw(paper, panel, chart)
        panel.write_times(paper)
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

    def _draw(self, paper: Paper, panel: TimePanel, chart: Chart) -> None:
        panel.draw_times(paper)
        panel.write_heading(paper, chart.heading)
        curves = [curve for curve in chart.curves if np.isfinite(curve.values).any()]
        if not curves:
            panel.write_nothing(paper, "nothing to tell", NOTE_SIZE)
            return
        ticks, by_factors = ticks_of(chart, curves)
        y = panel.draw_values(paper, ticks, chart.text, by_factors)
        for curve in curves:
            self._draw_curve(paper, panel, curve, y)
        panel.write_key(paper, {curve.name: partial(_sign, paper, curve) for curve in curves}, 18.0)

    def _draw_curve(self, paper: Paper, panel: TimePanel, curve: Curve, y: Callable[[float], float]) -> None:
        """A line through the middles of the windows, broken where there is nothing to tell."""
        known = np.flatnonzero(np.isfinite(curve.values))
        for run in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1):
            points = [(panel.x(self._times[at]), y(curve.values[at])) for at in run.tolist()]
            if len(points) == 1:
                paper.disc(points[0], 1.6, curve.colour, curve.colour)
                continue
            width = 1.0 if curve.dashed else 1.4
            paper.curve(Path(points), width, curve.colour, heads="-", dashed=curve.dashed, level=2.0)

    def _draw_events(self, paper: Paper, panel: TimePanel, *, named: bool) -> None:
        """A red band where a node was down, a line where instances moved."""
        for outage in self._simulation.outages:
            begin = panel.x(outage.begin_s)
            end = panel.x(panel.seconds if outage.end_s is None else outage.end_s)
            paper.block((begin, panel.top), (end - begin, panel.height), OUTAGE, level=0.3)
            if named:
                middle, text = ((begin + end) / 2.0, panel.top + 7.0), f"{outage.node} down"
                paper.write(middle, text, NOTE_SIZE, colour=RED, across="center", behind="halo")
        moves = self._simulation.moves
        for time in sorted({move.time_s for move in moves}):
            x = panel.x(time)
            paper.line((x, panel.top), (x, panel.bottom), 0.9, INK, level=1.5)
            if named:
                moved = counted(sum(move.time_s == time for move in moves), "move")
                paper.write((x + 4.0, panel.top + 18.0), moved, NOTE_SIZE, behind="halo")


def _sign(paper: Paper, curve: Curve, place: Point) -> None:
    line = Path([place, (place[0] + 13.0, place[1])])
    paper.curve(line, 1.4, curve.colour, heads="-", dashed=curve.dashed)
