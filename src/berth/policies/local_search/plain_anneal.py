"""Simulated annealing over plain sums: what up to three moves at once change is known without making them."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.case import IndexArray
from berth.policies.local_search.chance import Words, drawn, uniform
from berth.policies.local_search.changes import beyond
from berth.policies.local_search.energy import WHOLE
from berth.policies.local_search.inner import inner
from berth.policies.local_search.plain import (
    BEST,
    BROKEN,
    COST,
    EVALUATED,
    LEAST_PENALTY,
    MOST_PENALTY,
    PENALTY,
    Plain,
    Walk,
)
from berth.space.compiled import compiled

SHIFTS, SWAPS, PUSHES, TWO_FOR_ONE = 40, 75, 85, 92
"""Of 100 steps, up to which number they are of a kind; the rest are rings of three."""
PRICE_STEP = 1.05
UNLIKELY = 20.0
"""Temperatures above which a step is surely not made."""


@inner
def _together(plain: Plain, one: int, its: int, old: int, other: int, their: int, former: int) -> float:
    """What two blocks' moves add beyond what each adds alone."""
    there, back = plain.distance, plain.back
    total = 0.0
    rate = plain.between[one, other]
    if rate != 0.0:
        total += rate * (there[its, their] - there[its, former] - there[old, their] + there[old, former])
    rate = plain.between[other, one]
    if rate != 0.0:
        total += rate * (back[its, their] - back[its, former] - back[old, their] + back[old, former])
    return float(total)


@inner
def _loaded(plain: Plain, walk: Walk, block: int, node: int, sign: float) -> float:
    """Load or unload a node; what that adds to what is broken."""
    total = 0.0
    for resource in range(len(plain.unit)):
        need = plain.need[block, resource]
        if need != 0.0:
            limit, unit = plain.limit[node, resource], plain.unit[resource]
            before = walk.load[node, resource]
            after = before + sign * need
            walk.load[node, resource] = after
            total += beyond(after, limit, unit) - beyond(before, limit, unit)
    return total


@inner
def _move(plain: Plain, walk: Walk, block: int, node: int) -> None:
    """A block goes to a node: what its neighbours would cost anywhere follows."""
    was = walk.node[block]
    walk.node[block] = node
    nodes = walk.table.shape[1]
    for edge in range(plain.first[block], plain.first[block + 1]):
        rate, costs = plain.rate[edge], walk.table[plain.other[edge]]
        flow = plain.distance if plain.sends[edge] else plain.back
        added, taken = flow[node], flow[was]
        for each in range(nodes):
            costs[each] += rate * (added[each] - taken[each])


@inner
def _resident(plain: Plain, walk: Walk, random: Words, node: int, but: int) -> int:
    """Some movable block of a node, but not a certain one; -1: there is no other."""
    count = len(plain.movable)
    place = drawn(random, count)
    for _ in range(count):
        block = plain.movable[place]
        if walk.node[block] == node and block != but:
            return int(block)
        place = place + 1 if place + 1 < count else 0
    return -1


@compiled
def plain_anneal(plain: Plain, walk: Walk, random: Words, steps: IndexArray, hot: float, cold: float) -> None:
    """Some steps of a cycle: from hot to cold over its whole length; `steps` as in `anneal`."""
    first, last, length, period = steps[0], steps[1], steps[2], steps[3]
    node, table, load, numbers = walk.node, walk.table, walk.load, walk.numbers
    free, nodes, resources = len(plain.movable), table.shape[1], len(plain.unit)
    temperature = hot
    block, goal = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for step in range(first, last):
        if step % 64 == 0 or step == first:
            temperature = hot * (cold / hot) ** ((step - step % 64) / length)
        if step % period == 0:
            factor = PRICE_STEP if numbers[BROKEN] > WHOLE else 1.0 / PRICE_STEP
            numbers[PENALTY] = min(
                max(numbers[PENALTY] * factor, numbers[LEAST_PENALTY]), numbers[MOST_PENALTY]
            )
        kind = drawn(random, 100)
        one = plain.movable[drawn(random, free)]
        home = node[one]
        count = 1
        block[0] = one
        if kind < SHIFTS:
            goal[0] = drawn(random, nodes)
            if goal[0] == home:
                continue
        else:
            two = plain.movable[drawn(random, free)]
            there = node[two]
            if there == home:
                continue
            count, goal[0], block[1], goal[1] = 2, there, two, home
            if kind >= TWO_FOR_ONE:
                three = plain.movable[drawn(random, free)]
                if node[three] == home or node[three] == there:
                    continue
                count, goal[1], block[2], goal[2] = 3, node[three], three, home
            elif kind >= PUSHES:
                three = _resident(plain, walk, random, there, two)
                if three < 0:
                    continue
                count, block[2], goal[2] = 3, three, home
            elif kind >= SWAPS:
                goal[1] = drawn(random, nodes)
                if goal[1] == there:
                    continue
        change, may = 0.0, True
        for each in range(count):
            here = block[each]
            may = may and plain.allowed[here, goal[each]] != 0
            change += table[here, goal[each]] - table[here, node[here]]
            for before in range(each):
                other = block[before]
                change += _together(plain, here, goal[each], node[here], other, goal[before], node[other])
        if not may:
            continue
        numbers[EVALUATED] += 1.0
        broken = 0.0
        for each in range(count):
            broken += _loaded(plain, walk, block[each], node[block[each]], -1.0)
            broken += _loaded(plain, walk, block[each], goal[each], 1.0)
        total = change + numbers[PENALTY] * broken
        if total > 0.0 and (total > UNLIKELY * temperature or uniform(random) > np.exp(-total / temperature)):
            for each in range(count):
                for resource in range(resources):
                    need = plain.need[block[each], resource]
                    load[goal[each], resource] -= need
                    load[node[block[each]], resource] += need
            continue
        for each in range(count):
            _move(plain, walk, block[each], goal[each])
        numbers[COST] += change
        numbers[BROKEN] += broken
        if numbers[BROKEN] <= WHOLE and numbers[COST] + 1e-12 * abs(numbers[COST]) < numbers[BEST]:
            numbers[BEST] = numbers[COST]
            walk.best[:] = node
    steps[0] = last
