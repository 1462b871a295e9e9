"""Branch and bound over places of blocks, the least bound first."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import exact as core
from berth.exact.additive.bounds import Bounds, branching_block
from berth.exact.additive.tables import (
    Aim,
    BoolArray,
    FloatArray,
    IndexArray,
    Prices,
    Rest,
    Tables,
    core_tables,
    rest_of,
)
from berth.model.randomness import generator_for

FINE = 1e-8
"""Objectives that differ by less than this share are the same."""
MOST_WAITING = 500_000_000
"""Numbers in the branches that wait, at most."""
FIRST_STEPS, LATER_STEPS = 4_000, 400
"""Steps of the local search, from the first bounds' plans and from later ones."""
MOST_MOVES = 100_000_000
"""Moves that one local search looks at, at most."""
FIRST_STARTS, MORE_STARTS = 6, 60
"""Local searches from plans drawn at random: at once, and one for each of the first branches."""


@dataclass(order=True)
class _Branch:
    """Places that are left, and what is known about their plans."""

    bound: float
    number: int
    allowed: BoolArray = field(compare=False)
    prices: Prices = field(compare=False)


@dataclass(eq=False)
class Search:
    """The state of a search; it can be stopped and go on."""

    tables: Tables
    alike: list[list[int]]
    """Groups of blocks that can be swapped: of such a group, earlier blocks take earlier places."""
    gap: float
    seed: int
    constant: float = 0.0
    """What the objective adds to the costs."""
    best: float = np.inf
    plan: NDArray[np.intp] | None = None
    branches: int = 0
    bounds: list[str] = field(default_factory=list)
    """The kinds of bounds that were used."""

    def __post_init__(self) -> None:
        self._core = core_tables(self.tables)
        self._open = [_Branch(-np.inf, 0, self.tables.allowed.copy(), Prices.none(self.tables))]
        self._bounds = Bounds(self.tables.beyond)
        self._twins = Twins(self.tables)
        self._number = 0
        self._budget = Budget()
        self._generator = generator_for(self.seed)

    @property
    def ceiling(self) -> float:
        """The costs that a plan must stay below to count."""
        return min(self.best, self.tables.largest * (1 + 1e-9) + 1e-9)

    @property
    def slack(self) -> float:
        """How much less than the best plan makes no difference."""
        known = self.best + self.constant if np.isfinite(self.best) else 0.0
        return max(FINE, self.gap) * abs(known) + self.tables.noise

    @property
    def done(self) -> bool:
        """Whether everything was looked at."""
        return not self._open

    @property
    def bound(self) -> float:
        """No plan costs less; infinite where there is none at all."""
        least = float(self._open[0].bound) if self._open else np.inf
        if np.isinf(self.best):
            return least if np.isinf(least) else least - self.tables.noise
        return min(self.best - self.slack, least - self.tables.noise)

    def run(self, budget: Budget, most: int, report: Callable[[float, float], None]) -> None:
        """Go on until everything was looked at, time is over or so many branches were looked at."""
        self._budget = budget
        while self._open and not budget.over and self.branches < most:
            branch = heapq.heappop(self._open)
            if branch.bound >= self.ceiling - self.slack:
                self._open.clear()
                break
            self._look_at(branch)
            self.branches += 1
            if len(self._open) * self.tables.cost.size > MOST_WAITING:
                break
            if self.branches % 5 == 1:
                report(self.best, self.bound)

    def _look_at(self, branch: _Branch) -> None:
        """A bound, a plan, fewer places, and branches for those of one block."""
        allowed = branch.allowed.copy()
        prices, first = branch.prices, self.branches == 0
        for _ in range(3):
            rest = rest_of(self.tables, allowed)
            if rest is None:
                return
            if len(rest.blocks) == 0:
                self._offer(np.argmax(allowed, axis=1).astype(np.intp))
                return
            if first:
                self._start(allowed)
            aim = Aim(self.ceiling - rest.constant, self.slack, self._over)
            found, name = self._bounds.of(rest, prices, aim, first)
            if name not in self.bounds:
                self.bounds.append(name)
            value, least = found.value + rest.constant, found.least + rest.constant
            prices = found.prices
            if value >= self.ceiling - self.slack:
                return
            whole = np.argmax(allowed, axis=1).astype(np.intp)
            whole[rest.blocks] = found.plan
            self._offer(whole)
            if 0 < self.branches <= MORE_STARTS:
                self._improve_any()
            if first or self.branches % 8 == 0:
                self._improve(whole, FIRST_STEPS if first else LATER_STEPS)
            keep = rest.allowed & (least < self.ceiling - self.slack)
            dropped = int(rest.allowed.sum() - keep.sum())
            allowed[rest.blocks] = keep
            if not keep.any(axis=1).all():
                return
            if dropped * 5 < int(rest.allowed.sum()):
                break
        assert rest is not None
        self._branch(rest, least, _Branch(max(value, branch.bound), 0, allowed, prices))

    def _branch(self, rest: Rest, least: FloatArray, whole: _Branch) -> None:
        """A branch for each place of one block."""
        chosen = branching_block(rest, least, whole.bound, self.ceiling)
        allowed = whole.allowed
        block = int(rest.blocks[chosen])
        if allowed[block].sum() < 2:
            # It was narrowed down to one place just now: the others decide.
            spread = np.where(allowed[rest.blocks].sum(axis=1) > 1)[0]
            block = int(rest.blocks[spread[0]]) if len(spread) else block
            chosen = int(np.flatnonzero(rest.blocks == block)[0])
        places = np.flatnonzero(allowed[block])
        if self._first_in_order(block, allowed):
            places = self._twins.firsts(places, allowed)
        for place in places.tolist():
            below = allowed.copy()
            below[block] = False
            below[block, place] = True
            if self._order(below, block, place):
                self._number += 1
                bound = max(whole.bound, float(least[chosen, place]))
                heapq.heappush(self._open, replace(whole, bound=bound, number=self._number, allowed=below))

    def _first_in_order(self, block: int, allowed: BoolArray) -> bool:
        """Whether all blocks that come before it in its group are settled, on no later place than its own.

        Only then may the first of several equal places stand for all of them: with the block on the least
        place of those in its group, exchanging that for an earlier equal one keeps the group in order.
        """
        for group in self.alike:
            if block in group:
                before = allowed[group[: group.index(block)]]
                earlier = np.argmax(before, axis=1) <= np.argmax(allowed[block])
                return bool((before.sum(axis=1) == 1).all() and earlier.all())
        return True

    def _order(self, allowed: BoolArray, block: int, place: int) -> bool:
        """Of blocks that can be swapped, those before take no later place, those after no earlier one."""
        for group in self.alike:
            if block in group:
                turn = group.index(block)
                for member in group[:turn]:
                    allowed[member, place + 1 :] = False
                for member in group[turn + 1 :]:
                    allowed[member, :place] = False
                return bool(allowed[group].any(axis=1).all())
        return True

    def _start(self, allowed: BoolArray) -> None:
        """Plans to begin with: local searches from cheap places."""
        masked = np.where(allowed, self.tables.cost, np.inf)
        self._improve(np.argmin(masked, axis=1).astype(np.intp), FIRST_STEPS)
        for _ in range(FIRST_STARTS):
            self._improve_any()

    def _improve_any(self) -> None:
        """A local search from a plan drawn at random."""
        chance = np.where(self.tables.allowed, self._generator.random(self.tables.cost.shape), np.inf)
        self._improve(np.argmin(chance, axis=1).astype(np.intp), FIRST_STEPS // 4)

    def _improve(self, plan: IndexArray, steps: int) -> None:
        """A local search from a plan: single blocks move, and may not move back at once."""
        tables, blocks = self.tables, len(plan)
        steps = min(steps, MOST_MOVES // tables.cost.size)
        tenures = generator_for(self.seed + self.branches).integers(2, 4 + blocks // 2, steps)
        largest, penalty = tables.largest * (1 + 1e-12), 1e-9 + tables.largest / max(blocks, 1) / 4
        better = core.tabu_search(self._core, plan, self.best, largest, penalty, tenures, self._over)
        if better is not None:
            self._offer(better)

    def _over(self) -> bool:
        return self._budget.over

    def _offer(self, plan: IndexArray) -> None:
        total = self.tables.total(plan)
        if total < self.best and total <= self.tables.largest * (1 + 1e-12) and self.tables.fits(plan):
            self.best, self.plan = total, plan.copy()


class Twins:
    """For every place, the first one that is like it."""

    def __init__(self, tables: Tables) -> None:
        count = len(tables.nodes)
        self._kind = np.arange(count)
        for place in range(1, count):
            for earlier in np.unique(self._kind[:place]).tolist():
                if _equal(tables, earlier, place):
                    self._kind[place] = earlier
                    break

    def firsts(self, places: IndexArray, allowed: BoolArray) -> IndexArray:
        """Of some ascending places, the first of those that are alike and allowed to the same blocks."""
        seen: set[tuple[int, bytes]] = set()
        kept = []
        for place in places.tolist():
            key = int(self._kind[place]), allowed[:, place].tobytes()
            if key not in seen:
                seen.add(key)
                kept.append(place)
        return np.array(kept, dtype=np.intp)


def _equal(tables: Tables, one: int, other: int) -> bool:
    """Whether exchanging two places leaves all tables as they are."""
    order = np.arange(len(tables.nodes))
    order[[one, other]] = other, one
    rows = (tables.cost[:, [one, other]], tables.allowed[:, [one, other]], tables.limit[:, [one, other]])
    if not all(np.array_equal(part[:, 0], part[:, 1]) for part in rows):
        return False
    # Whose limit counts: only where each place stands for itself, so no label binds it to others.
    for group in tables.group:
        if (np.flatnonzero(group == group[one]) != one).any() or (
            np.flatnonzero(group == group[other]) != other
        ).any():
            return False
    near = [one, other]
    return np.array_equal(
        tables.pair[:, near, :], tables.pair[:, order[near], :][:, :, order]
    ) and np.array_equal(tables.pair[:, :, near], tables.pair[:, order, :][:, :, order[near]])
