"""Compiled searches for the nearest in a k-d tree; compiled code of others can call them, too.

Distances are rounded in the same way to a box and to the points in it, so the box is never farther than
they are: what a search skips is never nearer than what it found, to the last bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled
from berth.space.kd_tree import Tree

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

DEEPEST = 130
"""Room on a search's stack: two parts for each level of a tree of any size."""


@compiled
def distance_to(points: FloatArray, place: int, point: FloatArray) -> float:
    """Euclidean, from one of the points."""
    squares = 0.0
    for axis in range(len(point)):
        squares += (points[place, axis] - point[axis]) ** 2
    return math.sqrt(squares)


@compiled
def at_least(tree: Tree, part: int, point: FloatArray) -> float:
    """No point of the part is nearer than this, its height included."""
    squares = 0.0
    for axis in range(len(point)):
        if point[axis] < tree.low[part, axis]:
            squares += (tree.low[part, axis] - point[axis]) ** 2
        elif point[axis] > tree.high[part, axis]:
            squares += (point[axis] - tree.high[part, axis]) ** 2
    return float(math.sqrt(squares) + tree.least_height[part])


@compiled
def _push_children(
    tree: Tree, part: int, point: FloatArray, stack: IndexArray, bounds: FloatArray, size: int
) -> int:
    """Both halves of a part onto the stack, the nearer one on top; the new size of the stack."""
    near, far = 2 * part + 1, 2 * part + 2
    to_near, to_far = at_least(tree, near, point), at_least(tree, far, point)
    if to_far < to_near:
        near, far, to_near, to_far = far, near, to_far, to_near
    stack[size], bounds[size] = far, to_far
    stack[size + 1], bounds[size + 1] = near, to_near
    return size + 2


@compiled
def nearest_points(tree: Tree, point: FloatArray, count: int) -> tuple[IndexArray, FloatArray]:
    """The numbers and distances of the `count` nearest, sorted by distance and number."""
    return nearest_points_with_room(tree, point, count, np.empty((0, 0)), np.empty(0))


@compiled
def nearest_points_with_room(
    tree: Tree, point: FloatArray, count: int, room: FloatArray, demand: FloatArray
) -> tuple[IndexArray, FloatArray]:
    """The same of those that have room for a demand of every resource; room is by the points' own numbers."""
    count = min(count, len(tree.numbers))
    numbers, distances = np.empty(max(count, 0), dtype=np.int64), np.empty(max(count, 0))
    if count <= 0:
        return numbers, distances
    stack, bounds = np.empty(DEEPEST, dtype=np.int64), np.empty(DEEPEST)
    stack[0], size, found = 0, 1, 0
    bounds[0] = at_least(tree, stack[0], point)
    while size:
        size -= 1
        part = stack[size]
        if found == count and bounds[size] > distances[0]:
            continue
        if 2 * part + 1 < len(tree.start):
            size = _push_children(tree, part, point, stack, bounds, size)
            continue
        for place in range(tree.start[part], tree.stop[part]):
            distance = distance_to(tree.points, place, point) + tree.heights[place]
            number = tree.numbers[place]
            if not _fits(room, number, demand):
                continue
            if found < count:
                _rise(numbers, distances, found, number, distance)
                found += 1
            elif distance < distances[0] or (distance == distances[0] and number < numbers[0]):
                _sink(numbers, distances, count, number, distance)
    for left in range(found - 1, 0, -1):
        number, distance = numbers[left], distances[left]
        numbers[left], distances[left] = numbers[0], distances[0]
        _sink(numbers, distances, left, number, distance)
    return numbers[:found], distances[:found]


@compiled
def nearest_of_many(
    tree: Tree, points: FloatArray, count: int, room: FloatArray, demands: FloatArray
) -> tuple[IndexArray, FloatArray]:
    """The same for every row of `points` and `demands`; with fewer found, a row ends with -1 and infinity."""
    numbers = np.full((len(points), count), -1, dtype=np.int64)
    distances = np.full((len(points), count), np.inf)
    for row in range(len(points)):
        found, away = nearest_points_with_room(tree, points[row], count, room, demands[row])
        for place in range(len(found)):
            numbers[row, place], distances[row, place] = found[place], away[place]
    return numbers, distances


@compiled
def _rise(numbers: IndexArray, distances: FloatArray, place: int, number: int, distance: float) -> None:
    """Add to a heap, whose first entry is the farthest, at its end."""
    while place:
        above = (place - 1) // 2
        if distances[above] > distance or (distances[above] == distance and numbers[above] > number):
            break
        numbers[place], distances[place] = numbers[above], distances[above]
        place = above
    numbers[place], distances[place] = number, distance


@compiled
def _sink(numbers: IndexArray, distances: FloatArray, size: int, number: int, distance: float) -> None:
    """Replace the first entry of a heap."""
    place = 0
    while 2 * place + 1 < size:
        below = 2 * place + 1
        other = below + 1
        if other < size and (
            distances[other] > distances[below]
            or (distances[other] == distances[below] and numbers[other] > numbers[below])
        ):
            below = other
        if distances[below] < distance or (distances[below] == distance and numbers[below] < number):
            break
        numbers[place], distances[place] = numbers[below], distances[below]
        place = below
    numbers[place], distances[place] = number, distance


@compiled
def nearest_with_room(
    tree: Tree, point: FloatArray, room: FloatArray, demand: FloatArray, allowed: BoolArray
) -> int:
    """The nearest point that is allowed and has room for a demand of every resource; -1 if none has.

    Room [numbers, resources] and `allowed` are by the points' own numbers, and read as they are now.
    """
    best, least = -1, np.inf
    if len(tree.numbers) == 0:
        return best
    stack, bounds = np.empty(DEEPEST, dtype=np.int64), np.empty(DEEPEST)
    stack[0], size = 0, 1
    bounds[0] = at_least(tree, stack[0], point)
    while size:
        size -= 1
        part = stack[size]
        if bounds[size] > least:
            continue
        if 2 * part + 1 < len(tree.start):
            size = _push_children(tree, part, point, stack, bounds, size)
            continue
        for place in range(tree.start[part], tree.stop[part]):
            distance = distance_to(tree.points, place, point) + tree.heights[place]
            number = tree.numbers[place]
            if distance > least or (distance == least and best >= 0 and number > best):
                continue
            if allowed[number] and _fits(room, number, demand):
                best, least = number, distance
    return best


@compiled
def _fits(room: FloatArray, number: int, demand: FloatArray) -> bool:
    for resource in range(len(demand)):  # noqa: SIM110 - all() over a generator isn't compiled
        if room[number, resource] < demand[resource]:
            return False
    return True


@compiled
def begin_search(tree: Tree, point: FloatArray) -> tuple[IndexArray, FloatArray, int]:
    """A search that can be interrupted: parts to look at as a heap, their distances below 0, and its size."""
    room = len(tree.start) // 2 + 2
    parts, bounds = np.empty(room, dtype=np.int64), np.empty(room)
    parts[0] = 0
    bounds[0] = -at_least(tree, parts[0], point)
    return parts, bounds, 1


@compiled
def search_on(
    tree: Tree,
    point: FloatArray,
    parts: IndexArray,
    bounds: FloatArray,
    size: int,
    count: int,
    radius: float,
) -> tuple[IndexArray, FloatArray, int]:
    """Take the nearest leaves off the heap until they have `count` points or are beyond the radius.

    Returns their points' numbers and distances, unsorted, and the size of the heap that is left.
    """
    numbers, distances = np.empty(128, dtype=np.int64), np.empty(128)
    found = 0
    while size and found < count and -bounds[0] <= radius:
        part = parts[0]
        size -= 1
        _sink(parts, bounds, size, parts[size], bounds[size])
        child = 2 * part + 1
        if child < len(tree.start):
            for half in range(child, child + 2):
                _rise(parts, bounds, size, half, -at_least(tree, half, point))
                size += 1
            continue
        for place in range(tree.start[part], tree.stop[part]):
            if found == len(numbers):
                numbers, distances = longer(numbers), longer(distances)
            numbers[found] = tree.numbers[place]
            distances[found] = distance_to(tree.points, place, point) + tree.heights[place]
            found += 1
    return numbers[:found], distances[:found], size


@compiled
def longer(values: NDArray[Any]) -> NDArray[Any]:
    """The same values with as much free room behind them."""
    longer = np.empty(2 * len(values), dtype=values.dtype)
    for place in range(len(values)):
        longer[place] = values[place]
    return longer
