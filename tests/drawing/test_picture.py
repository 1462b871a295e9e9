from __future__ import annotations

import warnings
from collections.abc import Callable
from io import BytesIO
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.image import imread

from berth.drawing.picture import draw
from berth.model import BadInput, Plan, Problem

from .problems import EVERYTHING, awkward_names, diamond, small

Maker = Callable[[], tuple[Problem, Plan]]


@pytest.mark.parametrize("with_plan", [True, False])
@pytest.mark.parametrize("make", EVERYTHING)
def test_every_problem_gives_a_picture_without_warnings(make: Maker, with_plan: bool) -> None:
    """PNG and SVG can be read again, whatever the problem lacks."""
    problem, plan = make()
    chosen = plan if with_plan else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dots = draw(problem, chosen, "png")
        lines = draw(problem, chosen, "svg")
    assert imread(BytesIO(dots)).shape[2] in (3, 4)
    assert ElementTree.fromstring(lines).tag.endswith("svg")


@pytest.mark.parametrize("file_format", ["png", "svg"])
@pytest.mark.parametrize("make", [diamond, awkward_names])
def test_the_same_plan_gives_the_same_bytes(make: Maker, file_format: str) -> None:
    """Nothing random and no date is in a picture."""
    assert draw(*make(), file_format) == draw(*make(), file_format)  # type: ignore[arg-type]


def test_names_are_in_the_picture() -> None:
    """The SVG tells what is written: title, operators, nodes, rates and metrics."""
    text = draw(*small(), "svg").decode()
    for words in ("small", "source", "paris", "1 kB/s", "policy by-hand, feasible · response time 28 ms"):
        assert f"<!-- {words}" in text


def test_the_users_settings_change_nothing() -> None:
    """A user's matplotlib settings don't show in pictures, and are left as they were."""
    usual = draw(*small(), "svg")
    with matplotlib.rc_context({"lines.linewidth": 9.0, "svg.hashsalt": "mine", "text.color": "red"}):
        assert draw(*small(), "svg") == usual
        assert matplotlib.rcParams["svg.hashsalt"] == "mine"


def test_another_plan_gives_another_picture() -> None:
    """Where an operator runs can be seen."""
    problem, plan = small()
    moved = Plan({**plan.assignment, "app/work": "oslo"}, policy=plan.policy)
    assert draw(problem, plan, "svg") != draw(problem, moved, "svg")


def test_unknown_formats_are_refused() -> None:
    """Only PNG and SVG are drawn."""
    with pytest.raises(ValueError, match="png or svg"):
        draw(*small(), "gif")  # type: ignore[arg-type]


def test_unknown_names_are_bad_input() -> None:
    """A plan for another problem is refused."""
    with pytest.raises(BadInput, match="no node"):
        draw(small()[0], Plan({"app/source": "nowhere"}), "png")
