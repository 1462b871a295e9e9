"""What a search over a pipeline or a fan comes to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

FINE = 1e-10
"""Costs that differ by less than this share are the same."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search has found: a place for each block, its costs, and a bound on all plans' costs."""

    places: NDArray[np.intp] | None
    costs: float
    bound: float
    work: int


def least_open(
    depth: int,
    child_bound: FloatArray,
    order: NDArray[np.int64],
    children: NDArray[np.int64],
    turn: NDArray[np.int64],
) -> float:
    """The least bound on a search's stack of what was not looked at yet; minus infinity before its start."""
    least = np.inf
    for level in range(depth + 1):
        if children[level] < 0:
            # reached, not yet looked at
            reached = order[level - 1, turn[level - 1] - 1] if level else 0
            least = min(least, float(child_bound[level - 1, reached]) if level else -np.inf)
        elif turn[level] < children[level]:
            least = min(least, float(child_bound[level, order[level, turn[level]]]))
    return least
