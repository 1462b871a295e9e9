"""A row for every window of time: what the simulator measured while plans came into force, and its curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from berth.drawing.palette import COLOURS
from berth.evaluation import evaluate
from berth.experiments.experiment import Calibration, Row, columns
from berth.experiments.odp.rounds import Step, changes
from berth.experiments.odp.setups import TUPLE_BYTES
from berth.model import Problem
from berth.simulate import Events, Migration, Options, simulate

WINDOW_S = 20.0
JITTER_MS = 2.0
PAUSE_S = 5.0

MEASURED = {
    "latency_ms": "latency_mean_ms",
    "traffic_bytes_per_s": "traffic_bytes_per_s",
    "network_usage_bytes": "network_usage_bytes",
    "elastic_energy": "expected_elastic_energy",
}
"""Columns of the table, and the simulator's series."""

SCHEMA = columns(
    f"instance int, method str, time_s float, {' float, '.join(MEASURED)} float, lost_share float, "
    "reassignments int, reassigned_at_s float, goal float"
)
"""`time_s`: the window's end. `reassigned_at_s`: the last reassignment in it. `goal`: of the plan in force at
its end, by the judge, with the problem's own rates."""

CALIBRATIONS = (
    Calibration("standard deviation of a tuple's delay on a link", f"{JITTER_MS:g} ms (paper: 1 to 3)"),
    Calibration("a reassignment", f"stops what moves for {PAUSE_S:g} s; tuples wait, none is lost"),
)
BLUE, ORANGE, GREEN, PINK = COLOURS[0], COLOURS[5], COLOURS[2], COLOURS[3]
OPTIMUM = "#333333"


def windows(
    problem: Problem,
    steps: Sequence[Step],
    metric: str,
    duration_s: float,
    seed: int,
    mean_repair_s: float | None = None,
) -> Iterator[dict[str, float | int | None]]:
    """Let plans run one after the other.

    Args:
        problem: what runs.
        steps: the plans, the first one from time 0 on.
        metric: the key of the metric that is the `goal`.
        duration_s: how long.
        seed: for the simulator.
        mean_repair_s: with it, nodes fail as their availability says.
    """
    options = Options(
        duration_s=duration_s,
        window_s=WINDOW_S,
        seed=seed,
        arrivals="regular",
        service="fixed",
        processors="own",
        tuple_bytes=TUPLE_BYTES,
        jitter_ms=JITTER_MS,
        pause_s=PAUSE_S,
        mean_repair_s=mean_repair_s,
    )
    moving = changes(steps)
    events = Events(migrations=tuple(Migration(step.time_s, step.plan) for step in moving))
    series = simulate(problem, steps[0].plan, options, events).series
    in_force = [steps[0], *moving]
    starts = np.array([step.time_s for step in in_force])
    goals = [evaluate(problem, step.plan).metrics[metric] for step in in_force]
    for number, end in enumerate(series["time_s"].tolist()):
        current = int(np.searchsorted(starts, end, side="left")) - 1
        moved = starts[1:][(starts[1:] >= end - WINDOW_S) & (starts[1:] < end)].tolist()
        emitted = series["emitted_per_s"][number]
        yield {
            "time_s": end,
            **{name: _known(series[key][number]) for name, key in MEASURED.items()},
            "lost_share": _known(series["lost_per_s"][number] / emitted) if emitted > 0 else None,
            "reassignments": len(moved),
            "reassigned_at_s": moved[-1] if moved else None,
            "goal": goals[current],
        }


def rows_of(
    instance: int,
    problem: Problem,
    methods: Mapping[str, Sequence[Step]],
    metric: str,
    duration_s: float,
    seed: int,
) -> Iterator[Row]:
    """The windows of several methods on one problem, by the same chance."""
    for method, steps in methods.items():
        for row in windows(problem, steps, metric, duration_s, seed):
            yield {"instance": instance, "method": method, **row}


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True)
class Panel:
    """A column over time."""

    column: str
    label: str
    by_factors: bool = False
    """A logarithmic axis: peaks are many times as high as what lies between them."""


def draw_panels(
    figure: Figure,
    table: pd.DataFrame,
    panels: Sequence[Panel],
    colours: Mapping[str, str],
    marked: Mapping[str, str],
    switch_s: float | None = None,
) -> None:
    """Draw one draw's table.

    Args:
        figure: to draw on.
        table: the windows of one draw.
        panels: from top to bottom.
        colours: the methods, and the colour of each.
        marked: methods whose reassignments are vertical lines, and the style of these lines.
        switch_s: when S-ODP takes its second step: a full vertical line.
    """
    figure.set_size_inches(9, 1.2 + 2.0 * len(panels))
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(rows, panels, strict=True):
        if switch_s is not None:
            axes.axvline(switch_s, color=OPTIMUM, linewidth=1.0)
        for method, style in marked.items():
            for time in table.loc[table["method"] == method, "reassigned_at_s"].dropna().tolist():
                axes.axvline(time, color=colours[method], linestyle=style, linewidth=0.7, alpha=0.6)
        for method, colour in colours.items():
            curve = table[table["method"] == method].sort_values("time_s")
            middle = curve["time_s"] - WINDOW_S / 2
            # on top and dashed: what reaches the optimum can still be seen below it
            best = {"linestyle": (0, (4, 2)), "zorder": 3} if colour == OPTIMUM else {}
            axes.plot(middle, curve[panel.column], color=colour, label=method, linewidth=1.6, **best)
        axes.set_ylabel(panel.label)
        if panel.by_factors:
            axes.set_yscale("log")
            for formatter in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
                formatter(LogFormatter(minor_thresholds=(1.5, 0.5)))
        else:
            axes.set_ylim(bottom=0)
    rows[-1].set_xlabel("time (s)")
    rows[-1].set_xlim(0, table["time_s"].max())
    handles, names = rows[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names))
