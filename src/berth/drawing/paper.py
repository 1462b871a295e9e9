"""A sheet to draw on, measured in points from its upper left corner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Literal

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Patch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from berth.drawing.lettering import drawable, font

POINTS_PER_INCH = 72.0
DOTS_PER_INCH = 144.0
MOST_DOTS = 12000.0
"""The longest side of a picture made of dots."""

Format = Literal["png", "svg"]
Point = tuple[float, float]

INK = "#1a1a1a"
SOFT = "#6b6b6b"
PALE = "#d9d9d9"
DASHED = (0, (4.0, 2.5))


@contextmanager
def settings() -> Iterator[None]:
    """Matplotlib as it comes, whatever the user's own settings are, and with nothing random in files."""
    with style.context(["default", {"svg.hashsalt": "berth", "svg.fonttype": "path"}]):
        yield


class Paper:
    """A white sheet. What is drawn later lies above what was drawn before, within one level."""

    def __init__(self, width: float, height: float) -> None:
        self._figure = Figure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH), facecolor="white")
        self._axes: Axes = self._figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self._axes.set_xlim(0.0, width)
        self._axes.set_ylim(height, 0.0)
        self._axes.set_axis_off()
        self._longest = max(width, height)

    def write(
        self,
        place: Point,
        text: str,
        size: float,
        *,
        bold: bool = False,
        colour: str = INK,
        across: Literal["left", "center", "right"] = "left",
        behind: Literal["nothing", "halo", "plate"] = "nothing",
        level: float = 5.0,
    ) -> None:
        """A line of text with its middle at a height, clear of what is behind it by a halo or a plate."""
        written = self._axes.text(
            *place,
            drawable(text),
            fontproperties=font(size, bold),
            color=colour,
            horizontalalignment=across,
            verticalalignment="center_baseline",
            parse_math=False,
            zorder=level,
        )
        if behind == "halo":
            written.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
        elif behind == "plate":
            written.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.0})

    def card(
        self, corner: Point, size: Point, stripes: Sequence[tuple[float, str]], line: float, colour: str
    ) -> None:
        """A rounded box, filled from below with stripes of a height and a colour each."""
        outline = self._rounded(corner, size, "white", "none", 0.0, 3.0)
        bottom = corner[1] + size[1]
        for height, fill in reversed(stripes):
            bottom -= height
            stripe = Rectangle(
                (corner[0], bottom), size[0], height, facecolor=fill, edgecolor="none", zorder=3.1
            )
            self._add(stripe)
            stripe.set_clip_path(outline)
        self._rounded(corner, size, "none", colour, line, 3.2)

    def _rounded(
        self, corner: Point, size: Point, fill: str, edge: str, line: float, level: float
    ) -> FancyBboxPatch:
        patch = FancyBboxPatch(
            corner,
            *size,
            boxstyle="round,pad=0,rounding_size=5",
            facecolor=fill,
            edgecolor=edge,
            linewidth=line,
            zorder=level,
        )
        self._add(patch)
        return patch

    def block(self, corner: Point, size: Point, fill: str, level: float = 3.0) -> None:
        """A plain filled rectangle."""
        self._add(Rectangle(corner, *size, facecolor=fill, edgecolor="none", zorder=level))

    def curve(
        self,
        path: Path,
        width: float,
        colour: str,
        *,
        heads: Literal["-", "-|>", "<|-|>"] = "-|>",
        dashed: bool = False,
        level: float = 2.0,
    ) -> None:
        """A line along a path, with heads at its ends."""
        if heads == "-":
            patch: Patch = PathPatch(path, facecolor="none")
            patch.set_capstyle("round")
        else:
            patch = FancyArrowPatch(path=path, arrowstyle=heads, mutation_scale=7.0 + 2.2 * width)
            patch.set_facecolor(colour)
        patch.set(edgecolor=colour, linewidth=width, linestyle=DASHED if dashed else "solid", zorder=level)
        self._add(patch)

    def disc(self, middle: Point, radius: float, fill: str, edge: str, level: float = 3.0) -> None:
        """A filled circle."""
        self._add(Circle(middle, radius, facecolor=fill, edgecolor=edge, linewidth=0.8, zorder=level))

    def line(self, start: Point, end: Point, width: float, colour: str, level: float = 1.0) -> None:
        """A straight line."""
        self.curve(Path([start, end]), width, colour, heads="-", level=level)

    def _add(self, patch: Patch) -> None:
        self._axes.add_artist(patch)

    def saved(self, file_format: Format) -> bytes:
        """The sheet as a file; the same drawing gives the same bytes."""
        dots = min(DOTS_PER_INCH, MOST_DOTS / self._longest * POINTS_PER_INCH)
        metadata = {"Date": None} if file_format == "svg" else {"Software": None}
        buffer = BytesIO()
        self._figure.savefig(buffer, format=file_format, dpi=dots, metadata=metadata)
        return buffer.getvalue()
