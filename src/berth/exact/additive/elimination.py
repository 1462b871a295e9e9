"""Bounds of what is left by dynamic programming over a tree decomposition, with prices for the limits.

Blocks are eliminated one after the other, the one whose table is smallest first. The table of a block is over
its places and those of its neighbours that are left; its minimum over its own places is a message to the next
of them. Back from the last one, every table learns what the rest costs, so that there is a bound for each
place of each block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from berth.exact.additive.tables import Aim, Bound, FloatArray, IndexArray, Prices, Rest

LARGEST_TABLES = 4_000_000
"""Numbers in all tables together, at most."""
MOST_WORK = 40_000_000
"""Numbers that are looked at without a look at the clock, about."""


@dataclass(frozen=True, eq=False)
class _Bucket:
    """A block, its neighbours when it is eliminated, and what the edges between them cost."""

    block: int
    beside: tuple[int, ...]
    edges: FloatArray


class Elimination:
    """The tables of one rest."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._places = [np.flatnonzero(row) for row in rest.allowed]
        self._scopes = self._ordered()
        sizes = [np.prod([float(len(self._places[k])) for k in scope]) for scope in self._scopes]
        self.size = sum(sizes)
        self._buckets: list[_Bucket] = []

    def _ordered(self) -> list[tuple[int, ...]]:
        """Each block with those of its neighbours that are eliminated later, by the least table."""
        beside: dict[int, set[int]] = {block: set() for block in range(len(self._places))}
        for first, second in self._rest.ends.tolist():
            beside[first].add(second)
            beside[second].add(first)
        scopes, sizes = [], np.log([len(places) for places in self._places]).tolist()
        while beside:
            block = min(beside, key=lambda k: (sum(sizes[j] for j in beside[k]), k))
            others = beside.pop(block)
            for one in others:
                beside[one] |= others - {one}
                beside[one].discard(block)
            scopes.append((block, *others))
        turn = {scope[0]: number for number, scope in enumerate(scopes)}
        return [tuple(sorted(scope, key=turn.__getitem__)) for scope in scopes]

    def _build(self) -> None:
        """The edges' part of all tables."""
        edge_at = {tuple(ends): number for number, ends in enumerate(self._rest.ends.tolist())}
        for block, *beside in self._scopes:
            shape = [len(self._places[k]) for k in (block, *beside)]
            edges = np.zeros(shape)
            for axis, other in enumerate(beside, start=1):
                turned = (block, other) not in edge_at
                number = edge_at.get((other, block) if turned else (block, other))
                if number is not None:
                    pair = self._rest.pair[number].T if turned else self._rest.pair[number]
                    part = pair[np.ix_(self._places[block], self._places[other])]
                    edges += part.reshape([size if k in (0, axis) else 1 for k, size in enumerate(shape)])
            self._buckets.append(_Bucket(block, tuple(beside), edges))

    def run(self, cost: FloatArray, with_marginals: bool) -> tuple[float, IndexArray, FloatArray | None]:
        """The least costs, a plan that has them and, if asked for, those of each block on each place."""
        if not self._buckets:
            self._build()
        count = len(self._buckets)
        number_of = {bucket.block: number for number, bucket in enumerate(self._buckets)}
        waiting: list[list[int]] = [[] for _ in range(count)]
        tables: list[FloatArray] = []
        messages: list[FloatArray] = []
        total = 0.0
        for number, bucket in enumerate(self._buckets):
            own = cost[bucket.block, self._places[bucket.block]]
            table = bucket.edges + own.reshape([-1] + [1] * len(bucket.beside))
            for sender in waiting[number]:
                table += _spread(messages[sender], self._buckets[sender].beside, bucket)
            message = table.min(axis=0)
            tables.append(table)
            messages.append(message)
            if bucket.beside:
                waiting[number_of[bucket.beside[0]]].append(number)
            else:
                total += float(message)
        plan = np.zeros(count, dtype=np.intp)
        place = np.zeros(count, dtype=np.intp)
        for bucket, table in zip(reversed(self._buckets), reversed(tables), strict=True):
            place[bucket.block] = np.argmin(table[(slice(None), *(place[k] for k in bucket.beside))])
            plan[bucket.block] = self._places[bucket.block][place[bucket.block]]
        least = self._marginals(tables, messages, waiting, total) if with_marginals else None
        return total, plan, least

    def _marginals(
        self, tables: list[FloatArray], messages: list[FloatArray], waiting: list[list[int]], total: float
    ) -> FloatArray:
        least = np.full(self._rest.cost.shape, np.inf)
        for number in range(len(tables) - 1, -1, -1):
            bucket, belief = self._buckets[number], tables[number]
            others = tuple(range(1, belief.ndim))
            own = belief.min(axis=others) if others else belief
            # What the trees apart from this one cost is the same whatever happens here.
            least[bucket.block, self._places[bucket.block]] = own - own.min() + total
            for sender in waiting[number]:
                beside = self._buckets[sender].beside
                outside = belief - _spread(messages[sender], beside, bucket)
                axes = (bucket.block, *bucket.beside)
                gone = tuple(axis for axis, block in enumerate(axes) if block not in beside)
                # Both list blocks in the order of elimination.
                tables[sender] = tables[sender] + outside.min(axis=gone)[None]
        return least


def _spread(message: FloatArray, over: tuple[int, ...], bucket: _Bucket) -> FloatArray:
    """A message in the shape of a table; both list blocks in the order of elimination."""
    axes = (bucket.block, *bucket.beside)
    sizes = iter(message.shape)
    return message.reshape([next(sizes) if block in over else 1 for block in axes])


def elimination_bound(rest: Rest, elimination: Elimination, prices: Prices, aim: Aim, rounds: int) -> Bound:
    """The best bound by prices after some rounds of subgradient steps."""
    price = kept = prices.limits
    highest, scale, since = -np.inf, 1.0, 0
    plan = np.zeros(len(rest.cost), dtype=np.intp)
    for _ in range(min(rounds, max(int(MOST_WORK / elimination.size), 3))):
        value, plan, _ = elimination.run(rest.cost + rest.charges(price), False)
        bound = value - float((price * rest.limit).sum())
        since += 1
        if bound > highest:
            since = 0 if bound - highest > 1e-3 * (aim.ceiling - bound) else since
            highest, kept = bound, price
        over = -rest.limit
        for resource, demand in enumerate(rest.demand):
            np.add.at(over[resource], rest.group[resource][plan], demand)
        length = float((over[(over > 0.0) | (price > 0.0)] ** 2).sum())
        if length <= 1e-18 or highest >= aim.ceiling - aim.slack or aim.over():
            break
        if since >= 4:
            scale, since = scale / 2, 0
            if scale < 0.02:
                break
        price = np.maximum(0.0, price + scale * (aim.ceiling - bound) / length * over)
    value, _, least = elimination.run(rest.cost + rest.charges(kept), True)
    assert least is not None
    worth = float((kept * rest.limit).sum())
    return Bound(value - worth, least - worth, plan, replace(prices, limits=kept))
