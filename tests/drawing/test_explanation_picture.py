"""The picture of an explanation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from berth.drawing.explanation_picture import (
    BAR_NAME_SIZE,
    FREE,
    OVER,
    Bar,
    BarList,
    LoadPicture,
    draw_explanation,
    fitting,
    load_colour,
)
from berth.drawing.paper import text_width
from berth.drawing.views import application_views
from berth.explanation import explain
from berth.model import Apart, Plan, Problem
from tests.drawing.problems import diamond, incomplete, nothing_placed, reused, without_link
from tests.explanation.test_explain import AT_THE_CENTRE, line

SIGNATURES = {"png": b"\x89PNG", "svg": b"<?xml"}


@pytest.mark.parametrize("case", [diamond, incomplete, nothing_placed, reused, without_link])
def test_any_plan_can_be_drawn(case: Callable[[], tuple[Problem, Plan]]) -> None:
    """Complete or not; the same explanation gives the same bytes."""
    problem, plan = case()
    found = explain(problem, plan, what_if="none")
    drawn = draw_explanation(found, "svg")
    assert drawn[:5] == SIGNATURES["svg"]
    assert draw_explanation(found, "svg") == drawn


def test_formats() -> None:
    """PNG or SVG, nothing else."""
    found = explain(*diamond(), what_if="none")
    assert draw_explanation(found, "png")[:4] == SIGNATURES["png"]
    with pytest.raises(ValueError, match="gif"):
        draw_explanation(found, "gif")  # type: ignore[arg-type]


def test_colours_follow_the_load() -> None:
    """Fuller nodes are darker; what is exceeded stands out, and no limit has a colour of its own."""
    colours = [load_colour(share) for share in (0.0, 0.3, 0.6, 1.0, 1.1, float("inf"))]
    assert len(set(colours)) == 5
    assert colours[-1] == colours[-2] == OVER
    assert FREE not in colours


def test_the_fullest_limit_counts() -> None:
    """A node that is full in one thing is full."""
    problem = line()
    found = explain(problem, AT_THE_CENTRE, what_if="none")
    picture = LoadPicture(found, application_views(problem, found.situation))
    assert picture.shares == {0: 0.5, 2: 0.75}


def test_a_full_rule_is_no_node() -> None:
    """It is in the list of what binds, and colours no node."""
    problem, plan = diamond()
    (application,) = problem.applications
    names = [operator.name for operator in application.operators]
    apart = replace(problem, applications=(replace(application, rules=(Apart(tuple(names[:2])),)),))
    before, after = (explain(item, plan, what_if="none") for item in (problem, apart))
    assert {use.kind for use in after.limits} - {use.kind for use in before.limits} == {"rule"}
    shares = [
        LoadPicture(found, application_views(problem, found.situation)).shares for found in (before, after)
    ]
    assert shares[0] == shares[1]
    assert draw_explanation(after, "svg")[:5] == SIGNATURES["svg"]


def test_long_names_are_cut() -> None:
    """They don't run into the bars."""
    assert fitting("short", 100.0) == "short"
    cut = fitting("a-very-long-name-" * 10, 100.0)
    assert cut.endswith("…")
    assert text_width(cut, BAR_NAME_SIZE) <= 100.0
    assert (
        BarList("title", (Bar("a", 0.5, "1", "#000000"),)).height < BarList("title", (), "note").height + 1.0
    )
