"""A sheet to draw on, measured in points from its upper left corner, and the size of text on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Literal, get_args

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Patch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.textpath import text_to_path

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


MARGIN = 24.0
TITLE_SIZE, LINE_SIZE = 15.0, 9.5
TITLE_HEIGHT = 58.0
"""What a title and the line below it take at the top of a picture."""
FAMILY = "DejaVu Sans"
"""It comes with matplotlib: pictures look the same everywhere."""
MISSING = "□"


def picture_file(draw: Callable[[], Paper], file_format: Format) -> bytes:
    """Draw a picture as a PNG or SVG file; the same drawing gives the same bytes.

    Matplotlib works as it comes, whatever the user's own settings are, and with nothing random in files.

    Raises:
        ValueError: the format is neither `png` nor `svg`.
    """
    if file_format not in get_args(Format):
        raise ValueError(f"no picture format {file_format!r}: png or svg")
    with style.context(["default", {"svg.hashsalt": "berth", "svg.fonttype": "path"}]):
        return draw().saved(file_format)


@dataclass(frozen=True)
class Panel:
    """A part of the paper."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + self.height

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom."""
        return self.left, self.top, self.right, self.bottom


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

    def title(self, text: str, line: str) -> None:
        """The picture's title, and a line below it."""
        self.write((MARGIN, 22.0), text, TITLE_SIZE, bold=True)
        self.write((MARGIN, 42.0), line, LINE_SIZE, colour=SOFT)

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


@lru_cache
def font(size: float, bold: bool = False) -> FontProperties:
    """The font of a size in points."""
    return FontProperties(family=FAMILY, weight="bold" if bold else "normal", size=size)


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, bold: bool = False) -> float:
    """How wide a line of text is, in points."""
    width, _, _ = text_to_path.get_text_width_height_descent(drawable(text), font(size, bold), ismath=False)
    return float(width)


@lru_cache(maxsize=4096)
def drawable(text: str) -> str:
    """A text with a mark in place of every character that the font lacks."""
    glyphs = get_font(findfont(font(10.0)))
    return "".join(character if glyphs.get_char_index(ord(character)) else MISSING for character in text)


def title_width(text: str, line: str) -> float:
    """How wide a picture's title and the line below it are."""
    return max(text_width(text, TITLE_SIZE, bold=True), text_width(line, LINE_SIZE))


def wrapped(words: list[str], size: float, width: float, most: int) -> list[str]:
    """Words with commas between them in lines of a width; what doesn't fit into `most` lines is counted."""
    lines: list[str] = []
    for number, word in enumerate(words):
        piece = word if number == len(words) - 1 else f"{word},"
        joined = f"{lines[-1]} {piece}" if lines else piece
        if lines and text_width(joined, size) <= width:
            lines[-1] = joined
        elif len(lines) < most:
            lines.append(piece)
        else:
            lines[-1] = f"{lines[-1]} +{len(words) - number}"
            break
    return lines
