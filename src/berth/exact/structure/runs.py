"""Pipelines of any operators: a search over runs of operators, bounded by prices for capacity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from berth.exact.budget import Budget
from berth.exact.structure import runs_kernel as kernel
from berth.exact.structure.chain import Chain
from berth.exact.structure.walk import FINE, Outcome

FloatArray = NDArray[np.float64]

STAGES = ((1, 200, 64, 500), (4, 60, 64, 50_000), (8, 25, 256, 1 << 62))
"""Ever better bounds: places remembered, price changes, partial plans side by side, steps of the search."""
PATIENCE = 4
"""Price changes without a better bound after which they become smaller."""
WORK = 5_000
"""Steps of the search between looks at the clock."""
MOST_REMEMBERED = 8_000_000
"""Steps between places with memory in the table of bounds, about."""


def best_runs(chain: Chain, budget: Budget, gap: float, heard: Callable[[float, float], None]) -> Outcome:
    """The best plan of a pipeline, by places."""
    search = _Search(chain, gap)
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

    def __init__(self, chain: Chain, gap: float) -> None:
        count = len(chain.cost)
        with np.errstate(divide="ignore"):
            scarcity = chain.demand.sum(axis=1) / chain.limit.sum(axis=1)
        order = np.argsort(-scarcity, kind="stable")
        size = chain.demand[order].sum(axis=1, keepdims=True)
        # Resources on one scale, so that their prices move at one pace; the scarcest one first.
        self._demand, self._limit = chain.demand[order] / size, chain.limit[order] / size
        self._cost, self._step = chain.cost.copy(), np.ascontiguousarray(chain.step)
        self._gap = gap
        self._nodes = np.arange(chain.cost.shape[1])
        self._price = np.zeros_like(self._limit)
        self.plan = np.zeros(count, dtype=np.int64)
        self.best, self._least, self._slack = np.inf, -np.inf, 0.0
        self.work = 0
        self.done = False

    def prepare(self, memory: int, rounds: int, width: int, work: int) -> None:
        """Prices and bounds with such a memory, a plan by them, fewer candidates, and an empty stack."""
        self._drop_useless()
        count, places = self._cost.shape
        memory = min(memory, places)
        while memory > 1 and (count * places * places) << memory > MOST_REMEMBERED:
            memory -= 1
        near = kernel.near_places(self._step, memory)
        passed = kernel.passed_on(near)
        order = np.argsort(self._step, axis=1, kind="stable")
        start, onward = (np.zeros((count + 1, places, 1 << memory)) for _ in range(2))
        plan, before = np.zeros(count, dtype=np.int64), self.best
        least, self.best = kernel.improve_prices(
            self._cost, self._step, self._demand, self._limit, self._price, near, passed, order, start,
            onward, self.best, plan, PATIENCE, rounds,
        )  # fmt: skip
        self._least = max(self._least, least)
        self._slack = max(self._gap, FINE) * max(self._least, 0.0) if np.isfinite(self._least) else 0.0
        self.best = kernel.beam(
            width,
            self._cost,
            self._step,
            self._demand,
            self._limit,
            self._price,
            near,
            onward,
            self.best,
            plan,
        )
        if self.best < before:
            self.plan = self._nodes[plan]
        left = kernel.narrow(
            self._cost, self._step, self._demand, self._limit, self._price, onward, self.best - self._slack
        )
        self.done = left == 0
        self._left = work
        self._near, self._onward = near, onward
        self._empty_stack()

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
        self._child_place = np.zeros((deep, count * places), dtype=np.int64)
        self._child_end = np.zeros((deep, count * places), dtype=np.int64)
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
            self._child_place, self._child_end, self._child_bound, self._children, self._turn,
            self._depth, self.best, plan, self._slack, work,
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
        for depth in range(self._depth + 1):
            if self._children[depth] < 0:
                # reached, not yet looked at
                reached = self._child_bound[depth - 1, self._turn[depth - 1] - 1] if depth else -np.inf
                least = min(least, float(reached))
            elif self._turn[depth] < self._children[depth]:
                least = min(least, float(self._child_bound[depth, self._turn[depth]]))
        return max(least, self._least)
