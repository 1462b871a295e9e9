"""An explanation as a picture: the network by load, and what binds, what else, and what would help."""

from __future__ import annotations

import math
from dataclasses import dataclass

from berth.amounts import distance, percentage, signed
from berth.drawing.network_picture import NetworkPicture
from berth.drawing.paper import (
    INK,
    MARGIN,
    PALE,
    SOFT,
    TITLE_HEIGHT,
    Format,
    Panel,
    Paper,
    picture_file,
    text_width,
    title_width,
)
from berth.drawing.views import ApplicationView, application_views, headline, instance_groups
from berth.explanation import Explanation

ROW = 15.0
TITLE_ROW = 20.0
BAR_NAME_SIZE, AMOUNT_SIZE, LIST_TITLE_SIZE = 7.6, 7.2, 9.5
BAR_HEIGHT = 7.0
NAME_SHARE, AMOUNT_SHARE = 0.58, 0.14
"""The shares of the width that names and amounts take; bars take the rest."""
GAP = 6.0
EMPTY = "#eeeeee"
STEPS = ((0.25, "#fff0a0"), (0.5, "#fed976"), (0.75, "#fd8d3c"), (1.0 + 1e-9, "#e31a1c"))
"""The colours of nodes that are full up to a share."""
OVER = "#67001f"
FREE = "#c6dbef"
"""The colour of nodes in use that have no limit."""
NETWORK_WIDTH, LOWEST = 620.0, 420.0
LIST_WIDTH = 390.0
BETWEEN_LISTS = 16.0
MOST_LIMITS, MOST_ALTERNATIVES, MOST_CHANGES = 8, 12, 6
WORSE, BETTER, FORBIDDEN = "#8c8c8c", "#009e73", "#a8d8c8"


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
        paper.write((left, top + 8.0), self.title, LIST_TITLE_SIZE, bold=True)
        names, amounts = NAME_SHARE * width, AMOUNT_SHARE * width
        start, end = left + names + GAP, left + width - amounts - GAP
        for number, bar in enumerate(self.bars):
            middle = top + TITLE_ROW + ROW * (number + 0.5)
            paper.write((left, middle), fitting(bar.name, names), BAR_NAME_SIZE, colour=INK)
            paper.block((start, middle - BAR_HEIGHT / 2), (end - start, BAR_HEIGHT), EMPTY, level=2.0)
            length = max(0.0, min(1.0, bar.share)) * (end - start)
            paper.block((start, middle - BAR_HEIGHT / 2), (length, BAR_HEIGHT), bar.colour)
            paper.write((left + width, middle), bar.amount, AMOUNT_SIZE, colour=SOFT, across="right")
        if self.note:
            middle = top + TITLE_ROW + ROW * (len(self.bars) + 0.5)
            paper.write((left, middle), fitting(self.note, width), AMOUNT_SIZE, colour=SOFT)


def fitting(text: str, width: float) -> str:
    """A text that is no wider than this; what is missing shows as an ellipsis."""
    if text_width(text, BAR_NAME_SIZE) <= width:
        return text
    while text and text_width(f"{text}…", BAR_NAME_SIZE) > width:
        text = text[:-1]
    return f"{text}…"


def load_colour(share: float) -> str:
    """The colour of a share: pale yellow, orange, red; dark red beyond the limit."""
    return next((colour for most, colour in STEPS if share <= most), OVER)


class LoadPicture(NetworkPicture):
    """The network of an explained plan; the fullest limit of a node gives its colour."""

    def __init__(self, explanation: Explanation, views: list[ApplicationView]) -> None:
        situation = explanation.situation
        super().__init__(situation.problem, situation, views)
        self.shares: dict[int, float] = {}
        """How full every node is that has a limit."""
        for use in explanation.limits:
            if use.node is not None:
                self.shares[use.node] = max(self.shares.get(use.node, 0.0), use.share)

    def _colour(self, node: int) -> str:
        return load_colour(self.shares[node]) if node in self.shares else FREE

    def _notes(self) -> list[str]:
        return [*super()._notes(), "colour: fullest limit, yellow to red; dark: exceeded"]


def draw_explanation(explanation: Explanation, file_format: Format) -> bytes:
    """Draw an explanation as a PNG or SVG file; the same explanation gives the same bytes.

    Raises:
        ValueError: the format is neither `png` nor `svg`.
    """
    return picture_file(lambda: _drawn(explanation), file_format)


def _drawn(explanation: Explanation) -> Paper:
    situation = explanation.situation
    problem = situation.problem
    lists = [
        item
        for item in (_limits(explanation), _alternatives(explanation), _changes(explanation))
        if item.bars
    ]
    height = max(LOWEST, sum(item.height + BETWEEN_LISTS for item in lists))
    panel = Panel(MARGIN, TITLE_HEIGHT, NETWORK_WIDTH, height)
    line = " · ".join(headline(problem, situation))
    left = panel.right + 2 * MARGIN
    width = max(left + LIST_WIDTH, MARGIN + title_width(problem.name, line)) + MARGIN
    paper = Paper(width, panel.bottom + MARGIN)
    paper.title(problem.name, line)
    LoadPicture(explanation, application_views(problem, situation)).draw(paper, panel)
    paper.line((left - MARGIN, panel.top), (left - MARGIN, panel.bottom), 0.8, PALE)
    top = panel.top
    for item in lists:
        item.draw(paper, left, top, LIST_WIDTH)
        top += item.height + BETWEEN_LISTS
    return paper


def _limits(explanation: Explanation) -> BarList:
    bars, rows = [], explanation.bounds
    for row in rows[:MOST_LIMITS]:
        share = row.use.share
        text = percentage(share) if math.isfinite(share) else "none there"
        bars.append(Bar(row.title, share, text, load_colour(share)))
    left = len(rows) - MOST_LIMITS
    most = explanation.situation.network.max_utilisation
    allowed = (
        "" if most is None or most == 1.0 else f" (processors: of the {percentage(most)} that may be used)"
    )
    return BarList(f"What binds{allowed}", tuple(bars), f"and {left} more" if left > 0 else "")


def _alternatives(explanation: Explanation) -> BarList:
    """The best other nodes and the better ones that are forbidden, the cheapest first."""
    rows = []
    for numbers, item in explanation.rows:
        names = ", ".join(instance_groups(explanation.situation.problem, numbers))
        for other in [*item.forbidden[:1], *([item.best] if item.best is not None else [])]:
            if other.change is not None:
                rows.append((other.change, other, f"{names} → {other.node}"))
    maximise = explanation.goal is not None and explanation.goal.maximise
    rows.sort(key=lambda row: -row[0] if maximise else row[0])
    shown = rows[:MOST_ALTERNATIVES]
    longest = max((abs(change) for change, _, _ in shown), default=0.0)
    bars = []
    for change, other, names in shown:
        share = abs(change) / longest if longest > 0 else 0.0
        text = "the same" if change == 0 else signed(change, _unit(explanation))
        colour = FORBIDDEN if other.breaks else BETTER if other.better else WORSE
        bars.append(Bar(f"{names} (forbidden)" if other.breaks else names, share, text, colour))
    left = len(rows) - MOST_ALTERNATIVES
    title = f"Other nodes: change of {_goal_words(explanation)}"
    return BarList(title, tuple(bars), f"and {left} more" if left > 0 else "")


def _changes(explanation: Explanation) -> BarList:
    found = explanation.what_if
    if found is None:
        return BarList("", ())
    known = [(item.gain, item.words) for item in found.changes if item.gain is not None]
    known.sort(key=lambda item: -item[0])
    shown = known[:MOST_CHANGES]
    longest = max((abs(gain) for gain, _ in shown), default=0.0)
    bars = tuple(
        Bar(
            words,
            abs(gain) / longest if longest > 0 else 0.0,
            "none" if gain == 0 else distance(gain, _unit(explanation)),
            BETTER if gain > 0 else WORSE,
        )
        for gain, words in shown
    )
    proved = all(item.proved for item in found.changes)
    note = "" if proved or not bars else "found by the policy, not all of it proved"
    return BarList(f"What would help: gain in {_goal_words(explanation)}", bars, note)


def _goal_words(explanation: Explanation) -> str:
    goal = explanation.goal
    return "the weighted sum" if goal is None or goal.single is None else goal.single.replace("_", " ")


def _unit(explanation: Explanation) -> str:
    return "" if explanation.goal is None else explanation.goal.unit
