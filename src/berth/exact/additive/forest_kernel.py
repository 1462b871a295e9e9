"""The cheapest plan of a forest where places have prices and no piece of a tree overfills its place.

A piece is what of a tree lies connected on one place. Prices alone would let a whole tree share a place,
for a part of the time each: the bound would be nothing. That every piece has to fit makes trees spread.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@compiled
def root_at(
    root: int, start: IndexArray, other: IndexArray, through: IndexArray, order: IndexArray,
    parent: IndexArray, upward: IndexArray,
) -> None:  # fmt: skip
    """An order of blocks, each after its parent, from a root and then of the other trees.

    The neighbours of block i are `other[start[i]:start[i + 1]]`, by the edges `through`. `upward` gets the
    edge to the parent.
    """
    blocks = len(parent)
    for block in range(blocks):
        parent[block] = -2
    filled = 0
    for turn in range(-1, blocks):
        first = root if turn < 0 else turn
        if parent[first] != -2:
            continue
        parent[first] = -1
        upward[first] = -1
        order[filled] = first
        head = filled
        filled += 1
        while head < filled:
            block = order[head]
            head += 1
            for position in range(start[block], start[block + 1]):
                beside = other[position]
                if parent[beside] == -2:
                    parent[beside] = block
                    upward[beside] = through[position]
                    order[filled] = beside
                    filled += 1


@compiled
def climb(
    cost: FloatArray, pair: FloatArray, forward: NDArray[np.bool_], weight: IndexArray, room: IndexArray,
    order: IndexArray, parent: IndexArray, upward: IndexArray, table: FloatArray, before: FloatArray,
    least: FloatArray, away: FloatArray, away_at: IndexArray,
) -> float:  # fmt: skip
    """Fill the tables from the leaves on; the costs of the cheapest plan.

    table[i, u, l]: of the tree below i, with i on u in a piece of weight l. `before` is the parent's table
    without this child, `away` the child's least costs on another place than its parent's. `forward[i]` says
    whether i's parent is the first block of its edge.
    """
    blocks, places = cost.shape
    levels = table.shape[2]
    for i in range(blocks):
        for u in range(places):
            for level in range(levels):
                table[i, u, level] = np.inf
            if weight[i] <= room[u]:
                table[i, u, weight[i]] = cost[i, u]
    total = 0.0
    for turn in range(blocks - 1, -1, -1):
        i = order[turn]
        for u in range(places):
            lowest = np.inf
            for level in range(room[u] + 1):
                lowest = min(lowest, table[i, u, level])
            least[i, u] = lowest
        above = parent[i]
        if above < 0:
            lowest = np.inf
            for u in range(places):
                lowest = min(lowest, least[i, u])
            total += lowest
            continue
        step = pair[upward[i]]
        for u in range(places):
            lowest, at = np.inf, -1
            for v in range(places):
                value = least[i, v] + (step[u, v] if forward[i] else step[v, u])
                if v != u and value < lowest:
                    lowest, at = value, v
            away[i, u] = lowest
            away_at[i, u] = at
            for level in range(room[u] + 1):
                before[i, u, level] = table[above, u, level]
            for level in range(room[u] + 1):
                value = before[i, u, level] + lowest
                for part in range(weight[i], level - weight[above] + 1):
                    value = min(value, before[i, u, level - part] + table[i, u, part] + step[u, u])
                table[above, u, level] = value
    return total


@compiled
def follow(
    pair: FloatArray, weight: IndexArray, room: IndexArray, order: IndexArray, parent: IndexArray,
    upward: IndexArray, table: FloatArray, before: FloatArray, away: FloatArray, away_at: IndexArray,
    plan: IndexArray, level_of: IndexArray,
) -> None:  # fmt: skip
    """The cheapest plan that the tables have."""
    for turn in range(len(order)):
        i = order[turn]
        above = parent[i]
        place = -1
        if above >= 0:
            u, level = plan[above], level_of[above]
            lowest = before[i, u, level] + away[i, u]
            place, own = away_at[i, u], -1
            for part in range(weight[i], level - weight[above] + 1):
                value = before[i, u, level - part] + table[i, u, part] + pair[upward[i], u, u]
                if value < lowest:
                    lowest, place, own = value, u, part
            if own >= 0:
                level_of[above] = level - own
                plan[i], level_of[i] = u, own
                continue
        lowest = np.inf
        for u in range(table.shape[1]):
            if place >= 0 and u != place:
                continue
            for level in range(room[u] + 1):
                if table[i, u, level] < lowest:
                    lowest = table[i, u, level]
                    plan[i], level_of[i] = u, level


@compiled
def least_cuts(
    cost: FloatArray, cut_ends: IndexArray, cut_pair: FloatArray, split: FloatArray, cut_at: IndexArray
) -> float:
    """What is left of the costs of cut edges where that is least, and to `cut_at` where that is."""
    places = cost.shape[1]
    total = 0.0
    for cut in range(len(cut_ends)):
        first, second = cut_ends[cut, 0], cut_ends[cut, 1]
        lowest = np.inf
        for u in range(places):
            if cost[first, u] == np.inf:
                continue
            for v in range(places):
                value = cut_pair[cut, u, v] - split[cut, 0, u] - split[cut, 1, v]
                if value < lowest and cost[second, v] < np.inf:
                    lowest = value
                    cut_at[cut, 0], cut_at[cut, 1] = u, v
        total += lowest
    return total


@compiled
def improve_prices(
    cost: FloatArray, pair: FloatArray, forward: NDArray[np.bool_], weight: IndexArray, room: IndexArray,
    order: IndexArray, parent: IndexArray, upward: IndexArray, demand: FloatArray, limit: FloatArray,
    group: IndexArray, price: FloatArray, kept: FloatArray, cut_ends: IndexArray, cut_pair: FloatArray,
    split: FloatArray, kept_split: FloatArray, plan: IndexArray, levels: int, ceiling: float, rounds: int,
    slack: float,
) -> float:  # fmt: skip
    """Subgradient steps: prices rise where the cheapest plan takes more than there is.

    Edges that were cut to have a forest are on their own; `split` is what the ends of each bear of its costs,
    more where the forest's plan is, less where the edge alone would be. `kept` and `kept_split` become the
    best ones, `plan` the last plan. Returns the best bound.
    """
    blocks, places = cost.shape
    table, before = np.empty((blocks, places, levels)), np.empty((blocks, places, levels))
    least, away = np.empty((blocks, places)), np.empty((blocks, places))
    away_at = np.empty((blocks, places), np.int64)
    level_of = np.empty(blocks, np.int64)
    cut_at = np.empty((len(cut_ends), 2), np.int64)
    priced, over = np.empty((blocks, places)), np.empty((len(demand), places))
    highest, scale, since = -np.inf, 1.0, 0
    for _ in range(rounds):
        for i in range(blocks):
            for u in range(places):
                priced[i, u] = cost[i, u]
        worth = 0.0
        for resource in range(len(demand)):
            for u in range(places):
                worth += price[resource, u] * limit[resource, u]
                at = price[resource, group[resource, u]]
                if at > 0.0:
                    for i in range(blocks):
                        priced[i, u] += at * demand[resource, i]
        for cut in range(len(cut_ends)):
            for u in range(places):
                priced[cut_ends[cut, 0], u] += split[cut, 0, u]
                priced[cut_ends[cut, 1], u] += split[cut, 1, u]
        bound = climb(
            priced, pair, forward, weight, room, order, parent, upward, table, before, least, away, away_at
        )  # fmt: skip
        bound += least_cuts(cost, cut_ends, cut_pair, split, cut_at) - worth
        if bound == np.inf:
            return bound
        follow(pair, weight, room, order, parent, upward, table, before, away, away_at, plan, level_of)
        since += 1
        if bound > highest:
            if bound - highest > 1e-3 * (ceiling - bound):
                since = 0
            highest = bound
            for resource in range(len(demand)):
                for u in range(places):
                    kept[resource, u] = price[resource, u]
            for cut in range(len(cut_ends)):
                for end in range(2):
                    for u in range(places):
                        kept_split[cut, end, u] = split[cut, end, u]
        for resource in range(len(demand)):
            for u in range(places):
                over[resource, u] = -limit[resource, u]
            for i in range(blocks):
                over[resource, group[resource, plan[i]]] += demand[resource, i]
        length = 0.0
        for resource in range(len(demand)):
            for u in range(places):
                if over[resource, u] > 0.0 or price[resource, u] > 0.0:
                    length += over[resource, u] ** 2
        for cut in range(len(cut_ends)):
            for end in range(2):
                if plan[cut_ends[cut, end]] != cut_at[cut, end]:
                    length += 2.0
        if length <= 1e-18 or highest >= ceiling - slack:
            break
        if since >= 4:
            scale, since = scale / 2, 0
            if scale < 0.01:
                break
        step = scale * (ceiling - bound) / length
        for resource in range(len(demand)):
            for u in range(places):
                price[resource, u] = max(0.0, price[resource, u] + step * over[resource, u])
        for cut in range(len(cut_ends)):
            for end in range(2):
                split[cut, end, plan[cut_ends[cut, end]]] += step
                split[cut, end, cut_at[cut, end]] -= step
    return highest


@compiled
def marginals(
    priced: FloatArray, constant: float, pair: FloatArray, first: IndexArray, weight: IndexArray,
    room: IndexArray, start: IndexArray, other: IndexArray, through: IndexArray, levels: int,
    least: FloatArray,
) -> None:  # fmt: skip
    """The bound with each block on each place, to `least`: every block is the root once."""
    blocks, places = priced.shape
    table, before = np.empty((blocks, places, levels)), np.empty((blocks, places, levels))
    below, away = np.empty((blocks, places)), np.empty((blocks, places))
    away_at = np.empty((blocks, places), np.int64)
    order, parent, upward = np.empty(blocks, np.int64), np.empty(blocks, np.int64), np.empty(blocks, np.int64)
    forward = np.empty(blocks, np.bool_)
    for root in range(blocks):
        root_at(root, start, other, through, order, parent, upward)
        for i in range(blocks):
            forward[i] = parent[i] >= 0 and first[upward[i]] == parent[i]
        total = constant + climb(
            priced, pair, forward, weight, room, order, parent, upward, table, before, below, away, away_at
        )  # fmt: skip
        lowest = np.inf
        for u in range(places):
            lowest = min(lowest, below[root, u])
        for u in range(places):
            least[root, u] = total if lowest == np.inf else total - lowest + below[root, u]
