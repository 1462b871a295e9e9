"""Springs between operators (SBON, card 1.5): every stream pulls with its rate x the distance."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@compiled
def anchored_units(
    offsets: IndexArray, neighbours: IndexArray, weights: FloatArray, held: BoolArray
) -> BoolArray:
    """Which units hang together with a held one over streams that carry something."""
    size = len(offsets) - 1
    reached = held.copy()
    waiting = np.empty(size, dtype=np.intp)
    count = 0
    for unit in range(size):
        if held[unit]:
            waiting[count] = unit
            count += 1
    while count:
        count -= 1
        unit = waiting[count]
        for at in range(offsets[unit], offsets[unit + 1]):
            other = neighbours[at]
            if weights[at] > 0.0 and not reached[other]:
                reached[other] = True
                waiting[count] = other
                count += 1
    return reached


@compiled
def to_the_middle(
    offsets: IndexArray, neighbours: IndexArray, weights: FloatArray, free: BoolArray, positions: FloatArray
) -> IndexArray:
    """Bring free units that pull at each other to the middle of the held ones that pull at them.

    What is not free holds its place: it passes no pull on. Every group of free units has such a neighbour.

    Returns the group of each free unit, named by its smallest one; -1 for others.
    """
    size, dimensions = len(offsets) - 1, positions.shape[1]
    group = np.full(size, -1, dtype=np.intp)
    seen_by = np.full(size, -1, dtype=np.intp)
    members = np.empty(size, dtype=np.intp)
    middle = np.empty(dimensions)
    for first in range(size):
        if not free[first] or group[first] >= 0:
            continue
        for axis in range(dimensions):
            middle[axis] = 0.0
        group[first], members[0] = first, first
        count, k, held = 1, 0, 0
        while k < count:
            unit = members[k]
            k += 1
            for at in range(offsets[unit], offsets[unit + 1]):
                other = neighbours[at]
                if weights[at] <= 0.0 or seen_by[other] == first:
                    continue
                seen_by[other] = first
                if not free[other]:
                    held += 1
                    for axis in range(dimensions):
                        middle[axis] += positions[other, axis]
                elif group[other] < 0:
                    group[other] = first
                    members[count] = other
                    count += 1
        for k in range(count):
            for axis in range(dimensions):
                positions[members[k], axis] = middle[axis] / held
    return group


@compiled
def at_rest(
    offsets: IndexArray,
    neighbours: IndexArray,
    weights: FloatArray,
    moving: IndexArray,
    positions: FloatArray,
    tolerance: float,
    rounds: int,
) -> int:
    """Bring units to where their springs are at rest, one after another; other units stay where they are.

    Every moving unit has a stream that carries something. Returns the rounds; it ends when no unit moves
    farther than the tolerance.
    """
    dimensions = positions.shape[1]
    place = np.empty(dimensions)
    for number in range(rounds):
        farthest = 0.0
        for unit in moving:
            for axis in range(dimensions):
                place[axis] = 0.0
            total = 0.0
            for at in range(offsets[unit], offsets[unit + 1]):
                total += weights[at]
                for axis in range(dimensions):
                    place[axis] += weights[at] * positions[neighbours[at], axis]
            square = 0.0
            for axis in range(dimensions):
                place[axis] /= total
                square += (place[axis] - positions[unit, axis]) ** 2
                positions[unit, axis] = place[axis]
            farthest = max(farthest, math.sqrt(square))
        if farthest <= tolerance:
            return number + 1
    return rounds


@compiled
def relax(
    offsets: IndexArray,
    neighbours: IndexArray,
    weights: FloatArray,
    moving: IndexArray,
    positions: FloatArray,
    pace: float,
    threshold: float,
    most_rounds: int,
    free: BoolArray,
    log: FloatArray,
) -> tuple[int, int, int]:
    """Let springs pull all moving units at once, round by round, until no force is above the threshold.

    Forces are divided by the highest sum of rates of a moving unit, so they are in ms; the step is `pace`
    x force. `log` gets rows of unit and place for every step, as far as it has room.

    Returns:
        Rounds (-1: the springs did not come to rest), messages (one for each step and neighbour that is
        free), and rows of the log.
    """
    dimensions = positions.shape[1]
    force = np.zeros((len(moving), dimensions))
    strongest_unit = 0.0
    for unit in moving:
        total = 0.0
        for at in range(offsets[unit], offsets[unit + 1]):
            total += weights[at]
        strongest_unit = max(strongest_unit, total)
    messages, rows = 0, 0
    for number in range(most_rounds + 1):
        strongest = 0.0
        for k in range(len(moving)):
            unit = moving[k]
            square = 0.0
            for axis in range(dimensions):
                force[k, axis] = 0.0
                for at in range(offsets[unit], offsets[unit + 1]):
                    force[k, axis] += weights[at] * (positions[neighbours[at], axis] - positions[unit, axis])
                force[k, axis] /= strongest_unit
                square += force[k, axis] ** 2
            strongest = max(strongest, math.sqrt(square))
        if strongest <= threshold:
            return number, messages, rows
        for k in range(len(moving)):
            unit = moving[k]
            for axis in range(dimensions):
                positions[unit, axis] += pace * force[k, axis]
            for at in range(offsets[unit], offsets[unit + 1]):
                if free[neighbours[at]]:
                    messages += 1
            if rows < len(log):
                log[rows, 0] = unit
                for axis in range(dimensions):
                    log[rows, axis + 1] = positions[unit, axis]
                rows += 1
    return -1, messages, rows
