"""Sorting inside of compiled loops, without numba's own, which takes seconds to compile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled


@compiled
def sort_by(values: NDArray[np.float64], order: NDArray[np.int64], row: int, count: int) -> None:
    """Put the positions of a row's first values into their order, ties by position (Shell's sort)."""
    for k in range(count):
        order[row, k] = k
    gap = 1
    while gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, count):
            item = order[row, k]
            value = values[row, item]
            place = k
            while place >= gap:
                other = order[row, place - gap]
                if values[row, other] < value or (values[row, other] == value and other < item):
                    break
                order[row, place] = other
                place -= gap
            order[row, place] = item
        gap //= 3
