"""Pipelines whose operators are all alike: the cheapest walk over nodes that together have room for all.

With equal demands and nothing but delays to tell nodes apart, only the sequence of nodes matters: any walk
whose nodes have room for all operators, with one for each visit, is a plan. Whether every visit gets an
operator is looked at afterwards; without that the walk is a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.exact.structure import walk_kernel as kernel
from berth.exact.structure.chain import Chain
from berth.exact.structure.outcome import FINE, Outcome, least_open
from berth.exact.structure.walk_bounds import first_walk, rest_of_walk, useful_nodes

FloatArray = NDArray[np.float64]

SLOTS = 1 << 18
"""Walks that are remembered, to drop others over the same nodes."""
WORK = 20_000
"""Nodes of the search between looks at the clock."""


def alike(chain: Chain) -> bool:
    """Whether operators differ in nothing and places only in their delays and sizes."""
    same_demand = bool((chain.demand == chain.demand[:, :1]).all())
    finite = np.isfinite(chain.cost).all()
    return same_demand and bool(finite) and bool((chain.cost == chain.cost[:, :1]).all())


def sizes_of(chain: Chain) -> NDArray[np.int64]:
    """How many operators each place can bear."""
    count = len(chain.cost)
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = np.floor(chain.limit / chain.demand[:, :1]) if len(chain.demand) else np.full((1, 1), count)
    fit = np.where(np.isnan(fit), count, fit).min(axis=0)
    return np.broadcast_to(np.minimum(fit, count), chain.cost.shape[1:]).astype(np.int64)


def cheapest_walk(chain: Chain, budget: Budget, gap: float, heard: Callable[[float, float], None]) -> Outcome:
    """The best plan of a pipeline whose operators are alike."""
    count = len(chain.cost)
    work = float(chain.cost[:, 0].sum())
    sizes = sizes_of(chain)
    there = np.flatnonzero(sizes > 0)
    if sizes.sum() < count:
        return Outcome(None, np.inf, np.inf, 0)
    step = np.ascontiguousarray(chain.step[np.ix_(there, there)])
    sizes = sizes[there]
    needed = count
    if (sizes == sizes[0]).all():
        needed, sizes = -(-count // int(sizes[0])), np.ones_like(sizes)
    search = _Search(step, sizes, needed, work, gap)
    while not search.done and not budget.over:
        search.go_on()
        heard(search.best, search.bound)
    if search.walk is None:
        return Outcome(None, np.inf, np.inf if search.done else search.bound, search.work)
    visits = _with_transits(step, search.walk)
    places = _filled(visits, sizes_of(chain)[there], count)
    if places is None:
        return Outcome(None, np.inf, search.bound, search.work)
    return Outcome(there[places], search.best, search.bound, search.work)


class _Search:
    """The depth-first search and its stack."""

    def __init__(
        self, step: FloatArray, sizes: NDArray[np.int64], needed: int, constant: float, gap: float
    ) -> None:
        self._constant = constant
        shortest = step.copy()
        kernel.close(shortest)
        self._length, self._walk = first_walk(step, sizes, needed)
        self._nodes = np.flatnonzero(useful_nodes(shortest, sizes, needed, self._length * (1 + FINE)))
        kept = np.ix_(self._nodes, self._nodes)
        self._step, shortest = np.ascontiguousarray(step[kept]), np.ascontiguousarray(shortest[kept])
        self._metric = bool((shortest >= self._step).all())
        self._sizes = sizes[self._nodes]
        self._rest, self._near = rest_of_walk(shortest, self._sizes, needed)
        first = self._rest[np.maximum(needed - self._sizes, 0), np.arange(len(self._nodes)), 0]
        self._least = float(first.min(initial=np.inf))
        self._slack = max(gap, FINE) * (constant + (self._least if np.isfinite(self._least) else 0.0))
        self.work = 0
        self.done = not np.isfinite(self._least)
        self._empty_stack(needed)

    def _empty_stack(self, needed: int) -> None:
        count = len(self._nodes)
        deep = min(count, needed) + 2
        words = (count + 63) // 64
        self._keys = np.zeros((SLOTS, words + 1), dtype=np.uint64)
        self._lengths = np.zeros(SLOTS)
        self._filled = np.zeros(1, dtype=np.int64)
        self._stack, self._left, self._turn, self._found = np.zeros((4, deep), dtype=np.int64)
        self._left[0] = needed
        self._so_far = np.zeros(deep)
        self._child, self._order = np.zeros((2, deep, count), dtype=np.int64)
        self._child_bound, self._child_length = np.zeros((2, deep, count))
        self._children = np.full(deep, -1, dtype=np.int64)
        self._visited = np.zeros(words, dtype=np.uint64)
        self._depth, self._visits = 0, 0

    def go_on(self) -> None:
        """Search for a while."""
        self._depth, self._length, visits, left = kernel.search(
            self._step, self._metric, self._sizes, self._near, self._rest, self._keys, self._lengths,
            self._filled, self._stack, self._so_far, self._left, self._child, self._child_bound,
            self._child_length, self._order, self._children, self._turn, self._visited,
            np.zeros(len(self._stack)), np.zeros(len(self._nodes)), self._depth, self._length, self._found,
            self._visits, self._slack, WORK,
        )  # fmt: skip
        self._visits = visits
        if visits:
            self._walk = self._nodes[self._found[:visits]]
        self.work += WORK - left
        self.done = self._depth < 0

    @property
    def walk(self) -> NDArray[np.int64] | None:
        """The best walk: every new node once."""
        return self._walk if np.isfinite(self._length) else None

    @property
    def best(self) -> float:
        """Its costs."""
        return self._constant + self._length

    @property
    def bound(self) -> float:
        """No plan costs less."""
        if self.done:
            return self.best - self._slack
        least = min(
            self._length - self._slack,
            least_open(self._depth, self._child_bound, self._order, self._children, self._turn),
        )
        return self._constant + max(least, self._least)


def _with_transits(step: FloatArray, walk: NDArray[np.int64]) -> list[int]:
    """The walk with the nodes that it passes again, where the way through them is shorter."""
    visits = [int(walk[0])]
    for position in range(1, len(walk)):
        visits.extend(_way(step, walk[:position].tolist(), visits[-1], int(walk[position])))
    return visits


def _way(step: FloatArray, through: list[int], start: int, end: int) -> list[int]:
    """The shortest way from one node to another through some nodes, without its start."""
    reach, before = {start: 0.0}, {start: start}
    waiting = set(through)
    while waiting:
        node = min(waiting, key=lambda item: (reach.get(item, np.inf), item))
        waiting.remove(node)
        for other in [*waiting, end]:
            way = reach.get(node, np.inf) + float(step[node, other])
            if way < reach.get(other, np.inf):
                reach[other], before[other] = way, node
    way_back = [end]
    while before[way_back[-1]] != start:
        way_back.append(before[way_back[-1]])
    return way_back[::-1]


def _filled(visits: list[int], sizes: NDArray[np.int64], count: int) -> NDArray[np.intp] | None:
    """The place of each operator: at least one for each visit; None where there are too many visits."""
    assert all(one != other for one, other in pairwise(visits))
    room = sizes - np.bincount(visits, minlength=len(sizes))
    more = count - len(visits)
    if more < 0 or room[visits].min() < 0:
        return None
    places: list[int] = []
    for node in visits:
        added = int(min(room[node], more))
        room[node] -= added
        more -= added
        places += [node] * (1 + added)
    return np.array(places, dtype=np.intp)
