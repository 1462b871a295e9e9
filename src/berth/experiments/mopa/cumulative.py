"""Cumulative distributions, the form of all figures of paper 003's evaluation."""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

COLOURS = {"MOPA": "#0072b2", "MOPA, refined": "#009e73", "SBON": "#d55e00"}


def cumulative(
    axes: Axes, values: ArrayLike, label: str, colour: str | None = None, style: str = "-"
) -> None:
    """The share of values that are no higher than x."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    shares = np.arange(1, len(ordered) + 1) / len(ordered)
    axes.step(ordered, shares, where="post", label=label, color=colour, linestyle=style, linewidth=1.6)


def finish(
    axes: Axes, title: str, what: str, legend: Literal["lower right", "center"] = "lower right"
) -> None:
    """Labels that all panels have."""
    axes.set_title(title)
    axes.set_xlabel(what)
    axes.set_ylabel("share of graphs")
    axes.set_ylim(0, 1.02)
    axes.legend(loc=legend)
