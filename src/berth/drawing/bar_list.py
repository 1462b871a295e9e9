"""A list of bars on paper: a name, how much, and the amount in words."""

from __future__ import annotations

from dataclasses import dataclass

from berth.drawing.lettering import text_width
from berth.drawing.paper import INK, SOFT, Paper

ROW = 15.0
TITLE_ROW = 20.0
NAME_SIZE, AMOUNT_SIZE, TITLE_SIZE = 7.6, 7.2, 9.5
BAR_HEIGHT = 7.0
NAME_SHARE, AMOUNT_SHARE = 0.58, 0.14
"""The shares of the width that names and amounts take; bars take the rest."""
GAP = 6.0
EMPTY = "#eeeeee"


@dataclass(frozen=True)
class Bar:
    """A row of the list."""

    name: str
    share: float
    """How long the bar is, 0 to 1; longer ones end at the edge."""
    amount: str
    colour: str


@dataclass(frozen=True)
class BarList:
    """A title with bars below it."""

    title: str
    bars: tuple[Bar, ...]
    note: str = ""

    @property
    def height(self) -> float:
        """How high it is on paper."""
        return TITLE_ROW + ROW * (len(self.bars) + bool(self.note))

    def draw(self, paper: Paper, left: float, top: float, width: float) -> None:
        """Draw it with its upper left corner at a place."""
        paper.write((left, top + 8.0), self.title, TITLE_SIZE, bold=True)
        names, amounts = NAME_SHARE * width, AMOUNT_SHARE * width
        start, end = left + names + GAP, left + width - amounts - GAP
        for number, bar in enumerate(self.bars):
            middle = top + TITLE_ROW + ROW * (number + 0.5)
            paper.write((left, middle), fitting(bar.name, names), NAME_SIZE, colour=INK)
            paper.block((start, middle - BAR_HEIGHT / 2), (end - start, BAR_HEIGHT), EMPTY, level=2.0)
            length = max(0.0, min(1.0, bar.share)) * (end - start)
            paper.block((start, middle - BAR_HEIGHT / 2), (length, BAR_HEIGHT), bar.colour)
            paper.write((left + width, middle), bar.amount, AMOUNT_SIZE, colour=SOFT, across="right")
        if self.note:
            middle = top + TITLE_ROW + ROW * (len(self.bars) + 0.5)
            paper.write((left, middle), fitting(self.note, width), AMOUNT_SIZE, colour=SOFT)


def fitting(text: str, width: float) -> str:
    """A text that is no wider than this; what is missing shows as an ellipsis."""
    if text_width(text, NAME_SIZE) <= width:
        return text
    while text and text_width(f"{text}…", NAME_SIZE) > width:
        text = text[:-1]
    return f"{text}…"
