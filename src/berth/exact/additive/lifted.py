"""Bounds of what is left when it is small and dense."""

from __future__ import annotations

import numpy as np

from berth.exact.additive.lifted_kernel import ascend
from berth.exact.additive.rest import Bound, FloatArray, Rest

LARGEST_TABLE = 1_500_000
"""Numbers in the table of all pairs of choices, at most."""


def lifted_size(rest: Rest) -> int:
    """How many numbers the table would have."""
    return rest.cost.size**2


def lifted_bound(
    rest: Rest, price: FloatArray, split: FloatArray, ceiling: float, rounds: int, beyond: float
) -> Bound:
    """The bound after some rounds of dual ascent, with a price for the limits to start from."""
    blocks, places = rest.cost.shape
    worth = float((price * rest.limit).sum())
    cost = rest.cost + rest.charges(price)
    constant = -worth
    leader = np.zeros_like(cost)
    for block in range(blocks):
        own = cost[block, rest.allowed[block]].min()
        constant += own
        leader[block] = np.where(rest.allowed[block], cost[block] - own, 0.0)
    others = np.zeros((blocks, places, blocks, places))
    for (first, second), pair in zip(rest.ends.tolist(), rest.pair, strict=True):
        part = pair[np.ix_(rest.allowed[first], rest.allowed[second])]
        lowest = part.min()
        constant += lowest
        others[first, :, second, :] = np.maximum(pair - lowest, 0.0)
    least = np.full(cost.shape, -np.inf)
    total = ascend(
        leader, others, rest.allowed, rest.demand, rest.limit, rest.group, beyond, ceiling - constant, rounds,
        least,
    )  # fmt: skip
    if total >= beyond:
        return Bound(np.inf, np.full(cost.shape, np.inf), np.argmin(cost, axis=1), price, split)
    hidden = np.where(rest.allowed, leader, np.inf)
    return Bound(total + constant, least + constant, np.argmin(hidden, axis=1).astype(np.intp), price, split)
