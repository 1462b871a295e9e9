"""A bound for graphs in which nearly everybody talks to everybody: what a choice makes others cost.

For every block i on every place u there is a problem of its own: the cheapest places of the others, given
that i is on u, with what room is left then. What it costs is added to i's own costs on u; what is left of the
costs of two blocks goes to the other one's problem (the first level of the reformulation-linearisation
technique, by dual ascent, as Hahn and Guignard do it for quadratic assignment).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@compiled
def extract(
    rows: FloatArray, used: BoolArray, allowed: BoolArray, demand: FloatArray, limit: FloatArray,
    group: IndexArray, beyond: float,
) -> float:  # fmt: skip
    """Take a bound on the choice of a place for each row out of the costs; what is left is not negative.

    Where the cheapest places have too little room, their price rises until those who could go elsewhere at
    less have gone. Returns `beyond` where no choice fits.
    """
    count, places = rows.shape
    value = 0.0
    for j in range(count):
        if not used[j]:
            continue
        lowest = np.inf
        for v in range(places):
            if allowed[j, v]:
                lowest = min(lowest, rows[j, v])
        if lowest >= beyond:
            return beyond
        value += lowest
        for v in range(places):
            rows[j, v] -= lowest
    elsewhere, ratio = np.empty(count), np.empty(count)
    load = np.empty(places)
    for resource in range(len(demand)):
        for v in range(places):
            load[v] = 0.0
        for j in range(count):
            if used[j]:
                for v in range(places):
                    if allowed[j, v] and rows[j, v] <= 0.0:
                        load[group[resource, v]] += demand[resource, j]
                        break
        for g in range(places):
            if load[g] <= limit[resource, g]:
                continue
            taken, bound_there = 0.0, 0.0
            for j in range(count):
                ratio[j] = -1.0
                if not used[j] or demand[resource, j] <= 0.0:
                    continue
                inside, outside = np.inf, np.inf
                for v in range(places):
                    if allowed[j, v]:
                        if group[resource, v] == g:
                            inside = min(inside, rows[j, v])
                        else:
                            outside = min(outside, rows[j, v])
                if inside <= 0.0 and outside > 0.0:
                    elsewhere[j] = outside
                    ratio[j] = outside / demand[resource, j]
                    taken += demand[resource, j]
                    if outside == np.inf:
                        bound_there += demand[resource, j]
            if bound_there > limit[resource, g]:
                return beyond
            rise = 0.0
            while taken > limit[resource, g]:
                next_rise = np.inf
                for j in range(count):
                    if ratio[j] > rise:
                        next_rise = min(next_rise, ratio[j])
                if next_rise == np.inf:
                    break
                rise = next_rise
                for j in range(count):
                    if ratio[j] == rise:
                        taken -= demand[resource, j]
            if rise <= 0.0:
                continue
            value -= rise * limit[resource, g]
            for j in range(count):
                if not used[j] or demand[resource, j] <= 0.0:
                    continue
                dearer = rise * demand[resource, j]
                gain = min(dearer, elsewhere[j]) if ratio[j] >= 0.0 else 0.0
                value += gain
                for v in range(places):
                    if group[resource, v] == g:
                        rows[j, v] += dearer
                    rows[j, v] -= gain
                    if rows[j, v] < 0.0:
                        # Rounding of what was just made 0.
                        rows[j, v] = 0.0
    return value


@compiled
def ascend(
    leader: FloatArray, others: FloatArray, allowed: BoolArray, demand: FloatArray, limit: FloatArray,
    group: IndexArray, beyond: float, ceiling: float, rounds: int, least: FloatArray,
) -> float:  # fmt: skip
    """Rounds over all problems; the bound, and to `least` a bound for each block on each place.

    `leader` [i, u] and `others` [i, u, j, v] are not negative; they are used up.
    """
    blocks, places = leader.shape
    used, room = np.empty(blocks, np.bool_), np.empty((len(demand), places))
    rows = np.empty((blocks, places))
    total = 0.0
    for turn in range(rounds):
        before = total
        for i in range(blocks):
            for u in range(places):
                if not allowed[i, u]:
                    continue
                for resource in range(len(demand)):
                    for v in range(places):
                        room[resource, v] = limit[resource, v]
                    room[resource, group[resource, u]] -= demand[resource, i]
                for j in range(blocks):
                    used[j] = j != i
                    if j == i:
                        continue
                    for v in range(places):
                        rows[j, v] = others[i, u, j, v] + others[j, v, i, u]
                        others[j, v, i, u] = 0.0
                        for resource in range(len(demand)):
                            if demand[resource, j] > room[resource, group[resource, v]] + 1e-12:
                                rows[j, v] = beyond
                gain = extract(rows, used, allowed, demand, room, group, beyond)
                if gain >= beyond:
                    leader[i, u] = beyond
                    continue
                leader[i, u] = min(beyond, leader[i, u] + gain)
                for j in range(blocks):
                    if j != i:
                        for v in range(places):
                            others[i, u, j, v] = rows[j, v]
            lowest = np.inf
            for u in range(places):
                if allowed[i, u]:
                    lowest = min(lowest, leader[i, u])
            if lowest >= beyond:
                return beyond
            total += lowest
            for u in range(places):
                leader[i, u] -= lowest
                least[i, u] = max(least[i, u], total + leader[i, u])
            if turn < rounds - 1 and blocks > 1:
                # What is dearer here counts wherever somebody else decides for i.
                for u in range(places):
                    share = leader[i, u] / (blocks - 1)
                    leader[i, u] = 0.0
                    for j in range(blocks):
                        if j != i:
                            for v in range(places):
                                others[i, u, j, v] += share
        if turn == rounds - 1 or total >= ceiling or total - before < 2e-3 * (ceiling - total):
            if turn < rounds - 1:
                rounds = min(rounds, turn + 2)
                if total >= ceiling:
                    break
            if turn == rounds - 1:
                break
    for i in range(blocks):
        used[i] = True
    gain = extract(leader, used, allowed, demand, limit, group, beyond)
    if gain >= beyond:
        return beyond
    total += gain
    for i in range(blocks):
        for u in range(places):
            least[i, u] = max(least[i, u], total + leader[i, u])
    return total
