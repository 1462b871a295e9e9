"""Compiled loops for fans: which two places of the ends are best, and whether operators fit between them.

For given ends, an operator in the middle takes `step[a, u] + middle[k, u] + step[u, b]` on place u; the
slowest counts. A missing end is -1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]


@compiled
def between(step: FloatArray, a: int, b: int, u: int) -> float:
    """The delays to a place in the middle and on."""
    return (step[a, u] if a >= 0 else 0.0) + (step[u, b] if b >= 0 else 0.0)


@compiled
def left_beside(
    limit: FloatArray, first: FloatArray, last: FloatArray, a: int, b: int, room: FloatArray
) -> bool:
    """The room beside the ends; False if the ends themselves don't fit."""
    room[:] = limit
    for k in range(len(limit)):
        if a >= 0:
            room[k, a] -= first[k]
            if room[k, a] < 0.0:
                return False
        if b >= 0:
            room[k, b] -= last[k]
            if room[k, b] < 0.0:
                return False
    return True


@compiled
def size_of(room: FloatArray, demand: FloatArray, place: int, most: int) -> int:
    """How many equal operators fit on a place."""
    size = most
    for k in range(len(room)):
        if demand[k] > 0.0:
            size = min(size, int(room[k, place] / demand[k]))
    return size


@compiled
def fill_equal(
    source: FloatArray,
    sink: FloatArray,
    middle: FloatArray,
    step: FloatArray,
    first: FloatArray,
    last: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
    count: int,
    slack: float,
) -> tuple[float, int, int]:
    """Equal operators in the middle: for every two places of the ends, fill the fastest places first.

    Returns the response time and the two places; `source` and `sink` are empty where an end is missing.
    """
    places = len(middle)
    room = np.zeros_like(limit)
    sizes = np.zeros(places, dtype=np.int64)
    times = np.zeros(places)
    left_beside(limit, first, last, -1, -1, room)
    free = np.array([size_of(room, demand, place, count) for place in range(places)])
    best, best_a, best_b = np.inf, -1, -1
    for a in range(-1 if len(source) == 0 else 0, max(len(source), 0)):
        for b in range(-1 if len(sink) == 0 else 0, max(len(sink), 0)):
            ends = (source[a] if a >= 0 else 0.0) + (sink[b] if b >= 0 else 0.0)
            if ends >= best - slack or not left_beside(limit, first, last, a, b, room):
                continue
            sizes[:] = free
            for end in (a, b):
                if end >= 0:
                    sizes[end] = size_of(room, demand, end, count)
            fitting = 0
            for place in range(places):
                times[place] = ends + middle[place] + between(step, a, b, place)
                if times[place] < best - slack:
                    fitting += sizes[place]
            if fitting < count:
                continue
            filled = 0
            for place in np.argsort(times, kind="mergesort"):
                filled += sizes[place]
                if filled >= count:
                    if times[place] < best - slack:
                        best, best_a, best_b = times[place], a, b
                    break
    return best, best_a, best_b


@compiled
def least_times(
    source: FloatArray,
    sink: FloatArray,
    middle: FloatArray,
    step: FloatArray,
    first: FloatArray,
    last: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
) -> FloatArray:
    """For every two places of the ends a bound: every operator has a place, and all room suffices for all."""
    count, places = middle.shape
    room = np.zeros_like(limit)
    total = demand.sum(axis=1)
    fastest = np.zeros(places)
    bounds = np.full((max(len(source), 1), max(len(sink), 1)), np.inf)
    for row in range(bounds.shape[0]):
        for column in range(bounds.shape[1]):
            a, b = row if len(source) else -1, column if len(sink) else -1
            ends = (source[a] if a >= 0 else 0.0) + (sink[b] if b >= 0 else 0.0)
            if ends == np.inf or not left_beside(limit, first, last, a, b, room):
                continue
            fastest[:] = np.inf
            bound = 0.0
            for operator in range(count):
                own = np.inf
                for place in range(places):
                    fits = True
                    for k in range(len(limit)):
                        fits = fits and demand[k, operator] <= room[k, place]
                    if fits:
                        time = middle[operator, place] + between(step, a, b, place)
                        own = min(own, time)
                        fastest[place] = min(fastest[place], time)
                bound = max(bound, own)
            order = np.argsort(fastest, kind="mergesort")
            for k in range(len(limit)):
                sum_of_room = 0.0
                enough = np.inf
                for place in order:
                    sum_of_room += room[k, place]
                    if sum_of_room >= total[k]:
                        enough = fastest[place]
                        break
                bound = max(bound, enough)
            bounds[row, column] = ends + bound
    return bounds


@compiled
def pack(
    times: FloatArray,
    demand: FloatArray,
    room: FloatArray,
    same: NDArray[np.bool_],
    most: float,
    strictly: bool,
    work: int,
    choice: IndexArray,
) -> int:
    """Whether all operators fit on places where they take at most so long: 1, 0, or -1 out of work.

    Operators are in the order in which they are placed; `same[k]`: k is like the one before it, and need not
    go to an earlier place. Leaves the places in `choice`.
    """
    count, places = times.shape
    resources = len(demand)
    left = room.copy()
    smallest = np.zeros((resources, count + 1))
    rest = np.zeros((resources, count + 1))
    for k in range(resources):
        smallest[k, count] = np.inf
        for operator in range(count - 1, -1, -1):
            smallest[k, operator] = min(smallest[k, operator + 1], demand[k, operator])
            rest[k, operator] = rest[k, operator + 1] + demand[k, operator]
    useful = np.zeros(places, dtype=np.bool_)
    for operator in range(count):
        for place in range(places):
            if times[operator, place] < most or (not strictly and times[operator, place] == most):
                useful[place] = True
    choice[:] = -1
    operator = 0
    while operator >= 0:
        if operator == count:
            return 1
        place = choice[operator]
        if place >= 0:
            for k in range(resources):
                left[k, place] += demand[k, operator]
            place += 1
        else:
            work -= 1
            if work < 0:
                return -1
            place = choice[operator - 1] if same[operator] else 0
            # what is left on a place and too small for all that remain is lost
            for k in range(resources):
                usable = 0.0
                for other in range(places):
                    if useful[other] and left[k, other] >= smallest[k, operator]:
                        usable += left[k, other]
                if usable < rest[k, operator] * (1.0 - 1e-12):
                    place = places
        while place < places:
            fits = times[operator, place] < most or (not strictly and times[operator, place] == most)
            for k in range(resources):
                fits = fits and demand[k, operator] <= left[k, place] * (1.0 + 1e-13)
            if fits:
                break
            place += 1
        if place < places:
            for k in range(resources):
                left[k, place] -= demand[k, operator]
            choice[operator] = place
            operator += 1
        else:
            choice[operator] = -1
            operator -= 1
    return 0
