"""Which bound suits what is left, and which block to branch on."""

from __future__ import annotations

import numpy as np

from berth.exact.additive.assignment import assignment_bound
from berth.exact.additive.elimination import LARGEST_TABLES, Elimination, elimination_bound
from berth.exact.additive.forest import forest_bound, is_forest
from berth.exact.additive.lifted import LARGEST_TABLE, lifted_bound, lifted_size
from berth.exact.additive.rest import Bound, FloatArray, IndexArray, Rest

TREE_ROUNDS, TABLE_ROUNDS, LIFTED_ROUNDS = (150, 40), (60, 6), (60, 16)
"""Improvements of each kind of bound: where the search begins, and later."""
FEW = 2
"""Blocks without which the rest is a forest, so few that they are decided first."""


def bound_of(
    rest: Rest, price: FloatArray, ceiling: float, slack: float, beyond: float, first: bool
) -> tuple[Bound, str]:
    """A bound of what is left and its name; more effort where the search begins."""
    trees, tables, lifts = (
        rounds[0 if first else 1] for rounds in (TREE_ROUNDS, TABLE_ROUNDS, LIFTED_ROUNDS)
    )
    alone = assignment_bound(rest, price)
    if alone is not None:
        return alone, "assignment"
    if is_forest(rest):
        return forest_bound(rest, price, ceiling, trees, slack), "trees"
    dense = len(circle_breakers(rest)) > FEW
    bound = None
    if first or not dense or lifted_size(rest) > LARGEST_TABLE:
        elimination = Elimination(rest)
        if elimination.size <= LARGEST_TABLES:
            bound = elimination_bound(rest, elimination, price, ceiling, tables, slack)
    if bound is not None and (not dense or bound.value >= ceiling - slack):
        return bound, "decomposition"
    if lifted_size(rest) <= LARGEST_TABLE:
        start = price if bound is None else bound.price
        lifted = lifted_bound(rest, start, ceiling, lifts, beyond)
        if bound is None:
            return lifted, "lifted"
        least = np.maximum(lifted.least, bound.least)
        return Bound(max(lifted.value, bound.value), least, lifted.plan, bound.price), "lifted"
    if bound is not None:
        return bound, "decomposition"
    return Bound(*parts_alone(rest), price), "apart"


def parts_alone(rest: Rest) -> tuple[float, FloatArray, IndexArray]:
    """Every block and every edge at its least, by itself."""
    cost = np.where(rest.allowed, rest.cost, np.inf)
    own = cost.min(axis=1)
    total = float(own.sum()) + sum(
        float(pair[np.ix_(rest.allowed[first], rest.allowed[second])].min())
        for (first, second), pair in zip(rest.ends.tolist(), rest.pair, strict=True)
    )
    return total, total + cost - own[:, None], np.argmin(cost, axis=1).astype(np.intp)


def circle_breakers(rest: Rest) -> list[int]:
    """Blocks without which the rest is a forest: ends are cut off, then the busiest block goes."""
    beside: dict[int, set[int]] = {block: set() for block in range(len(rest.cost))}
    for first, second in rest.ends.tolist():
        beside[first].add(second)
        beside[second].add(first)
    found: list[int] = []
    while beside:
        block = next((k for k in beside if len(beside[k]) <= 1), None)
        if block is None:
            block = max(beside, key=lambda k: (len(beside[k]), -k))
            found.append(block)
        for other in beside.pop(block):
            beside[other].discard(block)
    return found


def hubs(rest: Rest) -> list[int]:
    """Blocks without which nobody talks to anybody, the busiest first; those beyond a few are left out."""
    ends = rest.ends
    found: list[int] = []
    while len(ends) and len(found) <= FEW:
        degree = np.bincount(ends.ravel(), minlength=len(rest.cost))
        found.append(int(np.argmax(degree)))
        ends = ends[(ends != found[-1]).all(axis=1)]
    return found


def branching_block(rest: Rest, least: FloatArray, value: float, ceiling: float) -> int:
    """The block to decide next: one of few that hold the graph together, else whose places cost most."""
    for together in (hubs(rest), circle_breakers(rest)):
        if 0 < len(together) <= FEW:
            return together[0]
    room = max(ceiling - value, 1e-300)
    rise = np.clip((least - value) / room, 0.0, 1.0)
    # Few places, and those that are left dear: the fewest plans remain below.
    work = np.where(rest.allowed, 1.0 - 0.9 * rise, 0.0).sum(axis=1)
    return int(np.argmin(work))
