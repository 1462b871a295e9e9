"""Which bound suits what is left, and which block to branch on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.exact.additive.assignment import assignment_bound
from berth.exact.additive.elimination import LARGEST_TABLES, Elimination, elimination_bound
from berth.exact.additive.forest import forest_bound
from berth.exact.additive.lifted import LARGEST_TABLE, lifted_bound, lifted_size
from berth.exact.additive.rest import Bound, FloatArray, Rest

TREE_ROUNDS, TABLE_ROUNDS, LIFTED_ROUNDS = (150, 40), (60, 6), (30, 16)
"""Improvements of each kind of bound: where the search begins, and later."""
FEW = 2
"""Blocks without which the rest is a forest, so few that they are decided first."""


@dataclass(eq=False)
class Bounds:
    """The bounds of one search. Where there are many circles, the first bounds show which is better."""

    beyond: float
    prefers_trees: bool = False

    def of(
        self, rest: Rest, price: FloatArray, split: FloatArray, ceiling: float, slack: float, first: bool
    ) -> tuple[Bound, str]:
        """A bound of what is left and its name; more effort where the search begins."""
        turn = 0 if first else 1
        alone = assignment_bound(rest, price, split)
        if alone is not None:
            return alone, "assignment"
        breakers = circle_breakers(rest)
        few = len(breakers) <= FEW
        if not breakers or (self.prefers_trees and not few):
            return forest_bound(rest, price, split, ceiling, TREE_ROUNDS[turn], slack), "trees"
        found: list[tuple[Bound, str]] = []
        small = lifted_size(rest) <= LARGEST_TABLE
        if first or few:
            elimination = Elimination(rest)
            if elimination.size <= LARGEST_TABLES:
                rounds = TABLE_ROUNDS[turn]
                bound = elimination_bound(rest, elimination, price, split, ceiling, rounds, slack)
                found.append((bound, "decomposition"))
                price = bound.price
                if few or bound.value >= ceiling - slack:
                    return found[0]
        if small and not few:
            lifted = lifted_bound(rest, price, split, ceiling, LIFTED_ROUNDS[turn], self.beyond)
            found.append((lifted, "lifted"))
        if first or not small or few:
            trees = forest_bound(rest, price, split, ceiling, TREE_ROUNDS[turn], slack)
            if first and not few:
                self.prefers_trees = not small or trees.value > found[-1][0].value
            found.append((trees, "trees"))
        best, name = max(found, key=lambda item: item[0].value)
        for other, _ in found:
            np.maximum(best.least, other.least, out=best.least)
        return best, name


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
