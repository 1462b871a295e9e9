"""Plans by local search: single blocks move, the last ones may not move back at once (tabu search)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.exact.additive.tables import Tables
from berth.model.randomness import generator_for
from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

MOST_WORK = 100_000_000
"""Moves that are looked at without a look at the clock."""


@compiled
def wander(
    allowed: BoolArray, cost: FloatArray, ends: IndexArray, pair: FloatArray, demand: FloatArray,
    limit: FloatArray, group: IndexArray, start: IndexArray, other: IndexArray, through: IndexArray,
    plan: IndexArray, now: IndexArray, added: FloatArray, taken: FloatArray, waits: IndexArray,
    tenure: IndexArray, best: FloatArray, largest: float, penalty: float,
) -> None:  # fmt: skip
    """A walk through plans, the best neighbour next; what is too much for a place costs a penalty.

    It begins at `now`; `added` has the blocks' own costs, `taken` and `waits` are 0. `plan` becomes the best
    plan that fits, if it is better than `best[0]`, its costs.
    """
    blocks, places = cost.shape
    total, feasible_for, crowded_for = 0.0, 0, 0
    for i in range(blocks):
        for position in range(start[i], start[i + 1]):
            j, e = other[position], through[position]
            for u in range(places):
                added[i, u] += pair[e, u, now[j]] if ends[e, 0] == i else pair[e, now[j], u]
        for resource in range(len(demand)):
            taken[resource, group[resource, now[i]]] += demand[resource, i]
    for i in range(blocks):
        total += cost[i, now[i]]
    for e in range(len(ends)):
        total += pair[e, now[ends[e, 0]], now[ends[e, 1]]]
    for turn in range(len(tenure)):
        too_much = 0.0
        for resource in range(len(demand)):
            for u in range(places):
                too_much += max(0.0, taken[resource, u] - limit[resource, u])
        if too_much <= 0.0:
            feasible_for, crowded_for = feasible_for + 1, 0
            if total < best[0] and total <= largest:
                best[0] = total
                for i in range(blocks):
                    plan[i] = now[i]
        else:
            feasible_for, crowded_for = 0, crowded_for + 1
        if feasible_for == 8 or crowded_for == 8:
            penalty *= 0.6 if feasible_for == 8 else 1.8
            feasible_for, crowded_for = 0, 0
        lowest, chosen, place = np.inf, -1, -1
        for i in range(blocks):
            here = now[i]
            for u in range(places):
                if u == here or not allowed[i, u]:
                    continue
                change = added[i, u] - added[i, here]
                eases = 0.0
                for resource in range(len(demand)):
                    leaves, enters = group[resource, here], group[resource, u]
                    if leaves != enters and demand[resource, i] > 0.0:
                        size = demand[resource, i]
                        over = taken[resource, leaves] - limit[resource, leaves]
                        eases += max(0.0, over) - max(0.0, over - size)
                        over = taken[resource, enters] - limit[resource, enters]
                        eases += max(0.0, over) - max(0.0, over + size)
                wished = too_much - eases <= 1e-15 and total + change < best[0]
                if waits[i, u] > turn and not wished:
                    continue
                value = change - penalty * eases
                if value < lowest:
                    lowest, chosen, place = value, i, u
        if chosen < 0:
            continue
        left = now[chosen]
        total += added[chosen, place] - added[chosen, left]
        now[chosen] = place
        waits[chosen, left] = turn + tenure[turn]
        for resource in range(len(demand)):
            taken[resource, group[resource, left]] -= demand[resource, chosen]
            taken[resource, group[resource, place]] += demand[resource, chosen]
        for position in range(start[chosen], start[chosen + 1]):
            j, e = other[position], through[position]
            for u in range(places):
                if ends[e, 0] == chosen:
                    added[j, u] += pair[e, place, u] - pair[e, left, u]
                else:
                    added[j, u] += pair[e, u, place] - pair[e, u, left]


def improved(tables: Tables, plan: IndexArray, best: float, steps: int, seed: int) -> IndexArray | None:
    """A plan that fits and costs less than the best one; None where no such plan is met."""
    edges = np.arange(len(tables.ends))
    here, there = np.concatenate([tables.ends, tables.ends[:, ::-1]]).T
    order = np.argsort(here, kind="stable")
    start = np.searchsorted(here[order], np.arange(len(tables.cost) + 1)).astype(np.intp)
    through = np.concatenate([edges, edges])[order]
    blocks = len(tables.cost)
    steps = min(steps, MOST_WORK // tables.cost.size)
    tenure = generator_for(seed).integers(2, 4 + blocks // 2, steps)
    reached = np.array([best])
    found, now = plan.astype(np.intp), plan.astype(np.intp)
    penalty = 1e-9 + tables.largest / max(blocks, 1) / 4
    wander(
        tables.allowed, tables.cost, tables.ends, tables.pair, tables.demand, tables.limit, tables.group,
        start, there[order], through, found, now, tables.cost.copy(), np.zeros_like(tables.limit),
        np.zeros(tables.cost.shape, dtype=np.intp), tenure, reached, tables.largest * (1 + 1e-12), penalty,
    )  # fmt: skip
    if reached[0] >= best or not tables.fits(found) or tables.total(found) >= best:
        return None
    return found
