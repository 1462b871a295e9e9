"""A colour for every node, the same in every picture of a problem, and styles for a terminal.

The first seven colours are those of Okabe and Ito (2008). The others were chosen one by one, each as far
as possible from all before it, from white and from grey, as people with each of the three kinds of colour
blindness see them (simulated after Machado, Oliveira and Fernandes 2009).
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

BLACK, WHITE = "#000000", "#ffffff"
COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442"),
    *("#772200", "#99ee99", "#770066", "#7788ff", "#003399", "#006655", "#bbaa55"),
    *("#22eeff", "#996633", "#77cc99", "#ffcc66", "#885588", "#aa0044"),
)
SHADES = ((WHITE, 0.0), (WHITE, 0.4), (BLACK, 0.3), (WHITE, 0.65), (BLACK, 0.5))
"""What is mixed into the colours where there are more nodes than colours, and how much of it."""
PLAIN = Style()
STRONG = Style(bold=True)
WEAK = Style(dim=True)
ALARM = Style(color="red", bold=True)


def node_colour(node: int) -> str:
    """The colour of a node, by its number in the problem, as `#rrggbb`."""
    turn, position = divmod(node, len(COLOURS))
    other, share = SHADES[turn % len(SHADES)]
    pairs = zip(_parts(COLOURS[position]), _parts(other), strict=True)
    return f"#{bytes(round(mine * (1.0 - share) + its * share) for mine, its in pairs).hex()}"


def text_colour(background: str) -> str:
    """Black or white, whichever is easier to read on a background (contrast as in WCAG 2)."""
    light = _luminance(background) + 0.05
    return BLACK if light / 0.05 >= 1.05 / light else WHITE


def _parts(colour: str) -> bytes:
    """Red, green and blue, 0 to 255."""
    return bytes.fromhex(colour[1:])


def _luminance(colour: str) -> float:
    """Relative luminance of an sRGB colour, 0 to 1."""
    red, green, blue = (
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in _parts(colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def node_style(node: int) -> Style:
    """A node's own colour as the background of its name."""
    colour = node_colour(node)
    return Style(color=text_colour(colour), bgcolor=colour)


def node_text(node: int, name: str) -> Text:
    """A node's name in its colour."""
    return Text(printable(name), style=node_style(node))


def printable(name: str) -> str:
    """A user's name without characters that would move the cursor."""
    return "".join(character if character.isprintable() else "�" for character in name)


def fitted(name: str, width: int) -> str:
    """A user's name in at most so many cells; what is missing shows as an ellipsis."""
    name = printable(name)
    if cell_len(name) <= width:
        return name
    while cell_len(name) >= width:
        name = name[:-1]
    return name + "…"
