"""Compiled searches for all that is in a region: a ball or an ellipse."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled
from berth.space.kd_tree import Tree
from berth.space.tree_search import DEEPEST, at_least, distance_to, longer

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]


@compiled
def points_within(tree: Tree, point: FloatArray, radius: float) -> tuple[IndexArray, FloatArray]:
    """The numbers and distances, unsorted, of what is within a radius."""
    numbers, distances = np.empty(64, dtype=np.int64), np.empty(64)
    found = 0
    stack = np.empty(DEEPEST, dtype=np.int64)
    stack[0], size = 0, 1
    while size:
        size -= 1
        part = stack[size]
        if not at_least(tree, part, point) <= radius:
            continue
        if 2 * part + 1 < len(tree.start):
            stack[size], stack[size + 1] = 2 * part + 2, 2 * part + 1
            size += 2
            continue
        for place in range(tree.start[part], tree.stop[part]):
            distance = distance_to(tree.points, place, point) + tree.heights[place]
            if distance <= radius:
                if found == len(numbers):
                    numbers, distances = longer(numbers), longer(distances)
                numbers[found], distances[found] = tree.numbers[place], distance
                found += 1
    return numbers[:found], distances[:found]


@compiled
def points_in_ellipse(tree: Tree, first: FloatArray, second: FloatArray, length: float) -> IndexArray:
    """The numbers, unsorted, of what has distances to both foci of at most `length` in sum."""
    numbers = np.empty(64, dtype=np.int64)
    found = 0
    low, high = _ellipse_box(first, second, length)
    stack = np.empty(DEEPEST, dtype=np.int64)
    stack[0], size = 0, 1
    while size:
        size -= 1
        part = stack[size]
        if _apart(tree, part, low, high):
            continue
        if 2 * part + 1 < len(tree.start):
            stack[size], stack[size + 1] = 2 * part + 2, 2 * part + 1
            size += 2
            continue
        for place in range(tree.start[part], tree.stop[part]):
            legs = distance_to(tree.points, place, first) + distance_to(tree.points, place, second)
            if legs + 2.0 * tree.heights[place] <= length:
                if found == len(numbers):
                    numbers = longer(numbers)
                numbers[found] = tree.numbers[place]
                found += 1
    return numbers[:found]


@compiled
def _apart(tree: Tree, part: int, low: FloatArray, high: FloatArray) -> bool:
    """Whether a part of the tree has nothing in common with a box."""
    for axis in range(len(low)):
        if tree.low[part, axis] > high[axis] or tree.high[part, axis] < low[axis]:
            return True
    return False


@compiled
def _ellipse_box(first: FloatArray, second: FloatArray, length: float) -> tuple[FloatArray, FloatArray]:
    """The ellipse's bounding box, a hair larger than rounding could make it too small."""
    squares = 0.0
    for axis in range(len(first)):
        squares += (second[axis] - first[axis]) ** 2
    focal = math.sqrt(squares)
    share = min(focal / length, 1.0) if length > 0.0 else 1.0
    low, high = np.empty_like(first), np.empty_like(first)
    for axis in range(len(first)):
        along = ((second[axis] - first[axis]) / focal) ** 2 if focal > 0.0 else 0.0
        half = length / 2.0 * math.sqrt(along + (1.0 - share**2) * (1.0 - along))
        slack = 1e-9 * (length + abs(first[axis]) + abs(second[axis]))
        centre = first[axis] + (second[axis] - first[axis]) / 2.0
        low[axis], high[axis] = centre - half - slack, centre + half + slack
    return low, high
