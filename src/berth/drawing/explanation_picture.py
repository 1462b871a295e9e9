"""An explanation as a picture: the network by load, and what binds, what else, and what would help."""

from __future__ import annotations

import math
from typing import get_args

from berth.amounts import metric, percentage, quantity
from berth.drawing.bar_list import Bar, BarList
from berth.drawing.headline import headline
from berth.drawing.lettering import text_width
from berth.drawing.load_picture import LoadPicture, load_colour
from berth.drawing.network_picture import Panel
from berth.drawing.paper import PALE, SOFT, Format, Paper, settings
from berth.drawing.picture import LINE_SIZE, MARGIN, TITLE_HEIGHT, TITLE_SIZE
from berth.drawing.views import application_views, instance_groups
from berth.evaluation import METRIC_BY_NAME
from berth.explanation import Explanation

NETWORK_WIDTH, LOWEST = 620.0, 420.0
LIST_WIDTH = 390.0
BETWEEN_LISTS = 16.0
MOST_LIMITS, MOST_ALTERNATIVES, MOST_CHANGES = 8, 12, 6
WORSE, BETTER, FORBIDDEN = "#8c8c8c", "#009e73", "#a8d8c8"


def draw_explanation(explanation: Explanation, file_format: Format) -> bytes:
    """Draw an explanation as a PNG or SVG file; the same explanation gives the same bytes.

    Raises:
        ValueError: the format is neither `png` nor `svg`.
    """
    if file_format not in get_args(Format):
        raise ValueError(f"no picture format {file_format!r}: png or svg")
    with settings():
        return _drawn(explanation).saved(file_format)


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
    title_width = max(text_width(problem.name, TITLE_SIZE, bold=True), text_width(line, LINE_SIZE))
    left = panel.bounds[2] + 2 * MARGIN
    paper = Paper(max(left + LIST_WIDTH, MARGIN + title_width) + MARGIN, panel.bounds[3] + MARGIN)
    paper.write((MARGIN, 22.0), problem.name, TITLE_SIZE, bold=True)
    paper.write((MARGIN, 42.0), line, LINE_SIZE, colour=SOFT)
    LoadPicture(explanation, application_views(problem, situation)).draw(paper, panel)
    paper.line((left - MARGIN, panel.top), (left - MARGIN, panel.bounds[3]), 0.8, PALE)
    top = panel.top
    for item in lists:
        item.draw(paper, left, top, LIST_WIDTH)
        top += item.height + BETWEEN_LISTS
    return paper


def _limits(explanation: Explanation) -> BarList:
    bars = []
    for use in explanation.limits[:MOST_LIMITS]:
        text = percentage(use.share) if math.isfinite(use.share) else "none there"
        bars.append(Bar(f"{use.kind} {use.name}", use.share, text, load_colour(use.share)))
    left = len(explanation.limits) - MOST_LIMITS
    return BarList("What binds", tuple(bars), f"and {left} more" if left > 0 else "")


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
        sign = "+" if change > 0 else "−"
        text = "the same" if change == 0 else f"{sign}{_amount(explanation, abs(change))}"
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
            "none" if gain == 0 else f"{'' if gain > 0 else '−'}{_amount(explanation, abs(gain))}",
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


def _amount(explanation: Explanation, value: float) -> str:
    goal = explanation.goal
    if goal is None or goal.single is None:
        return quantity(value)
    return metric(METRIC_BY_NAME[goal.single].key, value)
