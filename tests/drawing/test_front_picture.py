"""The picture of a front."""

from __future__ import annotations

from typing import Any

import pytest

from berth.drawing.front_picture import LEFT, WIDTH, draw_front
from berth.drawing.paper import Paper, Point, text_width
from berth.model import Front, FrontPoint, Plan

SIGNATURES = {"png": b"\x89PNG", "svg": b"<?xml"}


def front(*values: tuple[float, float], proved: bool = True, knee: int | None = None) -> Front:
    points = [FrontPoint(pair, proved, Plan(), number == knee) for number, pair in enumerate(values)]
    return Front("p", ("availability", "cost_per_hour"), tuple(points), "found", proved, None, 0.1)


CASES = {
    "one point": front((1.0, 0.0)),
    "two points": front((0.9, 3.0), (0.8, 1.0)),
    "a knee": front((0.9, 3.0), (0.89, 1.1), (0.8, 1.0), knee=1),
    "found only": front((0.9, 3.0), (0.89, 1.1), proved=False),
    "nearly the same": front(*((0.9 - 1e-9 * k, 3.0 - 1e-9 * k) for k in range(30)), knee=7),
    "beyond all measure": front((1e-30, 1e30), (1e-31, 1.0)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("file_format", ["png", "svg"])
def test_any_front_can_be_drawn(case: Front, file_format: str) -> None:
    """The same front gives the same bytes."""
    drawn = draw_front(case, file_format)  # type: ignore[arg-type]
    assert drawn.startswith(SIGNATURES[file_format])
    assert draw_front(case, file_format) == drawn  # type: ignore[arg-type]


@pytest.mark.parametrize("knee", [(0.976, 1.2), (0.911, 0.9), (0.93, 1.0)])
def test_the_name_of_the_knee_is_inside(knee: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """On whichever side of the picture it is."""
    ends: list[tuple[float, float]] = []
    write = Paper.write

    def noted(self: Paper, place: Point, text: str, size: float, **more: Any) -> None:
        if "the knee" in text:
            width = text_width(text, size, bold=True)
            left = place[0] - (width if more["across"] == "right" else 0.0)
            ends.append((left, left + width))
        write(self, place, text, size, **more)

    monkeypatch.setattr(Paper, "write", noted)
    draw_front(front((0.977, 1.8), knee, (0.91, 0.8), knee=1), "svg")
    ((left, right),) = ends
    assert left > LEFT
    assert right < LEFT + WIDTH


def test_the_knee_changes_the_picture() -> None:
    values = (0.9, 3.0), (0.89, 1.1), (0.8, 1.0)
    assert draw_front(front(*values, knee=1), "svg") != draw_front(front(*values), "svg")
    assert draw_front(front(*values, proved=False), "svg") != draw_front(front(*values), "svg")
