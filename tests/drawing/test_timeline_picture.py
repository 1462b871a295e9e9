from __future__ import annotations

import warnings
from dataclasses import replace
from io import BytesIO
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.image import imread

from berth.drawing.charts import time_text, time_ticks, value_ticks
from berth.drawing.palette import node_colour
from berth.drawing.timeline_picture import (
    MOST_LABEL_ROWS,
    Lane,
    Loss,
    Move,
    Stay,
    Timeline,
    draw_timeline,
    rows_for,
)

SMALL = Timeline(
    title="tag-and-count: app",
    line="2 migrations",
    length=300.0,
    nodes=("rome", "paris", "oslo"),
    lanes=(
        Lane("source", (Stay(0.0, 300.0, ("rome",)),)),
        Lane("count", (Stay(0.0, 95.0, ("rome",)), Stay(98.0, 300.0, ("paris",)))),
        Lane("sink", (Stay(0.0, 200.0, ("oslo",)), Stay(205.0, 300.0, ("rome",)))),
    ),
    moves=(Move(98.0, 3.0, "+30% · 3.0 s"), Move(205.0, 5.0, "back · 5.0 s", back=True)),
    losses=(Loss("oslo", 199.0, 260.0),),
    value_name="response time",
    value_key="response_time_ms",
    achieved=((0.0, 31.8), (100.0, 22.0), (290.0, 21.5)),
    promised=((98.0, 21.0),),
    rates=((0.0, 1000.0), (100.0, 3000.0)),
)
EMPTY = Timeline("nothing", "", 0.0, (), ())
LARGE = Timeline(
    title="large",
    line="many",
    length=90_000.0,
    nodes=tuple(f"node-{number}" for number in range(45)),
    lanes=tuple(
        Lane(f"operator-{number}", (Stay(0.0, 90_000.0, tuple(f"node-{k}" for k in range(number % 7 + 1))),))
        for number in range(30)
    ),
    moves=tuple(Move(900.0 * number, 2.0, "+10% · 2.0 s") for number in range(100)),
    losses=tuple(Loss(f"node-{number}", 100.0 * number) for number in range(10)),
    achieved=tuple((100.0 * number, float(number)) for number in range(900)),
)
AWKWARD = replace(
    SMALL,
    title="$x_1$ 東京",
    nodes=("[red]rome[/red]", "$paris$", "東京"),
    lanes=(Lane("数据 $a_b$" * 9, (Stay(0.0, 300.0, ("$paris$",)),)),),
    losses=(Loss("東京", 10.0),),
)


@pytest.mark.parametrize("timeline", [SMALL, EMPTY, LARGE, AWKWARD], ids=lambda item: item.title[:8])
def test_every_timeline_gives_a_picture_without_warnings(timeline: Timeline) -> None:
    """PNG and SVG can be read again, whatever the timeline lacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dots, lines = draw_timeline(timeline, "png"), draw_timeline(timeline, "svg")
    assert imread(BytesIO(dots)).shape[2] in (3, 4)
    assert ElementTree.fromstring(lines).tag.endswith("svg")


@pytest.mark.parametrize("file_format", ["png", "svg"])
def test_the_same_timeline_gives_the_same_bytes(file_format: str) -> None:
    """Nothing random and no date is in a picture."""
    first, second = (draw_timeline(SMALL, file_format) for _ in range(2))  # type: ignore[arg-type]
    assert first == second


def test_what_happened_is_in_the_picture() -> None:
    """Lanes, nodes, moves with their pauses, values with their units, and the times."""
    text = draw_timeline(SMALL, "svg").decode()
    words = ("source", "count", "1: +30% · 3.0 s", "2: back · 5.0 s", "node oslo", "response time", "30 ms")
    for word in (*words, "3 kB/s", "1:00 min", "promised", "rate of the sources"):
        assert f"<!-- {word}" in text


def test_nodes_have_the_colours_of_all_pictures() -> None:
    """A node's colour is that of its number in the problem."""
    text = draw_timeline(SMALL, "svg").decode()
    for number in range(3):
        assert f"fill: {node_colour(number)}" in text
    assert f"fill: {node_colour(3)}" not in text


def test_what_is_not_known_is_said() -> None:
    """Neither a value nor a rate before the first measurement."""
    text = draw_timeline(replace(SMALL, achieved=(), promised=(), rates=()), "svg").decode()
    assert "<!-- not known yet" in text
    assert "<!-- not measured yet" in text


def test_too_many_moves_are_not_all_named() -> None:
    """Their lines are there; labels that would lie on others are not."""
    text = draw_timeline(LARGE, "svg").decode()
    named = text.count("+10% · 2.0 s -->")
    assert MOST_LABEL_ROWS <= named < 100


def test_unknown_formats_are_refused() -> None:
    """Only PNG and SVG are drawn."""
    with pytest.raises(ValueError, match="png or svg"):
        draw_timeline(SMALL, "gif")  # type: ignore[arg-type]


@given(st.lists(st.tuples(st.floats(0, 900), st.floats(1, 90)), max_size=40))
def test_labels_never_overlap(places: list[tuple[float, float]]) -> None:
    """Not in one row."""
    spans = sorted((left, left + width) for left, width in places)
    rows = rows_for(spans, 6.0)
    for row in set(rows):
        inside = [span for span, its_row in zip(spans, rows, strict=True) if its_row == row]
        assert all(left[1] + 6.0 <= right[0] for left, right in pairwise(inside))


@given(st.floats(1.0, 1e8), st.integers(3, 12))
def test_times_are_round_and_few(length: float, most: int) -> None:
    """From the beginning, within the picture."""
    ticks = time_ticks(length, most)
    assert ticks[0] == 0.0
    assert len(ticks) <= most + 1
    assert ticks[-1] <= length


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9), st.integers(2, 6))
def test_values_lie_within_their_ticks(values: list[float], most: int) -> None:
    """And the axis has a length."""
    ticks = value_ticks(values, most)
    slack = 1e-9 * max(map(abs, (*values, *ticks)))
    assert ticks[0] <= min(values) + slack
    assert ticks[-1] >= max(values) - slack
    assert ticks[0] < ticks[-1]
    assert len(ticks) <= most + 2


def test_times_as_people_read_them() -> None:
    """Seconds, minutes, hours and days."""
    texts = [time_text(seconds) for seconds in (0, 30, 90, 3600, 5400, 86400 * 1.5)]
    assert texts == ["0 s", "30 s", "1:30 min", "1:00 h", "1:30 h", "1.5 d"]
