"""How values of paper 001 are compared: reductions in percent, with their standard error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from berth.experiments.judging import Mean, mean_of, same_effect

POINTS = 3.0
"""How many percentage points a reduction may differ from the paper's: its traffic is not published, and
halving the spread of ours moves reductions by as much."""


def reduction(lower: ArrayLike, higher: ArrayLike) -> Mean:
    """By how many percent the mean of one is below that of the other, over the same repeats."""
    below, above = (np.asarray(values, dtype=np.float64) for values in (lower, higher))
    ratio = below.mean() / above.mean()
    error = mean_of((below - ratio * above) / above.mean()).error
    return Mean(100.0 * (1.0 - ratio), 100.0 * error, len(below))


def close_points(ours: float, paper: float) -> bool:
    """Whether a reduction is within the percentage points of the paper's, and of its size."""
    return abs(ours - paper) <= POINTS and same_effect(ours, paper)


def percent(value: Mean) -> str:
    """For people."""
    return f"{value.value:.1f} ± {value.error:.1f} %"
