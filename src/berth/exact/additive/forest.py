"""Bounds of what is left by the forest that it is, or would be without some edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.exact.additive import forest_kernel as kernel
from berth.exact.additive.rest import Bound, Rest

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

MOST_LEVELS = 24
"""Weights of pieces that are told apart at most."""
MOST_WORK = 300_000_000
"""Steps of loops without a look at the clock, about."""


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


def forest_bound(
    rest: Rest, price: FloatArray, split: FloatArray, ceiling: float, rounds: int, slack: float
) -> Bound:
    """The best bound by prices after some rounds; edges that close circles are cut, their costs split.

    Args:
        rest: what is left.
        price: what limits are worth, to start from.
        split: [edge of the whole problem, end, place]: what the ends of edges bear when these are cut.
        ceiling: the bound that is aimed at.
        rounds: the changes of prices, at most.
        slack: so far below the ceiling is high enough.
    """
    blocks, stays = len(rest.cost), tree_edges(rest)
    ends, pair, cut = rest.ends[stays], rest.pair[stays], rest.edges[~stays]
    cut_ends, cut_pair = rest.ends[~stays], rest.pair[~stays]
    weight, room = weights_of(rest.demand, rest.limit, rest.group)
    cost = np.where(rest.allowed, rest.cost, np.inf)
    start, other, through = _neighbours(ends, blocks)
    order, parent, upward = np.zeros((3, blocks), dtype=np.intp)
    kernel.root_at(0, start, other, through, order, parent, upward)
    first = np.ascontiguousarray(ends[:, 0])
    forward = (parent >= 0) & (first[upward] == parent) if len(first) else np.zeros(blocks, dtype=np.bool_)
    kept, kept_split = price.copy(), split[cut]
    plan, levels = np.zeros(blocks, dtype=np.intp), int(room.max()) + 1
    once = cost.size * (cost.shape[1] + levels * levels // 2)
    rounds = min(rounds, max(MOST_WORK // once, 1))
    value = kernel.improve_prices(
        cost, pair, forward, weight, room, order, parent, upward, rest.demand, rest.limit, rest.group,
        price.copy(), kept, cut_ends, cut_pair, split[cut], kept_split, plan, levels, ceiling, rounds, slack,
    )  # fmt: skip
    least = np.full(cost.shape, value)
    if np.isfinite(value) and blocks * once <= MOST_WORK:
        priced = cost + rest.charges(kept)
        for end in range(2):
            np.add.at(priced, cut_ends[:, end], kept_split[:, end])
        apart = kernel.least_cuts(cost, cut_ends, cut_pair, kept_split, np.zeros_like(cut_ends))
        constant = apart - float((kept * rest.limit).sum())
        kernel.marginals(priced, constant, pair, first, weight, room, start, other, through, levels, least)
    if len(cut):
        split = split.copy()
        split[cut] = kept_split
    return Bound(value, least, plan, kept, split)


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


def _neighbours(ends: IndexArray, blocks: int) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Where each block's neighbours begin, the neighbours, and the edges to them."""
    edges = np.arange(len(ends))
    here, there = np.concatenate([ends, ends[:, ::-1]]).T
    order = np.argsort(here, kind="stable")
    start = np.searchsorted(here[order], np.arange(blocks + 1))
    return start.astype(np.intp), there[order], np.concatenate([edges, edges])[order]
