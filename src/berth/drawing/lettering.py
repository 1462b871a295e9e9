"""The size of text on paper, and the characters that the font has."""

from __future__ import annotations

from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

FAMILY = "DejaVu Sans"
"""It comes with matplotlib: pictures look the same everywhere."""
MISSING = "□"


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
