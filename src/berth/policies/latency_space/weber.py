"""The Weber point: where an operator costs its neighbours least (paper 003, algorithm 2; card 1.2).

The printed loop ends after its first accepted step, or never (errata E3.1 and E3.2). Here it ends at a
vertex that passes the test of optimality, where the flows cancel out, or when the step is too short to
matter. Steps along the flow can go to and fro in a narrow valley beside a vertex almost without end; a
search that takes long gets Newton steps, too. `paper=True` keeps the printed loop.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]

VERTEX, INTERIOR, ENDLESS = 0, 1, 2
"""How a search ended: on a neighbour, between them or, as printed, not at all within the rounds allowed."""
STEP = 1e-6
"""The shortest step that still matters, in ms."""
ROUNDS = 10_000
PATIENCE = 40
"""After so many rounds every other step is Newton's."""
COINCIDENT = 1e-9
"""Positions nearer than this, in ms, are one place."""
STRAIGHT = 1e-9
"""Points nearer to a line than this share of its length are on it."""
NOISE = 1e-14
"""A usage that is lower by less than this share may be rounding."""
BALANCED = 1e-12
"""Weights that differ by less, relatively, are equal: sums of floats are not exact."""


# Loops instead of whole-array operations: these take seconds to compile.
@compiled
def _sum(values: FloatArray, count: int) -> float:
    total = 0.0
    for k in range(count):
        total += values[k]
    return total


@compiled
def copy_to(source: FloatArray, target: FloatArray) -> None:
    """Copy a place over another one."""
    for k in range(len(target)):
        target[k] = source[k]


@compiled
def usage_at(points: FloatArray, weights: FloatArray, count: int, place: FloatArray) -> float:
    """Sum of weight x distance from a place to the first `count` points."""
    total = 0.0
    for k in range(count):
        square = 0.0
        for axis in range(points.shape[1]):
            square += (points[k, axis] - place[axis]) ** 2
        total += weights[k] * math.sqrt(square)
    return total


@compiled
def _flow(
    points: FloatArray, weights: FloatArray, count: int, place: FloatArray, flow: FloatArray
) -> tuple[float, float, float]:
    """The pull of all points on a place, into `flow`.

    Returns its strength, the weight of the points at that very place, and the largest distance.
    """
    dimensions = points.shape[1]
    for axis in range(dimensions):
        flow[axis] = 0.0
    here = 0.0
    farthest = 0.0
    for k in range(count):
        square = 0.0
        for axis in range(dimensions):
            square += (points[k, axis] - place[axis]) ** 2
        distance = math.sqrt(square)
        if distance <= COINCIDENT:
            here += weights[k]
            continue
        farthest = max(farthest, distance)
        for axis in range(dimensions):
            flow[axis] += weights[k] * (points[k, axis] - place[axis]) / distance
    strength = 0.0
    for axis in range(dimensions):
        strength += flow[axis] ** 2
    return math.sqrt(strength), here, farthest


@compiled
def _newton_step(
    points: FloatArray, weights: FloatArray, count: int, place: FloatArray, flow: FloatArray, step: FloatArray
) -> float:
    """Newton's step at a place that is no point's, into `step`; returns its length, or -1: there is none."""
    dimensions = len(place)
    matrix = np.zeros((dimensions, dimensions))
    away = np.empty(dimensions)
    for k in range(count):
        square = 0.0
        for axis in range(dimensions):
            away[axis] = points[k, axis] - place[axis]
            square += away[axis] ** 2
        distance = math.sqrt(square)
        if distance <= COINCIDENT:
            return -1.0
        for row in range(dimensions):
            matrix[row, row] += weights[k] / distance
            for column in range(dimensions):
                matrix[row, column] -= weights[k] * away[row] * away[column] / (square * distance)
    largest = 0.0
    for row in range(dimensions):
        step[row] = flow[row]
        largest = max(largest, matrix[row, row])
    for row in range(dimensions):
        # The matrix is positive semidefinite: elimination needs no pivots.
        if matrix[row, row] <= 1e-12 * largest:
            return -1.0
        for below in range(row + 1, dimensions):
            factor = matrix[below, row] / matrix[row, row]
            for column in range(row, dimensions):
                matrix[below, column] -= factor * matrix[row, column]
            step[below] -= factor * step[row]
    length = 0.0
    for row in range(dimensions - 1, -1, -1):
        for column in range(row + 1, dimensions):
            step[row] -= matrix[row, column] * step[column]
        step[row] /= matrix[row, row]
        length += step[row] ** 2
    return math.sqrt(length)


@compiled
def _medians(points: FloatArray, weights: FloatArray, count: int, place: FloatArray) -> bool:
    """The weighted median of every coordinate, the optimum for Manhattan distances; midpoints of intervals.

    Returns whether some coordinate has an interval of medians.
    """
    half = _sum(weights, count) / 2.0
    interval = False
    order = np.empty(count, dtype=np.intp)
    for axis in range(points.shape[1]):
        for k in range(count):
            spot = k
            while spot > 0 and points[order[spot - 1], axis] > points[k, axis]:
                order[spot] = order[spot - 1]
                spot -= 1
            order[spot] = k
        reached = 0.0
        for spot in range(count):
            reached += weights[order[spot]]
            value = points[order[spot], axis]
            if spot + 1 < count and abs(reached - half) <= BALANCED * half:
                following = points[order[spot + 1], axis]
                interval = interval or following - value > COINCIDENT
                place[axis] = (value + following) / 2.0
                break
            if reached >= half:
                place[axis] = value
                break
    return interval


@compiled
def _collinear(points: FloatArray, count: int) -> bool:
    """Whether all points are on one line (and not all at one place)."""
    dimensions = points.shape[1]
    far, longest = 0, 0.0
    for k in range(1, count):
        square = 0.0
        for axis in range(dimensions):
            square += (points[k, axis] - points[0, axis]) ** 2
        if square > longest:
            far, longest = k, square
    if longest <= COINCIDENT**2:
        return False
    for k in range(1, count):
        along = 0.0
        for axis in range(dimensions):
            along += (points[k, axis] - points[0, axis]) * (points[far, axis] - points[0, axis])
        # The distance from the line by coordinates: a difference of squares would be nothing but rounding.
        square = 0.0
        for axis in range(dimensions):
            foot = along / longest * (points[far, axis] - points[0, axis])
            square += (points[k, axis] - points[0, axis] - foot) ** 2
        if square > STRAIGHT**2 * longest + COINCIDENT**2:
            return False
    return True


@compiled
def weber_point(
    points: FloatArray, weights: FloatArray, count: int, place: FloatArray, paper: bool
) -> tuple[int, int, bool]:
    """Find the place of least usage for the first `count` points (at least one), into `place`.

    Weights are above 0.

    Returns:
        How it ended (`VERTEX`, `INTERIOR`, `ENDLESS`), rounds, and whether other places are as good.
    """
    interval = _medians(points, weights, count, place)
    if interval and not paper and _collinear(points, count):
        # Along a line the medians are optimal, and so is the whole segment between them.
        return INTERIOR, 0, True
    lowest = usage_at(points, weights, count, place)
    best = -1
    for k in range(count):
        value = usage_at(points, weights, count, points[k])
        if value <= lowest and (best < 0 or value < lowest):
            best, lowest = k, value
    if best >= 0:
        copy_to(points[best], place)
    flow = np.empty(points.shape[1])
    trial = np.empty(points.shape[1])
    step = -1.0
    for number in range(ROUNDS):
        strength, here, farthest = _flow(points, weights, count, place, flow)
        if step < 0.0:
            step = farthest
        if not paper:
            # No pull is stronger than what already is here: a vertex, or flows that cancel out.
            if strength <= here:
                return VERTEX, number, False
            if strength <= 1e-14 * _sum(weights, count) or step < STEP:
                return INTERIOR, number, False
            if number >= PATIENCE and number % 2 == 0:
                length = _newton_step(points, weights, count, place, flow, trial)
                if length >= 0.0:
                    for axis in range(len(place)):
                        trial[axis] += place[axis]
                    value = usage_at(points, weights, count, trial)
                    if value < lowest:
                        lowest = value
                        copy_to(trial, place)
                    if length < STEP:
                        return INTERIOR, number + 1, False
                    continue
        length = step / strength if strength > 0.0 else 0.0
        for axis in range(len(place)):
            trial[axis] = place[axis] + length * flow[axis]
        value = usage_at(points, weights, count, trial)
        # What rounding alone may have gained is no reason to keep steps as long as they are.
        worth = value < lowest * (1.0 - NOISE) if not paper else value < lowest
        if value < lowest:
            lowest = value
            copy_to(trial, place)
            if paper:
                # As printed: the new usage less the old one is below any threshold.
                return INTERIOR, number + 1, False
        if not worth:
            step /= 2.0
    return (ENDLESS if paper else INTERIOR), ROUNDS, False


def weber(points: FloatArray, weights: FloatArray, paper: bool = False) -> tuple[FloatArray, int, int, bool]:
    """The Weber point of some weighted points, how the search ended, its rounds, and whether others tie."""
    count = len(points)
    place = np.zeros(points.shape[1])
    kind, rounds, tied = weber_point(
        np.ascontiguousarray(points, dtype=np.float64),
        np.ascontiguousarray(weights, dtype=np.float64),
        count,
        place,
        paper,
    )
    return place, kind, rounds, tied
