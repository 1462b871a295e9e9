"""Fans: a source, operators side by side, a sink. For each two places of the ends, the middle is filled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.exact.budget import Budget
from berth.exact.placement import Placement
from berth.exact.structure import fan_kernel as kernel
from berth.exact.structure.chain import Room, delays_between, work_at
from berth.exact.structure.shape import Fan
from berth.exact.structure.walk import FINE, Outcome

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Heard = Callable[[float, float], None]

WORK = 300_000
"""Steps of one search for a packing."""


@dataclass(frozen=True, eq=False)
class FanArrays:
    """A fan on numbered places; arrays of a missing end are empty."""

    nodes: IndexArray
    source: FloatArray
    sink: FloatArray
    middle: FloatArray
    """[operator, place]: time there; infinite where it may not go."""
    step: FloatArray
    first: FloatArray
    last: FloatArray
    """[resource]: what the two ends need."""
    demand: FloatArray
    """[resource, operator] of the middle."""
    limit: FloatArray

    @property
    def alike(self) -> bool:
        """Whether all operators in the middle are the same."""
        times, needs = self.middle, self.demand
        return bool((times == times[:1]).all()) and bool((needs == needs[:, :1]).all())


def fan_of(placement: Placement, fan: Fan, room: Room) -> FanArrays:
    """The arrays of a fan."""
    blocks = np.array(fan.blocks, dtype=np.intp)
    nodes = np.unique(np.concatenate([placement.candidates[block] for block in fan.blocks]))
    needs, limit = room.binding(blocks, nodes)
    count = len(fan.middle)
    none = np.zeros(0)
    ends = [none if end is None else work_at(placement, end, nodes) for end in (fan.source, fan.sink)]
    first = needs[:, count] if fan.source is not None else np.zeros(len(needs))
    last = needs[:, -1] if fan.sink is not None else np.zeros(len(needs))
    middle = np.array([work_at(placement, block, nodes) for block in fan.middle])
    step = delays_between(placement, nodes)
    return FanArrays(nodes, ends[0], ends[1], middle, step, first, last, needs[:, :count].copy(), limit)


def best_fan(arrays: FanArrays, budget: Budget, gap: float, heard: Heard) -> Outcome:
    """The best plan, by places: the middle first, then the ends that there are."""
    if arrays.alike:
        return _filled(arrays)
    return _Packing(arrays, gap).run(budget, heard)


def _filled(fan: FanArrays) -> Outcome:
    count = len(fan.middle)
    best, a, b = kernel.fill_equal(
        fan.source, fan.sink, fan.middle[0], fan.step, fan.first, fan.last,
        np.ascontiguousarray(fan.demand[:, 0]), fan.limit, count, 0.0,
    )  # fmt: skip
    if np.isinf(best):
        return Outcome(None, np.inf, np.inf, 0)
    room = np.zeros_like(fan.limit)
    kernel.left_beside(fan.limit, fan.first, fan.last, a, b, room)
    times = np.array([fan.middle[0, u] + kernel.between(fan.step, a, b, u) for u in range(len(fan.nodes))])
    places: list[int] = []
    for place in np.argsort(times, kind="stable").tolist():
        size = kernel.size_of(room, np.ascontiguousarray(fan.demand[:, 0]), place, count)
        places += [place] * min(size, count - len(places))
    ends = [end for end in (a, b) if end >= 0]
    return Outcome(np.array(places + ends, dtype=np.intp), best, best * (1 - FINE), 1)


class _Packing:
    """Different operators in the middle: for ends in the order of their bounds, a search for a packing."""

    def __init__(self, fan: FanArrays, gap: float) -> None:
        self._fan = fan
        with np.errstate(divide="ignore", invalid="ignore"):
            size = (fan.demand / fan.limit.max(axis=1, keepdims=True, initial=0.0)).max(axis=0, initial=0.0)
        allowed = np.isfinite(fan.middle).sum(axis=1)
        keys = [*fan.middle.T[::-1], *fan.demand[::-1], allowed, -size]
        self._order = np.lexsort(keys)
        self._middle = np.ascontiguousarray(fan.middle[self._order])
        self._demand = np.ascontiguousarray(fan.demand[:, self._order])
        self._same = np.zeros(len(self._order), dtype=np.bool_)
        self._same[1:] = (self._middle[1:] == self._middle[:-1]).all(axis=1) & (
            self._demand[:, 1:] == self._demand[:, :-1]
        ).all(axis=0)
        self._share = max(gap, FINE)
        self._best, self._places = np.inf, np.zeros(0, dtype=np.intp)
        self._work = 0

    def run(self, budget: Budget, heard: Heard) -> Outcome:
        fan = self._fan
        bounds = kernel.least_times(
            fan.source, fan.sink, self._middle, fan.step, fan.first, fan.last, self._demand, fan.limit
        )
        unsolved = np.inf
        for number in np.argsort(bounds, axis=None, kind="stable").tolist():
            bound = float(bounds.flat[number])
            if bound >= self._best * (1 - self._share):
                break
            if budget.over:
                unsolved = min(unsolved, bound)
                break
            a, b = divmod(number, bounds.shape[1])
            if not self._try(a if len(fan.source) else -1, b if len(fan.sink) else -1, bound, budget):
                unsolved = min(unsolved, bound)
            heard(self._best, min(bound, unsolved))
        if np.isinf(self._best):
            return Outcome(None, np.inf, unsolved, self._work)
        return Outcome(self._places, self._best, min(unsolved, self._best * (1 - self._share)), self._work)

    def _try(self, a: int, b: int, bound: float, budget: Budget) -> bool:
        """Improve the best plan with the ends here; False where it can't be told whether more is possible."""
        fan = self._fan
        room = np.zeros_like(fan.limit)
        kernel.left_beside(fan.limit, fan.first, fan.last, a, b, room)
        ends = (float(fan.source[a]) if a >= 0 else 0.0) + (float(fan.sink[b]) if b >= 0 else 0.0)
        delays = np.array([kernel.between(fan.step, a, b, u) for u in range(len(fan.nodes))])
        times = ends + self._middle + delays
        places = np.argsort(room.sum(axis=0), kind="stable")
        times, room = np.ascontiguousarray(times[:, places]), np.ascontiguousarray(room[:, places])
        choice = np.zeros(len(self._order), dtype=np.int64)

        def fits(most: float, strictly: bool) -> int:
            self._work += 1
            outcome: int = kernel.pack(times, self._demand, room, self._same, most, strictly, WORK, choice)
            if outcome == 1:
                chosen = np.zeros(len(choice), dtype=np.intp)
                chosen[self._order] = places[choice]
                self._best = float(times[np.arange(len(choice)), choice].max())
                self._places = np.array([*chosen, *(end for end in (a, b) if end >= 0)], dtype=np.intp)
            return outcome

        first = fits(self._best * (1 - self._share), True)
        if first != 1:
            return first == 0
        values = np.unique(times[np.isfinite(times)])
        low = int(np.searchsorted(values, bound * (1 - FINE)))
        while not budget.over:
            high = int(np.searchsorted(values, self._best))
            if low >= high:
                return True
            middle = (low + high) // 2
            outcome = fits(float(values[middle]), False)
            if outcome < 0:
                return False
            if outcome == 0:
                low = middle + 1
        return False
