"""How all figures look, and how they become files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

from matplotlib import style
from matplotlib.figure import Figure

from berth.drawing.palette import COLOURS

WIDTH, HEIGHT = 9.0, 4.8
"""Inches."""
DOTS_PER_INCH = 144.0
FORMS = ("svg", "png")

STYLE = {
    # nothing random in files, and letters as outlines: every machine shows the same
    "svg.hashsalt": "berth",
    "svg.fonttype": "path",
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Matplotlib as it comes, whatever the user's own settings are, in colours that all people tell apart."""
    from cycler import cycler

    colours = {"axes.prop_cycle": cycler(color=COLOURS[:6])}
    with style.context(["default", STYLE | colours]):
        yield


def blank_figure() -> Figure:
    """A figure to draw on."""
    return Figure(figsize=(WIDTH, HEIGHT), layout="constrained")


def figure_file(figure: Figure, form: str) -> bytes:
    """A figure as `svg` or `png`; the same drawing gives the same bytes."""
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    content = BytesIO()
    figure.savefig(content, format=form, dpi=DOTS_PER_INCH, metadata=metadata)
    return content.getvalue()
