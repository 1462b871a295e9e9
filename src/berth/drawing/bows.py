"""Slightly bent lines between discs, so that the way there and the way back are two lines."""

from __future__ import annotations

import numpy as np
from matplotlib.path import Path
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Disc = tuple[float, float, float]
"""x, y and radius."""

BEND = 0.28
"""How far the control point is from the straight line, as a share of its length."""
SAMPLES = 31


def bowed(start: Disc, end: Disc) -> Path:
    """A quadratic curve from the edge of one disc to that of another."""
    here, there = np.array(start[:2]), np.array(end[:2])
    along = there - here
    control = (here + there) / 2.0 + BEND / 2.0 * np.array([along[1], -along[0]])
    return Path(
        [_towards(here, control, start[2]), control, _towards(there, control, end[2] + 1.0)],
        [Path.MOVETO, Path.CURVE3, Path.CURVE3],
    )


def _towards(here: FloatArray, there: FloatArray, distance: float) -> FloatArray:
    length = float(np.hypot(*(there - here)))
    return here if length == 0.0 else here + (there - here) * min(1.0, distance / length)


def samples(path: Path) -> FloatArray:
    """Points along a quadratic curve, without its ends."""
    start, control, end = np.asarray(path.vertices, dtype=np.float64)
    part = np.linspace(0.0, 1.0, SAMPLES + 2)[1:-1, None]
    return np.asarray((1 - part) ** 2 * start + 2 * part * (1 - part) * control + part**2 * end)
