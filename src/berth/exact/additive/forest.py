"""Bounds of what is left when it is a forest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.exact.additive import forest_kernel as kernel
from berth.exact.additive.rest import Bound, Rest

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

MOST_LEVELS = 24
"""Weights of pieces that are told apart at most."""
MOST_WORK = 300_000_000
"""Steps of loops without a look at the clock, about."""


def is_forest(rest: Rest) -> bool:
    """Whether no blocks are connected in a circle."""
    leader = list(range(len(rest.cost)))

    def find(block: int) -> int:
        while leader[block] != block:
            leader[block] = leader[leader[block]]
            block = leader[block]
        return block

    for first, second in rest.ends.tolist():
        one, other = find(first), find(second)
        if one == other:
            return False
        leader[one] = other
    return True


def forest_bound(rest: Rest, price: FloatArray, ceiling: float, rounds: int, slack: float) -> Bound:
    """The best bound by prices after some rounds."""
    blocks = len(rest.cost)
    weight, room = weights_of(rest.demand, rest.limit, rest.group)
    cost = np.where(rest.allowed, rest.cost, np.inf)
    start, other, through = _neighbours(rest)
    order, parent, upward = np.zeros((3, blocks), dtype=np.intp)
    kernel.root_at(0, start, other, through, order, parent, upward)
    first = np.ascontiguousarray(rest.ends[:, 0])
    forward = (parent >= 0) & (first[upward] == parent) if len(first) else np.zeros(blocks, dtype=np.bool_)
    kept, plan, levels = price.copy(), np.zeros(blocks, dtype=np.intp), int(room.max()) + 1
    once = cost.size * (cost.shape[1] + levels * levels // 2)
    rounds = min(rounds, max(MOST_WORK // once, 1))
    value = kernel.improve_prices(
        cost, rest.pair, forward, weight, room, order, parent, upward, rest.demand, rest.limit, rest.group,
        price.copy(), kept, plan, levels, ceiling, rounds, slack,
    )  # fmt: skip
    least = np.full(cost.shape, value)
    if np.isfinite(value) and blocks * once <= MOST_WORK:
        kernel.marginals(
            rest.pair, first, weight, room, start, other, through, rest.demand, rest.limit, rest.group, kept,
            levels, cost.copy(), least,
        )  # fmt: skip
    return Bound(value, least, plan, kept)


def weights_of(demand: FloatArray, limit: FloatArray, group: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Whole weights of blocks and what pieces on each place may weigh, by the scarcest resource.

    What fits by demands fits by weights: these are exact multiples, or rounded down.
    """
    blocks, places = demand.shape[1], limit.shape[1]
    nothing = np.zeros(blocks, dtype=np.intp), np.zeros(places, dtype=np.intp)
    asked = demand.sum(axis=1)
    if not (asked > 0).any():
        return nothing
    there = np.maximum(np.take_along_axis(limit, group, axis=1), 0.0)
    scarcest = int(np.argmax(asked / np.maximum(there.sum(axis=1), 1e-12)))
    need, there = demand[scarcest], np.minimum(there[scarcest], asked[scarcest])
    unit = float(need[need > 0].min())
    multiples = need / unit
    whole = np.abs(multiples - np.round(multiples)).max() < 1e-9
    if whole and there.max() / unit <= MOST_LEVELS:
        return np.round(multiples).astype(np.intp), np.floor(there / unit + 1e-6).astype(np.intp)
    scale = MOST_LEVELS / float(there.max()) if there.max() > 0 else 0.0
    return np.floor(need * scale).astype(np.intp), np.floor(there * scale + 1e-6).astype(np.intp)


def _neighbours(rest: Rest) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Where each block's neighbours begin, the neighbours, and the edges to them."""
    edges = np.arange(len(rest.ends))
    here, there = np.concatenate([rest.ends, rest.ends[:, ::-1]]).T
    order = np.argsort(here, kind="stable")
    start = np.searchsorted(here[order], np.arange(len(rest.cost) + 1))
    return start.astype(np.intp), there[order], np.concatenate([edges, edges])[order]
