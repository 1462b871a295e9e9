"""Fans of different operators: for ends in the order of their bounds, a search for a packing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.exact.budget import Budget
from berth.exact.structure import packing_kernel as kernel
from berth.exact.structure.fan_arrays import FanArrays
from berth.exact.structure.outcome import FINE, Outcome

FloatArray = NDArray[np.float64]
Heard = Callable[[float, float], None]

WORK = 20_000
"""Steps of one search for a packing, before the general solver is asked."""


class Packing:
    """Operators of the middle in the order in which they are placed, and the best plan so far."""

    def __init__(self, fan: FanArrays, gap: float) -> None:
        self._fan = fan
        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.nan_to_num(fan.demand / fan.limit.max(axis=1, keepdims=True)).max(axis=0, initial=0.0)
        allowed = np.isfinite(fan.middle).sum(axis=1)
        self._order = np.lexsort([*fan.middle.T, *fan.demand, allowed, -size])
        self._middle = np.ascontiguousarray(fan.middle[self._order])
        self._demand = np.ascontiguousarray(fan.demand[:, self._order])
        self._same = np.zeros(len(self._order), dtype=np.bool_)
        self._same[1:] = (self._middle[1:] == self._middle[:-1]).all(axis=1) & (
            self._demand[:, 1:] == self._demand[:, :-1]
        ).all(axis=0)
        self._smallest = np.minimum.accumulate(self._demand[:, ::-1], axis=1)[:, ::-1].copy()
        self._rest = np.cumsum(self._demand[:, ::-1], axis=1)[:, ::-1].copy()
        self._share = max(gap, FINE)
        self._best, self._places = np.inf, np.zeros(0, dtype=np.intp)
        self._work = 0

    def run(self, budget: Budget, heard: Heard) -> Outcome:
        """The best plan, by places: the middle first, then the ends that there are."""
        bounds = []
        for a, b, time in self._fan.ends():
            if budget.over:
                return Outcome(None, np.inf, 0.0, 0)
            bounds.append((self._least(a, b, time), a, b, time))
        bounds.sort()
        unsolved = np.inf
        for bound, a, b, time in bounds:
            if bound >= self._best * (1 - self._share):
                break
            if budget.over:
                unsolved = min(unsolved, bound)
                break
            if not self._try(a, b, time, bound, budget):
                unsolved = min(unsolved, bound)
            heard(self._best, min(bound, unsolved))
        if np.isinf(self._best):
            return Outcome(None, np.inf, unsolved, self._work)
        return Outcome(self._places, self._best, min(unsolved, self._best * (1 - self._share)), self._work)

    def _times(self, a: int, b: int, time: float) -> FloatArray:
        return time + self._middle + self._fan.delays(a, b)

    def _least(self, a: int, b: int, time: float) -> float:
        """A bound with the ends here: every operator has a place, and all room suffices for all of them."""
        room = self._fan.room(a, b)
        if room.min(initial=0.0) < 0.0:
            return np.inf
        alone = (self._demand[:, :, None] <= room[:, None, :]).all(axis=0)
        times = np.where(alone, self._times(a, b, time), np.inf)
        slowest = float(times.min(axis=1).max())
        fastest = times.min(axis=0)
        order = np.argsort(fastest, kind="stable")
        filled = np.cumsum(room[:, order], axis=1)
        for row, needed in zip(filled, self._rest[:, 0] * (1 - 1e-12), strict=True):
            last = int(np.searchsorted(row, needed))
            slowest = max(slowest, float(fastest[order[last]]) if last < len(order) else np.inf)
        return slowest

    def _try(self, a: int, b: int, time: float, bound: float, budget: Budget) -> bool:
        """Improve the best plan with the ends here; False where it can't be told whether more is possible."""
        room, times = self._fan.room(a, b), self._times(a, b, time)
        # Small places first: what fits there leaves the large ones to others.
        places = np.argsort(room.sum(axis=0), kind="stable")
        times = np.ascontiguousarray(times[:, places])
        values = np.unique(times[np.isfinite(times)])
        low = int(np.searchsorted(values, bound * (1 - FINE)))
        high = int(np.searchsorted(values, self._best * (1 - self._share)))
        middle = high - 1
        while low < high:
            if budget.over:
                return False
            choice = self._choice(times, room[:, places], float(values[middle]), budget)
            self._work += 1
            if choice is None:
                return False
            if len(choice) == 0:
                low = middle + 1
            else:
                self._best = float(times[np.arange(len(choice)), choice].max())
                chosen = np.zeros(len(choice), dtype=np.intp)
                chosen[self._order] = places[choice]
                self._places = np.array([*chosen, *(end for end in (a, b) if end >= 0)], dtype=np.intp)
                high = int(np.searchsorted(values, self._best * (1 - self._share)))
            middle = (low + high) // 2
        return True

    def _choice(
        self, times: FloatArray, room: FloatArray, most: float, budget: Budget
    ) -> NDArray[np.int64] | None:
        """Places where all fit and none takes longer; none of them where they can't, None: not known."""
        usable = times <= most
        left = np.ascontiguousarray(np.where(usable.any(axis=0), room, 0.0))
        choice = np.full(len(self._order), -1, dtype=np.int64)
        outcome = kernel.pack(
            times, self._demand, left.copy(), self._smallest, self._rest, self._same, most, WORK, choice
        )
        if outcome >= 0:
            return choice if outcome == 1 else choice[:0]
        from berth.exact.cpsat.side_by_side import fits_side_by_side  # loads the solver

        found = fits_side_by_side(usable, self._demand, left, self._same, budget)
        if found.outcome == "infeasible":
            return choice[:0]
        return None if found.nodes is None else found.nodes.astype(np.int64)
