"""A compiled search: whether different operators side by side fit on places that are fast enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]


@compiled
def pack(
    times: FloatArray,
    demand: FloatArray,
    left: FloatArray,
    smallest: FloatArray,
    rest: FloatArray,
    same: NDArray[np.bool_],
    most: float,
    work: int,
    choice: IndexArray,
) -> int:
    """Whether all operators fit on places where they take at most so long: 1, 0, or -1 out of work.

    Operators are in the order in which they are placed; `smallest` and `rest` are the least need and the sum
    of needs from one on; `same[k]`: k is like the one before it, and need not go to an earlier place. Starts
    with -1 everywhere in `choice`, where it leaves the places; `left` is the room, and is changed.
    """
    count, places = times.shape
    resources = len(demand)
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
                    if left[k, other] >= smallest[k, operator]:
                        usable += left[k, other]
                if usable < rest[k, operator] * (1.0 - 1e-12):
                    place = places
        while place < places:
            fits = times[operator, place] <= most
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
