"""Fans: a source, operators side by side, a sink. For each two places of the ends, the middle is filled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import exact as core
from berth.exact.placement import Placement
from berth.exact.structure.pipelines import FINE, Outcome, Report, Room, delays_between, work_at
from berth.exact.structure.shape import Fan

if TYPE_CHECKING:
    from berth.exact.cpsat.solver import Run

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
Ends = tuple[float, int, int, float]
"""A bound, the places of source and sink, and the time that both take."""

WORK = 60
"""Choices in one search for a packing; what all searches leave open goes to the general solver."""
AT_ONCE = 20
"""So many of them before a look at the clock."""
SOLVER_WORK = 20.0
"""The work, in the solver's own deterministic measure, after which it gives up."""


def best_fan(fan: FanArrays, budget: Budget, gap: float, report: Report) -> Outcome:
    """The best plan, by places: the middle first, then the ends that there are."""
    return _filled(fan, budget) if fan.alike else Packing(fan, gap).run(budget, report)


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


def places_for(fan: FanArrays, most: float) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Places of the ends (-1: there is none), and how many of the equal operators between fit on each place.

    Only places count where the fan takes less than `most`, and only ends beside which all operators fit.
    """
    count, need = len(fan.middle), fan.demand[:, 0]
    free = _sizes(fan.limit, need, count)
    for a in range(len(fan.source)) if len(fan.source) else [-1]:
        for b, times in _worth_a_look(fan, a, free, most):
            left = fan.room(a, b)
            sizes = np.where(times < most, _sizes(left, need, count), 0)
            if left.min(initial=0.0) >= 0.0 and sizes.sum() >= count:
                yield a, b, sizes


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

    def ends(self) -> Iterator[tuple[int, int, float]]:
        """All places of source and sink (-1: there is none) where they fit, with the time that both take."""
        for a in range(len(self.source)) if len(self.source) else [-1]:
            for b in range(len(self.sink)) if len(self.sink) else [-1]:
                time = (self.source[a] if a >= 0 else 0.0) + (self.sink[b] if b >= 0 else 0.0)
                if np.isfinite(time):
                    yield a, b, float(time)

    def room(self, a: int, b: int) -> FloatArray:
        """What is left beside the ends; below 0 where they don't fit."""
        left = self.limit.copy()
        if a >= 0:
            left[:, a] -= self.first
        if b >= 0:
            left[:, b] -= self.last
        return left

    def delays(self, a: int, b: int) -> FloatArray:
        """[place]: the delays from the source and to the sink."""
        there = self.step[a] if a >= 0 else np.zeros(len(self.nodes))
        return there + (self.step[:, b] if b >= 0 else 0.0)


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
    step = delays_between(placement, blocks, nodes)
    return FanArrays(nodes, ends[0], ends[1], middle, step, first, last, needs[:, :count].copy(), limit)


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

    def run(self, budget: Budget, report: Report) -> Outcome:
        """The best plan, by places: the middle first, then the ends that there are."""
        waiting = []
        for a, b, time in self._fan.ends():
            if budget.over:
                return Outcome(None, np.inf, 0.0, 0)
            waiting.append((self.least(a, b, time), a, b, time))
        # A pair of ends that is hard waits: others may have better plans, which make it needless.
        for work in (WORK, None):
            waiting = self._round(sorted(waiting), work, budget, report)
        unsolved = min((bound for bound, *_ in waiting), default=np.inf)
        if np.isinf(self._best):
            return Outcome(None, np.inf, unsolved, self._work)
        return Outcome(self._places, self._best, min(unsolved, self._best * (1 - self._share)), self._work)

    def _round(self, waiting: list[Ends], work: int | None, budget: Budget, report: Report) -> list[Ends]:
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
            report(self._best, min([bound, *(item[0] for item in left)]))
        return left

    def least(self, a: int, b: int, time: float) -> float:
        """A bound with the ends here: every operator has a place, and all room suffices for all of them."""
        room = self._fan.room(a, b)
        if room.min(initial=0.0) < 0.0:
            return np.inf
        alone = (self._fan.demand[:, :, None] <= room[:, None, :]).all(axis=0)
        times = np.where(alone, self.times(a, b, time), np.inf)
        slowest = float(times.min(axis=1).max())
        fastest = times.min(axis=0)
        order = np.argsort(fastest, kind="stable")
        filled = np.cumsum(room[:, order], axis=1)
        for row, needed in zip(filled, self._total * (1 - 1e-12), strict=True):
            last = int(np.searchsorted(row, needed))
            slowest = max(slowest, float(fastest[order[last]]) if last < len(order) else np.inf)
        return slowest

    def times(self, a: int, b: int, time: float) -> FloatArray:
        """[operator, place]: the time of the way through the middle, with the ends here."""
        return time + self._fan.middle + self._fan.delays(a, b)

    def _try(self, a: int, b: int, time: float, bound: float, work: int | None, budget: Budget) -> float:
        """Improve the best plan with the ends here; a bound on what may be better yet, infinite: nothing."""
        room, times = self._fan.room(a, b), self.times(a, b, time)
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


def fits_side_by_side(allowed: BoolArray, demand: FloatArray, room: FloatArray, budget: Budget) -> Run:
    """Whether operators fit ('optimal', with their places) or not ('infeasible'), by the general solver."""
    from berth.exact.cpsat.limits import LimitedModel  # loads the solver
    from berth.exact.cpsat.solver import SolverOptions, run

    model = LimitedModel()
    model.choices = [model.choice(np.flatnonzero(row).tolist()) for row in allowed]
    for needs, limits in zip(demand.tolist(), room.tolist(), strict=True):
        for place, limit in enumerate(limits):
            terms = [
                (choice[place], need)
                for choice, need in zip(model.choices, needs, strict=True)
                if place in choice and need > 0
            ]
            model.limit("room", "", terms, limit)
    # Of operators that are alike, the earlier one takes no later place.
    alike: dict[tuple[bytes, bytes], list[int]] = {}
    for operator, row in enumerate(allowed):
        alike.setdefault((row.tobytes(), demand[:, operator].tobytes()), []).append(operator)
    for group in alike.values():
        model.add_order([model.choices[k] for k in group])
    return run(model, budget, SolverOptions(work=SOLVER_WORK))
