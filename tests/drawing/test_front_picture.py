"""The picture of a front."""

from __future__ import annotations

import pytest

from berth.drawing.front_picture import draw_front
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


def test_the_knee_changes_the_picture() -> None:
    values = (0.9, 3.0), (0.89, 1.1), (0.8, 1.0)
    assert draw_front(front(*values, knee=1), "svg") != draw_front(front(*values), "svg")
    assert draw_front(front(*values, proved=False), "svg") != draw_front(front(*values), "svg")
