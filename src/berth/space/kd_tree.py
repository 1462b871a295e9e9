"""A k-d tree in plain arrays: compiled code can take it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

LEAF = 12
"""As many points share a leaf at most; found by measuring."""


class Tree(NamedTuple):
    """Points in the order of the leaves; part k of the tree is halved into parts 2k + 1 and 2k + 2."""

    points: FloatArray
    heights: FloatArray
    numbers: IndexArray
    """The points' own numbers."""
    start: IndexArray
    stop: IndexArray
    """Every part's range of points."""
    low: FloatArray
    high: FloatArray
    """Every part's bounding box."""
    least_height: FloatArray


def build_tree(points: FloatArray, heights: FloatArray, numbers: IndexArray) -> Tree:
    """The tree of finite points; halved until a leaf has few of them."""
    levels = 0
    while (len(points) >> levels) > LEAF:
        levels += 1
    parts = 2 ** (levels + 1) - 1
    start, stop = np.zeros(parts, dtype=np.int64), np.zeros(parts, dtype=np.int64)
    low, high = np.full((parts, points.shape[1]), np.inf), np.full((parts, points.shape[1]), -np.inf)
    least_height = np.full(parts, np.inf)
    order = np.arange(len(points), dtype=np.int64)
    if len(points):
        _halve(points, heights, order, start, stop, low, high, least_height)
    return Tree(points[order], heights[order], numbers[order], start, stop, low, high, least_height)


@compiled
def _halve(
    points: FloatArray,
    heights: FloatArray,
    order: IndexArray,
    start: IndexArray,
    stop: IndexArray,
    low: FloatArray,
    high: FloatArray,
    least_height: FloatArray,
) -> None:
    """Fill in the parts from the root on, and sort `order` so that every part is a range of it."""
    parts, dimensions = low.shape
    stop[0] = len(order)
    for part in range(parts):
        for place in range(start[part], stop[part]):
            row = order[place]
            least_height[part] = min(least_height[part], heights[row])
            for axis in range(dimensions):
                low[part, axis] = min(low[part, axis], points[row, axis])
                high[part, axis] = max(high[part, axis], points[row, axis])
        child = 2 * part + 1
        if child < parts:
            middle = (start[part] + stop[part]) // 2
            widest = 0
            for axis in range(dimensions):
                if high[part, axis] - low[part, axis] > high[part, widest] - low[part, widest]:
                    widest = axis
            _split(points[:, widest], order, start[part], stop[part] - 1, middle)
            start[child], stop[child] = start[part], middle
            start[child + 1], stop[child + 1] = middle, stop[part]


@compiled
def _split(values: FloatArray, order: IndexArray, first: int, last: int, middle: int) -> None:
    """Sort a range of `order` so far that no value before `middle` is larger than one from it on."""
    while first < last:
        pivot = values[order[(first + last) // 2]]
        left, right = first, last
        while left <= right:
            while values[order[left]] < pivot:
                left += 1
            while values[order[right]] > pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            last = right
        elif middle >= left:
            first = left
        else:
            return
