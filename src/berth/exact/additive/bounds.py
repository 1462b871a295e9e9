"""Bounds of what is left: by the room of places, by trees and by pairs of choices; which of them suits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.core import exact as core
from berth.exact.additive.tables import Aim, BoolArray, Bound, FloatArray, IndexArray, Prices, Rest

MOST_ROOMS = 20_000
"""Combinations of blocks and rooms in an assignment, at most."""
LARGEST_TABLE = 1_500_000
"""Numbers in the table of all pairs of choices, at most."""
MOST_LEVELS = 24
"""Weights of pieces of trees that are told apart, at most."""
MOST_WORK = 300_000_000
"""Steps of one bound by trees, about."""
TREE_ROUNDS, LIFTED_ROUNDS = (150, 40), (30, 16)
"""Improvements of each kind of bound: where the search begins, and later."""
FEW = 2
"""Blocks without which the rest is a forest, so few that they are decided first."""


@dataclass(eq=False)
class Bounds:
    """The bounds of one search. Where there are many circles, the first bounds show which is better."""

    beyond: float
    prefers_trees: bool = False

    def of(self, rest: Rest, prices: Prices, aim: Aim, first: bool) -> tuple[Bound, str]:
        """A bound of what is left and its name; more effort where the search begins."""
        turn = 0 if first else 1
        alone = assignment_bound(rest, prices)
        if alone is not None:
            return alone, "assignment"
        few = len(circle_breakers(rest)) <= FEW
        small = rest.cost.size**2 <= LARGEST_TABLE
        if first and not few:
            self.prefers_trees = not small
        if few or self.prefers_trees or not small:
            return forest_bound(rest, prices, aim, TREE_ROUNDS[turn]), "trees"
        lifted = lifted_bound(rest, prices, aim, LIFTED_ROUNDS[turn], self.beyond)
        if not first:
            return lifted, "lifted"
        trees = forest_bound(rest, prices, aim, TREE_ROUNDS[turn])
        self.prefers_trees = trees.value > lifted.value
        best = trees if self.prefers_trees else lifted
        np.maximum(lifted.least, trees.least, out=best.least)
        return best, "trees" if self.prefers_trees else "lifted"


def assignment_bound(rest: Rest, prices: Prices) -> Bound | None:
    """The cheapest places of blocks without streams that all need the same of one resource: exact.

    None where more than that is to be held: prices are for that.
    """
    blocks, places = rest.cost.shape
    if len(rest.ends) or len(rest.demand) != 1 or (rest.group != np.arange(places)).any():
        return None
    need = rest.demand[0]
    if need[0] <= 0 or (need != need[0]).any():
        return None
    rooms = np.minimum(np.floor(rest.limit[0] / need[0] + 1e-9), blocks).astype(np.intp)
    place_of = np.repeat(np.arange(places), rooms)
    if len(place_of) * blocks > MOST_ROOMS:
        return None
    cost = np.where(rest.allowed, rest.cost, np.inf)
    rooms_of = core.cheapest_assignment(cost[:, place_of]) if len(place_of) >= blocks else None
    if rooms_of is None:
        return Bound.no_plan(rest, prices)
    plan = place_of[rooms_of]
    value = float(cost[np.arange(blocks), plan].sum())
    return Bound(value, np.full(cost.shape, value), plan, prices)


def lifted_bound(rest: Rest, prices: Prices, aim: Aim, rounds: int, beyond: float) -> Bound:
    """What each choice makes others cost: for what is small and dense."""
    worth = float((prices.limits * rest.limit).sum())
    cost = rest.cost + rest.charges(prices.limits)
    found = core.lifted_bound(rest.core, cost, aim.ceiling + worth, rounds, beyond, aim.over)
    if np.isinf(found.value):
        return Bound.no_plan(rest, prices)
    plan = np.argmin(np.where(rest.allowed, found.reduced, np.inf), axis=1).astype(np.intp)
    return Bound(found.value - worth, found.least - worth, plan, prices)


def forest_bound(rest: Rest, prices: Prices, aim: Aim, rounds: int) -> Bound:
    """The best bound by the trees that are left when edges that close circles are cut."""
    blocks, places = rest.cost.shape
    in_tree = tree_edges(rest)
    cut = rest.edges[~in_tree]
    weight, room = weights_of(rest.demand, rest.limit, rest.group)
    levels = int(room.max()) + 1
    work = rest.cost.size * (places + levels * levels // 2)
    forest = core.ForestBound(rest.core, in_tree, weight, room)
    rounds = min(rounds, max(MOST_WORK // work, 1))
    value = forest.improve_prices(prices.limits, prices.split[cut], aim.ceiling, rounds, aim.slack, aim.over)
    least = np.full(rest.cost.shape, value)
    if np.isfinite(value) and blocks * work <= MOST_WORK:
        least = forest.marginals(value, aim.over)
    split = prices.split
    if len(cut):
        split = split.copy()
        split[cut] = forest.split
    return Bound(value, least, forest.plan, Prices(forest.price, split))


def tree_edges(rest: Rest) -> BoolArray:
    """Which edges stay so that no blocks are connected in a circle: those that cost most, first."""
    leader = list(range(len(rest.cost)))

    def find(block: int) -> int:
        while leader[block] != block:
            leader[block] = leader[leader[block]]
            block = leader[block]
        return block

    stays = np.zeros(len(rest.ends), dtype=np.bool_)
    for edge in np.argsort(-rest.pair.mean(axis=(1, 2)), kind="stable").tolist():
        one, other = (find(block) for block in rest.ends[edge].tolist())
        stays[edge] = one != other
        leader[one] = other
    return stays


def weights_of(demand: FloatArray, limit: FloatArray, group: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Whole weights of blocks and what pieces on each place may weigh, by the scarcest resource.

    What fits by demands fits by weights: these are exact multiples, or rounded down.
    """
    blocks, places = demand.shape[1], limit.shape[1]
    nothing = np.zeros(blocks, dtype=np.intp), np.zeros(places, dtype=np.intp)
    needed = demand.sum(axis=1)
    if not (needed > 0).any():
        return nothing
    there = np.maximum(np.take_along_axis(limit, group, axis=1), 0.0)
    scarcest = int(np.argmax(needed / np.maximum(there.sum(axis=1), 1e-12)))
    need, there = demand[scarcest], np.minimum(there[scarcest], needed[scarcest])
    unit = float(need[need > 0].min())
    multiples = need / unit
    whole = np.abs(multiples - np.round(multiples)).max() < 1e-9
    if whole and there.max() / unit <= MOST_LEVELS:
        return np.round(multiples).astype(np.intp), np.floor(there / unit + 1e-6).astype(np.intp)
    scale = MOST_LEVELS / float(there.max()) if there.max() > 0 else 0.0
    return np.floor(need * scale).astype(np.intp), np.floor(there * scale + 1e-6).astype(np.intp)


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
