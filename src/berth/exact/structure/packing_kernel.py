"""A compiled search: whether different operators side by side fit on places that are allowed to them.

Every operator gets a value. What a place can bear at most is a knapsack; if all places together bear less
than the values of all operators, these don't fit. The values come from subgradient steps: who is in no
knapsack becomes dearer. Knapsacks that hold everybody between them are a packing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

ROUGH = 1e-12
"""A share of room by which floating point may be wrong."""
SURE = 1e-9
"""By which share values must be more than what can be borne, to be sure of it."""
FIRST_STEPS, LATER_STEPS = 120, 6
"""Subgradient steps before the first choice, and after each."""
MOST_FILLINGS = 1_000
"""Steps of one knapsack; beyond them, its linear relaxation counts."""


@compiled
def fullest(
    place: int,
    allowed: BoolArray,
    demand: FloatArray,
    left: FloatArray,
    value: FloatArray,
    chosen: BoolArray,
) -> float:
    """The most value that fits on a place, or more than it; and which operators these are."""
    resources, count = demand.shape
    scale, room = np.zeros(resources), np.zeros(resources)
    whole = 0.0
    for k in range(resources):
        room[k] = left[k, place]
        if room[k] > 0.0:
            scale[k] = 1.0 / room[k]
            whole += 1.0 + ROUGH
    items, size, dense = np.zeros(count, np.int64), np.zeros(count), np.zeros(count)
    many = 0
    for item in range(count):
        chosen[item] = False
        if not allowed[item, place] or value[item] <= 0.0:
            continue
        share = 0.0
        for k in range(resources):
            share += demand[k, item] * scale[k]
        density = value[item] / max(share, 1e-300)
        spot = many
        while spot > 0 and dense[spot - 1] < density:
            items[spot], size[spot], dense[spot] = items[spot - 1], size[spot - 1], dense[spot - 1]
            spot -= 1
        items[spot], size[spot], dense[spot] = item, share, density
        many += 1
    taken = np.zeros(count, np.bool_)
    best, reached, free, at, steps = -1.0, 0.0, whole, 0, 0
    relaxed = np.inf
    while True:
        # what the rest adds at most: the densest first, the last one in part
        most, space, spot = reached, free, at
        while spot < many and size[spot] <= space:
            space -= size[spot]
            most += value[items[spot]]
            spot += 1
        if spot < many and space > 0.0:
            most += value[items[spot]] * space / size[spot]
        if steps == 0:
            relaxed = most
        steps += 1
        if steps > MOST_FILLINGS:
            return relaxed
        if most > best * (1.0 + ROUGH):
            while at < many:
                item = items[at]
                fits = True
                for k in range(resources):
                    fits = fits and demand[k, item] <= room[k] + ROUGH * left[k, place]
                if fits:
                    for k in range(resources):
                        room[k] -= demand[k, item]
                    reached += value[item]
                    free -= size[at]
                    taken[at] = True
                at += 1
            if reached > best:
                best = reached
                for other in range(many):
                    chosen[items[other]] = taken[other]
        at = min(at, many) - 1
        while at >= 0 and not taken[at]:
            at -= 1
        if at < 0:
            return best
        item = items[at]
        taken[at] = False
        for k in range(resources):
            room[k] += demand[k, item]
        reached -= value[item]
        free += size[at]
        at += 1


@compiled
def narrow(allowed: BoolArray, demand: FloatArray, left: FloatArray, choice: IndexArray) -> bool:
    """Drop places that are too full for an operator; False where one has none left."""
    for item in range(len(choice)):
        if choice[item] >= 0:
            continue
        somewhere = False
        for place in range(allowed.shape[1]):
            if allowed[item, place]:
                for k in range(len(demand)):
                    if demand[k, item] > left[k, place] * (1.0 + ROUGH):
                        allowed[item, place] = False
                somewhere = somewhere or allowed[item, place]
        if not somewhere:
            return False
    return True


@compiled
def priced(
    allowed: BoolArray,
    demand: FloatArray,
    left: FloatArray,
    choice: IndexArray,
    value: FloatArray,
    steps: int,
    liked: FloatArray,
) -> int:
    """Subgradient steps on the values: 0 those who are left don't fit, 1 they do (see `choice`), -1 open.

    `liked` counts how often an operator was in a place's knapsack.
    """
    count, places = allowed.shape
    worth = np.zeros(count)
    chosen = np.zeros(count, np.bool_)
    where, held = np.zeros(count, np.int64), np.zeros(count, np.int64)
    liked[:] = 0.0
    pace = 1.0
    for _ in range(steps):
        total = 0.0
        for item in range(count):
            worth[item] = value[item] if choice[item] < 0 else 0.0
            total += worth[item]
            held[item] = 0
        if total <= 0.0:
            return -1
        rest = total
        for place in range(places):
            rest -= fullest(place, allowed, demand, left, worth, chosen)
            for item in range(count):
                if chosen[item]:
                    held[item] += 1
                    where[item] = place
                    liked[item, place] += 1.0
        if rest > SURE * total:
            return 0
        length, everybody = 0.0, True
        for item in range(count):
            if choice[item] < 0:
                length += (1.0 - held[item]) ** 2
                everybody = everybody and held[item] > 0
        if everybody:
            for item in range(count):
                if choice[item] < 0:
                    choice[item] = where[item]
            return 1
        step = pace * (0.02 * total - rest) / length
        pace = max(0.3, pace * 0.98)
        for item in range(count):
            if choice[item] < 0:
                value[item] = max(value[item] + step * (1.0 - held[item]), 1e-6 * total)
    return -1


@compiled
def forget(
    item: int, place: int, allowed: BoolArray, demand: FloatArray, left: FloatArray, choice: IndexArray
) -> None:
    """An operator can't be on a place: nor can operators like it on places like that."""
    count, places = allowed.shape
    same_item, same_place = np.zeros(count, np.bool_), np.zeros(places, np.bool_)
    for other in range(count):
        same = choice[other] < 0
        for k in range(len(demand)):
            same = same and demand[k, other] == demand[k, item]
        for spot in range(places):
            same = same and allowed[other, spot] == allowed[item, spot]
        same_item[other] = same
    for spot in range(places):
        same = True
        for k in range(len(demand)):
            same = same and left[k, spot] == left[k, place]
        for other in range(count):
            same = same and (choice[other] >= 0 or allowed[other, spot] == allowed[other, place])
        same_place[spot] = same
    for other in range(count):
        for spot in range(places):
            if same_item[other] and same_place[spot]:
                allowed[other, spot] = False


@compiled
def filled(
    allowed: BoolArray, demand: FloatArray, left: FloatArray, value: FloatArray, choice: IndexArray
) -> bool:
    """A quick try: whoever has the fewest places left goes where the least room is left; whether all fit."""
    count, places = allowed.shape
    for _ in range(count):
        if not narrow(allowed, demand, left, choice):
            return False
        item = tightest(allowed, value, choice)
        place, least = -1, np.inf
        for spot in range(places):
            over = 0.0
            for k in range(len(demand)):
                over += left[k, spot]
            if allowed[item, spot] and over < least:
                place, least = spot, over
        choice[item] = place
        for k in range(len(demand)):
            left[k, place] -= demand[k, item]
    return True


@compiled
def tightest(allowed: BoolArray, value: FloatArray, choice: IndexArray) -> int:
    """Of the operators without a place, one with the fewest places left; the dearest of these."""
    item, fewest = -1, allowed.shape[1] + 1
    for other in range(len(choice)):
        if choice[other] < 0:
            many = 0
            for spot in range(allowed.shape[1]):
                many += allowed[other, spot]
            if many < fewest or (many == fewest and value[other] > value[item]):
                item, fewest = other, many
    return item


@compiled
def descend(
    level: int,
    item: int,
    place: int,
    allowed: BoolArray,
    demand: FloatArray,
    left: FloatArray,
    choice: IndexArray,
) -> None:
    """The next level: as this one, with an operator on a place."""
    for other in range(allowed.shape[1]):
        choice[level + 1, other] = choice[level, other]
        for spot in range(allowed.shape[2]):
            allowed[level + 1, other, spot] = allowed[level, other, spot]
    for k in range(len(demand)):
        for spot in range(allowed.shape[2]):
            left[level + 1, k, spot] = left[level, k, spot]
        left[level + 1, k, place] -= demand[k, item]
    choice[level + 1, item] = place


@compiled
def pack(
    allowed: BoolArray,
    demand: FloatArray,
    left: FloatArray,
    choice: IndexArray,
    value: FloatArray,
    work: int,
    liked: FloatArray,
    branch: IndexArray,
) -> int:
    """Whether all operators fit on places that they may use: the level of `choice` with theirs.

    -1: they don't; -2: out of work, to be called again with the same arrays. All levels but the first of
    `allowed`, `left` and `choice` are scratch, as `liked` and `branch` are, which begins with zeros. `value`
    is where the values start, and where they end.
    """
    # the last row of `branch` has the level, and whether the first steps are done
    level = int(branch[len(value), 0])
    while True:
        work -= 1
        if work < 0:
            branch[len(value), 0] = level
            return -2
        steps = LATER_STEPS if branch[len(value), 1] else FIRST_STEPS
        branch[len(value), 1] = 1
        outcome = 0
        if narrow(allowed[level], demand, left[level], choice[level]):
            outcome = priced(allowed[level], demand, left[level], choice[level], value, steps, liked)
        if outcome == 1 or (outcome < 0 and level == len(value)):
            return level
        if outcome == 0:
            level -= 1
            if level < 0:
                return -1
            item, place = branch[level, 0], branch[level, 1]
            forget(item, place, allowed[level], demand, left[level], choice[level])
            continue
        item, place = tightest(allowed[level], value, choice[level]), -1
        for spot in range(allowed.shape[2]):
            if allowed[level, item, spot] and (place < 0 or liked[item, spot] > liked[item, place]):
                place = spot
        branch[level, 0], branch[level, 1] = item, place
        descend(level, item, place, allowed, demand, left, choice)
        level += 1
