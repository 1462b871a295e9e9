"""Pipelines of any operators: a search over runs of operators, bounded by prices for capacity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.exact.structure import runs_kernel as kernel
from berth.exact.structure.chain import Chain
from berth.exact.structure.memory import near_places, passed_on
from berth.exact.structure.outcome import FINE, Outcome, least_open

FloatArray = NDArray[np.float64]

STAGES = ((1, 200, 64, 500), (4, 60, 64, 50_000), (8, 25, 256, 1 << 62))
"""Ever better bounds: places remembered, price changes, partial plans side by side, steps of the search."""
PATIENCE, SMALLEST_SCALE = 4, 0.02
"""Price changes without a better bound after which they are halved, and how small they become."""
WORK = 5_000
"""Steps of the search between looks at the clock."""
MOST_REMEMBERED = 8_000_000
"""Steps between places with memory in the table of bounds, about."""


def best_runs(chain: Chain, budget: Budget, gap: float, heard: Callable[[float, float], None]) -> Outcome:
    """The best plan of a pipeline, by places."""
    search = _Search(chain, gap, budget)
    for stage in STAGES:
        search.prepare(*stage)
        while not search.done and not search.stuck and not budget.over:
            search.go_on()
            heard(search.best, search.bound)
        if search.done or budget.over:
            break
    places = search.plan.astype(np.intp) if np.isfinite(search.best) else None
    return Outcome(places, search.best, search.bound, search.work)


class _Search:
    """Prices, the depth-first search and its stack."""

    def __init__(self, chain: Chain, gap: float, budget: Budget) -> None:
        count = len(chain.cost)
        with np.errstate(divide="ignore"):
            scarcity = chain.demand.sum(axis=1) / chain.limit.sum(axis=1)
        order = np.argsort(-scarcity, kind="stable")
        size = chain.demand[order].sum(axis=1, keepdims=True)
        # Resources on one scale, so that their prices move at one pace; the scarcest one first.
        self._demand, self._limit = chain.demand[order] / size, chain.limit[order] / size
        self._cost, self._step = chain.cost.copy(), np.ascontiguousarray(chain.step)
        self._gap, self._budget = gap, budget
        self._nodes = np.arange(chain.cost.shape[1])
        self._price = np.zeros_like(self._limit)
        self.plan = np.zeros(count, dtype=np.int64)
        self.best, self._least, self._slack = np.inf, -np.inf, 0.0
        self.work = 0
        self.done = False
        self._scratch = np.zeros(count), np.zeros((len(self._demand), count))

    def prepare(self, memory: int, rounds: int, width: int, work: int) -> None:
        """Prices and bounds with such a memory, a plan by them, fewer candidates, and an empty stack."""
        self._drop_useless()
        count, places = self._cost.shape
        memory = min(memory, places)
        while memory > 1 and (count * places * places) << memory > MOST_REMEMBERED:
            memory -= 1
        self._near = near_places(self._step, memory, itself=True)
        self._start, self._onward = np.zeros((2, count + 1, places, 1 << memory))
        self._improve_prices(rounds)
        self._slack = max(self._gap, FINE) * max(self._least, 0.0) if np.isfinite(self._least) else 0.0
        if np.isfinite(self._least):
            self._beam(width)
            self._narrow()
        self.done = not np.isfinite(self._least) or not np.isfinite(self._cost).any()
        self._left = work
        self._empty_stack()

    def _improve_prices(self, rounds: int) -> None:
        """Subgradient steps: prices rise where the cheapest sequence takes more than there is."""
        passed = passed_on(self._near, leaving=False)
        order = np.argsort(self._step, axis=1, kind="stable")
        limit, price = self._limit, self._price
        highest, kept, scale, since = -np.inf, price.copy(), 1.0, 0
        plan = np.zeros(len(self._cost), dtype=np.int64)

        def price_out() -> float:
            kernel.price_out(
                self._cost, self._step, self._demand, limit, price, self._near, passed, order, self._start,
                self._onward, *self._scratch,
            )  # fmt: skip
            return float(self._start[0, :, 0].min(initial=np.inf)) - kernel.worth(limit, price)

        for _ in range(rounds):
            bound = price_out()
            if np.isinf(bound):
                self._least = np.inf
                return
            since += 1
            if bound > highest:
                since = 0 if bound - highest > 1e-3 * (self.best - bound) else since
                highest = bound
                kept[:] = price
            taken = np.zeros_like(limit)
            total = kernel.follow(
                self._cost, self._step, self._demand, limit, price, passed, self._start, self._onward,
                *self._scratch, taken, plan,
            )  # fmt: skip
            over = taken - limit
            if total < self.best and (over <= 0.0).all():
                # Everything fits altogether: a plan.
                self.best, self.plan = total, self._nodes[plan]
            # A price of 0 for what is not wanted stays.
            length = float((over[(over > 0.0) | (price > 0.0)] ** 2).sum())
            if length == 0.0 or highest >= self.best or self._budget.over:
                break
            if since >= PATIENCE:
                scale, since = scale / 2, 0
                if scale < SMALLEST_SCALE:
                    break
            goal = self.best if np.isfinite(self.best) else bound + abs(bound) * 0.1 + 1e-9
            np.maximum(0.0, price + scale * (goal - bound) / length * over, out=price)
        price[:] = kept
        price_out()
        self._least = max(self._least, highest)

    def _beam(self, width: int) -> None:
        """A plan by several partial plans side by side."""
        (count, places), resources = self._cost.shape, len(self._limit)
        size = np.zeros(count + 1, dtype=np.int64)
        score, spent = np.full((count + 1, width), np.inf), np.zeros((count + 1, width))
        last = np.full((count + 1, width), -1, dtype=np.int64)
        room = np.zeros((count + 1, width, resources, places))
        origin = np.zeros((count + 1, width, 2), dtype=np.int64)
        size[0] = 1
        room[0, 0] = self._limit
        kernel.beam(
            self._cost, self._step, self._demand, self._limit, self._price, self._near, self._onward,
            *self._scratch, size, score, spent, last, room, origin, self.best,
        )  # fmt: skip
        if size[count] == 0 or spent[count, : size[count]].min() >= self.best:
            return
        stop, state = count, int(np.argmin(spent[count, : size[count]]))
        self.best = float(spent[count, state])
        self.plan = np.zeros(count, dtype=np.int64)
        while stop > 0:
            begin, before = origin[stop, state].tolist()
            self.plan[begin:stop] = self._nodes[last[stop, state]]
            stop, state = begin, before

    def _narrow(self) -> None:
        """Forbid operators the places through which no plan is better than the best one."""
        keep = np.zeros(self._cost.shape, dtype=np.bool_)
        leaving = np.full((len(self._cost) + 1, len(self._nodes)), np.inf)
        kernel.narrow(
            self._cost, self._step, self._demand, self._limit, self._price, self._onward,
            self.best - self._slack, *self._scratch, leaving, keep,
        )  # fmt: skip
        self._cost[~keep] = np.inf

    def _drop_useless(self) -> None:
        """Leave out places where no operator may go any more."""
        kept = np.flatnonzero(np.isfinite(self._cost).any(axis=0))
        self._nodes = self._nodes[kept]
        self._cost = np.ascontiguousarray(self._cost[:, kept])
        self._step = np.ascontiguousarray(self._step[np.ix_(kept, kept)])
        self._limit = np.ascontiguousarray(self._limit[:, kept])
        self._price = np.ascontiguousarray(self._price[:, kept])

    def _empty_stack(self) -> None:
        (count, places), resources = self._cost.shape, len(self._limit)
        deep = count + 1
        self._position, self._last = np.zeros(deep, dtype=np.int64), np.full(deep, -1, dtype=np.int64)
        self._spent, self._value = np.zeros(deep), np.zeros(deep)
        self._room = np.zeros((deep, resources, places))
        self._room[0] = self._limit
        self._value[0] = kernel.worth(self._limit, self._price)
        self._prefix = np.zeros(count, dtype=np.int64)
        self._child_place, self._child_end, self._order = np.zeros((3, deep, count * places), dtype=np.int64)
        self._child_bound = np.zeros((deep, count * places))
        self._children, self._turn = np.full(deep, -1, dtype=np.int64), np.zeros(deep, dtype=np.int64)
        self._depth = 0

    def go_on(self) -> None:
        """Search for a while."""
        work = min(WORK, self._left)
        plan, before = np.zeros(len(self.plan), dtype=np.int64), self.best
        self._depth, self.best, left = kernel.search(
            self._cost, self._step, self._demand, self._limit, self._price, self._near, self._onward,
            self._position, self._last, self._spent, self._room, self._value, self._prefix,
            self._child_place, self._child_end, self._child_bound, self._order, self._children, self._turn,
            *self._scratch, self._depth, self.best, plan, self._slack, work,
        )  # fmt: skip
        if self.best < before:
            self.plan = self._nodes[plan]
        self.work += work - left
        self._left -= work - left
        self.done = self._depth < 0

    @property
    def stuck(self) -> bool:
        """Whether a better bound should be tried."""
        return self._left <= 0

    @property
    def bound(self) -> float:
        """No plan costs less."""
        least = self.best - self._slack
        if self.done:
            return least
        waiting = least_open(self._depth, self._child_bound, self._order, self._children, self._turn)
        return max(min(least, waiting), self._least)
