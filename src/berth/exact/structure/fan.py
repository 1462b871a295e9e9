"""Fans: a source, operators side by side, a sink. For each two places of the ends, the middle is filled."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.exact.structure.fan_arrays import FanArrays
from berth.exact.structure.outcome import FINE, Outcome
from berth.exact.structure.packing import Packing

FloatArray = NDArray[np.float64]


def best_fan(fan: FanArrays, budget: Budget, gap: float, heard: Callable[[float, float], None]) -> Outcome:
    """The best plan, by places: the middle first, then the ends that there are."""
    return _filled(fan, budget) if fan.alike else Packing(fan, gap).run(budget, heard)


def _filled(fan: FanArrays, budget: Budget) -> Outcome:
    """Equal operators in the middle: for every two places of the ends, fill the fastest places first."""
    count, need = len(fan.middle), fan.demand[:, 0]
    free = _sizes(fan.limit, need, count)
    best, places = np.inf, np.zeros(0, dtype=np.intp)
    for a in range(len(fan.source)) if len(fan.source) else [-1]:
        if budget.over:
            return Outcome(places if len(places) else None, best, 0.0, 1)
        for b, times in _worth_a_look(fan, a, free, best):
            left = fan.room(a, b)
            if left.min(initial=0.0) < 0.0 or free[times < best].sum() < count:
                continue
            sizes = _sizes(left, need, count)
            order = np.argsort(times, kind="stable")
            last = int(np.searchsorted(np.cumsum(sizes[order]), count))
            if last < len(order) and times[order[last]] < best:
                best = float(times[order[last]])
                middle = np.repeat(order, sizes[order])[:count]
                places = np.array([*middle, *(end for end in (a, b) if end >= 0)], dtype=np.intp)
    if np.isinf(best):
        return Outcome(None, np.inf, np.inf, 0)
    return Outcome(places, best, best * (1 - FINE), 1)


def _sizes(room: FloatArray, need: FloatArray, count: int) -> NDArray[np.int64]:
    """How many equal operators fit on each place."""
    needed = need > 0
    fit = np.floor(room[needed] / need[needed, None]).min(axis=0, initial=float(count))
    return np.asarray(np.maximum(fit, 0.0), dtype=np.int64)


def _worth_a_look(
    fan: FanArrays, a: int, free: NDArray[np.int64], best: float
) -> Iterator[tuple[int, FloatArray]]:
    """Places of the sink (-1: there is none) with which a better plan may be, and the times on all places."""
    count = len(fan.middle)
    onward = fan.step.T + fan.sink[:, None] if len(fan.sink) else np.zeros((1, len(fan.nodes)))
    times = fan.middle[0] + onward
    if a >= 0:
        times = fan.source[a] + fan.step[a] + times
    # Beside the ends is less room than without them: a first look needs no exact sizes.
    for row in np.flatnonzero(np.where(times < best, free, 0).sum(axis=1) >= count).tolist():
        yield row if len(fan.sink) else -1, times[row]
