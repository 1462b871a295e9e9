"""Curves over time in panels below each other, as in the paper's figures 4 to 7."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from berth.drawing.palette import COLOURS
from berth.experiments.odp.timeline import WINDOW_S

BLUE, ORANGE, GREEN, PINK = COLOURS[0], COLOURS[5], COLOURS[2], COLOURS[3]
OPTIMUM = "#333333"


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
    figure.set_layout_engine("constrained")
    figure.set_size_inches(9, 1.2 + 2.0 * len(panels))
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(rows, panels, strict=True):
        _events(axes, table, colours, marked, switch_s)
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


def _events(
    axes: Axes,
    table: pd.DataFrame,
    colours: Mapping[str, str],
    marked: Mapping[str, str],
    switch_s: float | None,
) -> None:
    if switch_s is not None:
        axes.axvline(switch_s, color=OPTIMUM, linewidth=1.0)
    for method, style in marked.items():
        times = table.loc[table["method"] == method, "reassigned_at_s"].dropna()
        for time in times.tolist():
            axes.axvline(time, color=colours[method], linestyle=style, linewidth=0.7, alpha=0.6)
