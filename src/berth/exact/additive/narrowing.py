"""What is left of a problem when some blocks have one place only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@compiled
def settle(
    allowed: BoolArray,
    cost: FloatArray,
    ends: IndexArray,
    pair: FloatArray,
    demand: FloatArray,
    limit: FloatArray,
    group: IndexArray,
    settled: BoolArray,
    beyond: float,
) -> float:
    """Settle blocks with one place: their costs go to the others, their needs off the limits.

    `allowed`, `cost`, `limit` and `settled` change. Returns the costs of what is settled; `beyond` if there
    is no plan. Places that are too full, or have no link, are taken from the others, which may settle these.
    """
    blocks, places = allowed.shape
    total = 0.0
    while True:
        chosen, place = -1, -1
        for block in range(blocks):
            if settled[block]:
                continue
            count = 0
            for u in range(places):
                if allowed[block, u]:
                    count += 1
                    place = u
            if count == 0:
                return beyond
            if count == 1:
                chosen = block
                for u in range(places):
                    if allowed[block, u]:
                        place = u
                break
        if chosen < 0:
            return total
        settled[chosen] = True
        total += cost[chosen, place]
        for edge in range(len(ends)):
            first, second = ends[edge, 0], ends[edge, 1]
            if first == chosen and not settled[second]:
                for v in range(places):
                    cost[second, v] += pair[edge, place, v]
                    if pair[edge, place, v] >= beyond:
                        allowed[second, v] = False
            elif second == chosen and not settled[first]:
                for v in range(places):
                    cost[first, v] += pair[edge, v, place]
                    if pair[edge, v, place] >= beyond:
                        allowed[first, v] = False
        for resource in range(len(demand)):
            there = group[resource, place]
            limit[resource, there] -= demand[resource, chosen]
            if limit[resource, there] < -1e-12:
                return beyond
            for block in range(blocks):
                # What is left is a difference: a little more than it is allowed, and judged at the end.
                if not settled[block] and demand[resource, block] > limit[resource, there] + 1e-12:
                    for v in range(places):
                        if group[resource, v] == there:
                            allowed[block, v] = False
