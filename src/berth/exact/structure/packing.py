"""Fans of different operators: for ends in the order of their bounds, a search for a packing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import exact as core
from berth.exact.structure.fan_arrays import FanArrays
from berth.exact.structure.outcome import FINE, Outcome

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Heard = Callable[[float, float], None]
Ends = tuple[float, int, int, float]
"""A bound, the places of source and sink, and the time that both take."""

WORK = (60, 600, 6_000)
"""Choices in one search for a packing, in rounds; what is left then goes to the general solver."""
AT_ONCE = 20
"""So many of them before a look at the clock."""


class Packing:
    """Operators of the middle, what each is worth in a packing, and the best plan so far."""

    def __init__(self, fan: FanArrays, gap: float) -> None:
        self._fan = fan
        self._total = fan.demand.sum(axis=1)
        self._value = (fan.demand / np.maximum(self._total, 1e-300)[:, None]).sum(axis=0) + 1e-3
        """Where the search for prices starts: one that refutes a packing often refutes the next, too."""
        self._share = max(gap, FINE)
        self._best, self._places = np.inf, np.zeros(0, dtype=np.intp)
        self._work = 0

    def run(self, budget: Budget, heard: Heard) -> Outcome:
        """The best plan, by places: the middle first, then the ends that there are."""
        waiting = []
        for a, b, time in self._fan.ends():
            if budget.over:
                return Outcome(None, np.inf, 0.0, 0)
            waiting.append((self._least(a, b, time), a, b, time))
        # A pair of ends that is hard waits: others may have better plans, which make it needless.
        for work in (*WORK, None):
            waiting = self._round(sorted(waiting), work, budget, heard)
        unsolved = min((bound for bound, *_ in waiting), default=np.inf)
        if np.isinf(self._best):
            return Outcome(None, np.inf, unsolved, self._work)
        return Outcome(self._places, self._best, min(unsolved, self._best * (1 - self._share)), self._work)

    def _round(self, waiting: list[Ends], work: int | None, budget: Budget, heard: Heard) -> list[Ends]:
        """Try all ends with a bound below the best plan; those that stay open, with their bounds."""
        left: list[Ends] = []
        for position, (bound, a, b, time) in enumerate(waiting):
            if bound >= self._best * (1 - self._share):
                break
            if budget.over:
                return left + waiting[position:]
            reached = self._try(a, b, time, bound, work, budget)
            if reached < np.inf:
                left.append((reached, a, b, time))
            heard(self._best, min([bound, *(item[0] for item in left)]))
        return left

    def _least(self, a: int, b: int, time: float) -> float:
        """A bound with the ends here: every operator has a place, and all room suffices for all of them."""
        room = self._fan.room(a, b)
        if room.min(initial=0.0) < 0.0:
            return np.inf
        alone = (self._fan.demand[:, :, None] <= room[:, None, :]).all(axis=0)
        times = np.where(alone, self._times(a, b, time), np.inf)
        slowest = float(times.min(axis=1).max())
        fastest = times.min(axis=0)
        order = np.argsort(fastest, kind="stable")
        filled = np.cumsum(room[:, order], axis=1)
        for row, needed in zip(filled, self._total * (1 - 1e-12), strict=True):
            last = int(np.searchsorted(row, needed))
            slowest = max(slowest, float(fastest[order[last]]) if last < len(order) else np.inf)
        return slowest

    def _times(self, a: int, b: int, time: float) -> FloatArray:
        return time + self._fan.middle + self._fan.delays(a, b)

    def _try(self, a: int, b: int, time: float, bound: float, work: int | None, budget: Budget) -> float:
        """Improve the best plan with the ends here; a bound on what may be better yet, infinite: nothing."""
        room, times = self._fan.room(a, b), self._times(a, b, time)
        values = np.unique(times[np.isfinite(times)])
        low = int(np.searchsorted(values, bound * (1 - FINE)))
        high = int(np.searchsorted(values, self._best * (1 - self._share)))
        middle = high - 1
        while low < high:
            choice = None if budget.over else self._choice(times <= values[middle], room, work, budget)
            if choice is None:
                return max(bound, float(values[low]))
            if len(choice) == 0:
                low = middle + 1
            else:
                self._best = float(times[np.arange(len(choice)), choice].max())
                self._places = np.array([*choice, *(end for end in (a, b) if end >= 0)], dtype=np.intp)
                high = int(np.searchsorted(values, self._best * (1 - self._share)))
            middle = (low + high) // 2
        return np.inf

    def _choice(
        self, usable: BoolArray, room: FloatArray, work: int | None, budget: Budget
    ) -> NDArray[np.int64] | None:
        """Places where all fit; none of them where they can't, None: not known."""
        self._work += 1
        if work is not None:
            return self._packed(usable, room, work, budget)
        from berth.exact.cpsat.side_by_side import fits_side_by_side  # loads the solver

        found = fits_side_by_side(usable, self._fan.demand, room, budget)
        if found.outcome == "infeasible":
            return np.zeros(0, dtype=np.int64)
        return None if found.nodes is None else found.nodes.astype(np.int64)

    def _packed(
        self, usable: BoolArray, room: FloatArray, work: int, budget: Budget
    ) -> NDArray[np.int64] | None:
        """The same by the search, at once where that is easy."""
        search = core.PackingSearch(usable, self._fan.demand, room, self._value)
        quick = search.quick_packing()
        if quick is not None:
            return quick
        searching = True
        while searching and work > 0 and not budget.over:
            searching = search.go_on(min(work, AT_ONCE))
            work -= AT_ONCE
        self._value = search.value / search.value.sum()
        if searching:
            return None
        return np.zeros(0, dtype=np.int64) if search.packing is None else search.packing
