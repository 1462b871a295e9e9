"""Simulated annealing over plans: broken constraints have a price that follows how often they are broken."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.case import Case, FloatArray, IndexArray
from berth.policies.local_search.chance import Words, drawn, uniform
from berth.policies.local_search.changes import may_host, move_change
from berth.policies.local_search.fields import APPLICATION, EDGE_FIRST, EDGE_OTHER, LATEST, real, whole
from berth.policies.local_search.moves import move, rebuild
from berth.policies.local_search.proposals import a_target, any_block, critical_blocks, resident
from berth.policies.local_search.state import (
    AFTER,
    BROKEN,
    BUSIEST,
    COST,
    FIRST,
    LISTED,
    LOADED,
    LOG_AVAILABILITY,
    LONGEST,
    MARKED,
    TIME,
    TOUCHED,
    WORST,
    State,
)
from berth.policies.local_search.times import LATE, late, time_range
from berth.space.compiled import compiled

PENALTY, LEAST_PENALTY, MOST_PENALTY, COST_WEIGHT = range(4)
"""Positions in `weights`."""
BEST_VALUE, BEST_BROKEN, EVALUATED = range(3)
"""Positions in `best`."""
WHOLE = 1e-9
"""What is broken by less is rounding: the judge decides."""
SHIFTS, SWAPS, CHAINS = 60, 82, 93
"""Of 100 steps, up to which number they are of a kind; the rest moves groups."""
LARGEST_GROUP = 16
PRICE_STEP = 1.05
REBUILD = 2**20
"""Steps after which sums are computed anew: they drift."""


@compiled
def value_of(case: Case, cost: float, logarithm: float, time: float, loaded: float, busiest: float) -> float:
    """What is minimised."""
    aims = case.aims
    total = cost + aims.time * time + aims.loaded * loaded + aims.busiest * busiest
    if aims.availability != 0.0:
        total += aims.availability * np.exp(logarithm)
    return total + aims.log_availability * logarithm


@compiled
def current_value(case: Case, state: State) -> float:
    """What is minimised, of the plan as it is."""
    totals = state.totals
    return value_of(
        case, totals[COST], totals[LOG_AVAILABILITY], totals[TIME], totals[LOADED], totals[BUSIEST]
    )


@compiled
def energy(case: Case, state: State, weights: FloatArray) -> float:
    """The value, with what is broken at its price."""
    return weights[COST_WEIGHT] * current_value(case, state) + weights[PENALTY] * state.totals[BROKEN]


@compiled
def tried(case: Case, state: State, weights: FloatArray, block: int, node: int, threshold: float) -> bool:
    """Move a block if that adds no more than a threshold to the energy."""
    if not case.aims.heavy:
        low, high = energy_change(case, state, weights, block, node)
        if low > threshold:
            return False
        if high <= threshold:
            move(case, state, block, node)
            return True
    before, old = energy(case, state, weights), state.node[block]
    move(case, state, block, node)
    if energy(case, state, weights) - before <= threshold:
        return True
    move(case, state, block, old)
    return False


@compiled
def energy_change(
    case: Case, state: State, weights: FloatArray, block: int, node: int
) -> tuple[float, float]:
    """Between what a move adds to the energy; nothing in between where times don't count."""
    aims, totals = case.aims, state.totals
    cost, logarithm, broken = move_change(case, state, block, node)
    change = cost + aims.log_availability * logarithm
    if aims.availability != 0.0:
        there = totals[LOG_AVAILABILITY]
        change += aims.availability * (np.exp(there + logarithm) - np.exp(there))
    change = weights[COST_WEIGHT] * change + weights[PENALTY] * broken
    if not aims.uses_time:
        return change, change
    application = whole(case, APPLICATION, block)
    low, high = time_range(case, state, block, node)
    is_worst = application == state.numbers[WORST]
    all_low = low if is_worst else max(totals[TIME], low)
    all_high = max(totals[TIME], high)
    limit, now = real(case, LATEST, application), state.application[application, LONGEST]
    price, weight = weights[PENALTY] * LATE, weights[COST_WEIGHT] * aims.time
    lateness = late(now, limit)
    least = change + price * (late(low, limit) - lateness)
    most = change + price * (late(high, limit) - lateness)
    if weight != 0.0:
        least += weight * (all_low - totals[TIME])
        most += weight * (all_high - totals[TIME])
    return least, most


@compiled
def note_best(case: Case, state: State, best: FloatArray, nodes: IndexArray) -> None:
    """Keep the plan if it is the best so far: fewest broken constraints first."""
    broken = state.totals[BROKEN]
    if broken > WHOLE:
        if broken >= best[BEST_BROKEN]:
            return
        best[BEST_BROKEN] = broken
    else:
        value = current_value(case, state)
        if best[BEST_BROKEN] <= WHOLE and value >= best[BEST_VALUE] - 1e-12 * abs(best[BEST_VALUE]):
            return
        best[BEST_BROKEN], best[BEST_VALUE] = 0.0, value
    for number in range(state.numbers[TOUCHED]):
        block = state.noted[number, LISTED]
        nodes[block] = state.node[block]
        state.noted[block, MARKED] = 0
    state.numbers[TOUCHED] = 0


@compiled
def swapped(
    case: Case, state: State, weights: FloatArray, random: Words, block: int, node: int, threshold: float
) -> bool:
    """Exchange a block with one of another node's."""
    other, old = resident(state, random, node, block), state.node[block]
    if other < 0:
        return tried(case, state, weights, block, node, threshold)
    if not may_host(case, other, old):
        return False
    before = energy(case, state, weights)
    move(case, state, block, node)
    if tried(case, state, weights, other, old, threshold - (energy(case, state, weights) - before)):
        return True
    move(case, state, block, old)
    return False


@compiled
def chained(
    case: Case, state: State, weights: FloatArray, random: Words, block: int, node: int, threshold: float
) -> bool:
    """Move a block, one of those where it comes to elsewhere, and so on; back again if nothing came of it."""
    before = energy(case, state, weights)
    moved = np.empty(3, dtype=np.int64)
    origin = np.empty(3, dtype=np.int64)
    count = 0
    while count < 3 and block >= 0 and node >= 0:
        moved[count], origin[count] = block, state.node[block]
        move(case, state, block, node)
        count += 1
        if energy(case, state, weights) - before <= threshold:
            return True
        block = resident(state, random, node, block)
        if block >= 0:
            node = a_target(case, state, random, block)
    for step in range(count - 1, -1, -1):
        move(case, state, moved[step], origin[step])
    return False


@compiled
def group_moved(
    case: Case, state: State, weights: FloatArray, random: Words, block: int, node: int, threshold: float
) -> bool:
    """Move a connected group of one node's blocks to another node."""
    old = state.node[block]
    size = 2 + drawn(random, LARGEST_GROUP - 1)
    moved = np.empty(LARGEST_GROUP, dtype=np.int64)
    moved[0] = block
    count, looked = 1, 0
    before = energy(case, state, weights)
    move(case, state, block, node)
    while looked < count:
        first, last = whole(case, EDGE_FIRST, moved[looked]), whole(case, EDGE_FIRST, moved[looked] + 1)
        looked += 1
        for edge in range(first, last):
            other = whole(case, EDGE_OTHER, edge)
            if count < size and state.node[other] == old and may_host(case, other, node):
                move(case, state, other, node)
                moved[count] = other
                count += 1
    if energy(case, state, weights) - before <= threshold:
        return True
    for step in range(count - 1, -1, -1):
        move(case, state, moved[step], old)
    return False


@compiled
def drained(
    case: Case, state: State, weights: FloatArray, random: Words, node: int, threshold: float
) -> bool:
    """Empty a node: its blocks go to nodes that are in use."""
    before, count = energy(case, state, weights), 0
    moved = np.empty(LARGEST_GROUP, dtype=np.int64)
    block = state.place[node, FIRST]
    while block >= 0 and count < LARGEST_GROUP:
        moved[count] = block
        count += 1
        block = state.chain[block, AFTER]
    done, goal = 0, -1
    while done < count and block < 0:
        if goal < 0 or drawn(random, 2) == 0:
            goal = state.node[any_block(case, random)]
        if goal == node or not may_host(case, moved[done], goal):
            break
        move(case, state, moved[done], goal)
        done += 1
    if done > 0 and energy(case, state, weights) - before <= threshold:
        return True
    for step in range(done - 1, -1, -1):
        move(case, state, moved[step], node)
    return False


@compiled
def anneal(
    case: Case,
    state: State,
    best: FloatArray,
    nodes: IndexArray,
    random: Words,
    weights: FloatArray,
    critical: IndexArray,
    steps: IndexArray,
    hot: float,
    cold: float,
) -> None:
    """Some steps of a cycle: from hot to cold over its whole length.

    `steps` is [first, last, length of the cycle, how many steps between changes of the penalty, whether to stop
    at the first plan that breaks nothing]; its first entry says how far it came.
    """
    first, last, length, period, until_whole, path = steps
    follows_paths = case.aims.uses_time
    pays_nodes = case.aims.pays_nodes
    temperature = hot
    for step in range(first, last):
        if until_whole and state.totals[BROKEN] <= WHOLE:
            last = step
            break
        if step % 64 == 0 or step == first:
            begun = step - step % 64
            temperature = hot * (cold / hot) ** (begun / length)
            if step % 64 == 0 and follows_paths:
                path = critical_blocks(case, state, critical)
                steps[5] = path
            else:
                path = steps[5]
        if step % period == 0:
            broken = state.totals[BROKEN] > WHOLE
            factor = PRICE_STEP if broken else 1.0 / PRICE_STEP
            price = weights[PENALTY] * factor
            weights[PENALTY] = min(max(price, weights[LEAST_PENALTY]), weights[MOST_PENALTY])
        if step % REBUILD == 0:
            rebuild(case, state, state.node.copy())
        block = any_block(case, random)
        if path > 0 and drawn(random, 2) == 0:
            block = critical[drawn(random, path)]
        kind, threshold = drawn(random, 100), -temperature * np.log(uniform(random))
        node = a_target(case, state, random, block)
        if node < 0:
            continue
        best[EVALUATED] += 1.0
        if kind < SHIFTS:
            accepted = tried(case, state, weights, block, node, threshold)
        elif kind < SWAPS:
            accepted = swapped(case, state, weights, random, block, node, threshold)
        elif kind < CHAINS:
            accepted = chained(case, state, weights, random, block, node, threshold)
        elif pays_nodes and kind % 2 == 0:
            accepted = drained(case, state, weights, random, state.node[block], threshold)
        else:
            accepted = group_moved(case, state, weights, random, block, node, threshold)
        if accepted:
            note_best(case, state, best, nodes)
    steps[0] = last


@compiled
def typical_changes(case: Case, state: State, random: Words, count: int) -> tuple[float, float]:
    """How much a random move changes the value, on average of those that change it, and at least."""
    total, changed, least = 0.0, 0, np.inf
    for _ in range(count):
        block = any_block(case, random)
        node = a_target(case, state, random, block)
        if node < 0:
            continue
        before, old = current_value(case, state), state.node[block]
        move(case, state, block, node)
        change = abs(current_value(case, state) - before)
        move(case, state, block, old)
        if change > 1e-12 * (abs(before) + 1e-300):
            total += change
            changed += 1
            least = min(least, change)
    return (total / changed if changed else 0.0), least
