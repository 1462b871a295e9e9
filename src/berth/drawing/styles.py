"""How names, notes and nodes look in a terminal; all of it reads well without colours, too."""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from berth.drawing.palette import node_colour, text_colour

PLAIN = Style()
STRONG = Style(bold=True)
WEAK = Style(dim=True)
ALARM = Style(color="red", bold=True)


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
