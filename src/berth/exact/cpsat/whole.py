"""Real amounts as whole numbers, fine enough that nothing within the tolerance is lost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.limits import TOLERANCE

FloatArray = NDArray[np.float64]
FINE = 2.0**43
"""How finely the largest amount of a row or an objective is divided where decimals don't suffice."""


def decimal_factor(*amounts: FloatArray) -> float | None:
    """The least power of ten, up to a million, that makes all amounts whole; None if there is none."""
    values = np.concatenate([np.ravel(part) for part in amounts])
    for factor in 10.0 ** np.arange(7):
        scaled = values * factor
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-12 * np.maximum(1.0, np.abs(scaled))):
            return float(factor) if np.abs(scaled).max(initial=0.0) < FINE else None
    return None


def whole_row(amounts: FloatArray, limit: float) -> tuple[list[int], int]:
    """Coefficients and limit of `sum of amounts <= limit` in whole numbers, with the tolerance."""
    factor = decimal_factor(amounts) or FINE / max(
        float(np.abs(amounts).max(initial=0.0)), abs(limit), 1e-300
    )
    whole = np.round(amounts * factor)
    # Half a unit for each amount that was rounded: what fits in truth must fit in whole numbers.
    rounded = int(np.count_nonzero(np.abs(whole - amounts * factor) > 1e-9))
    most = limit * (1 + TOLERANCE) * factor + 1e-6 + rounded / 2
    return [int(value) for value in whole], int(np.floor(most))


def rounding(amounts: FloatArray, factor: float) -> float:
    """The most units that rounding changes one of some amounts by; the last digits of a float don't count."""
    scaled = amounts * factor
    change = float(np.abs(np.round(scaled) - scaled).max(initial=0.0))
    return change if change > 1e-9 * max(1.0, float(np.abs(scaled).max(initial=0.0)) * 1e-3) else 0.0
