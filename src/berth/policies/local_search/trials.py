"""Trials: some moves, one after the other, that are kept if they lead anywhere and taken back if not."""

from __future__ import annotations

from berth.policies.local_search.case import Case
from berth.policies.local_search.chance import Words, drawn
from berth.policies.local_search.changes import may_host, move_change
from berth.policies.local_search.energy import energy, energy_change
from berth.policies.local_search.fields import (
    BUSIEST_WEIGHT,
    EDGE_FIRST,
    EDGE_OTHER,
    HEAVY,
    LOADED_WEIGHT,
    TABLED,
    USES_TIME,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.moves import busiest_link, carry
from berth.policies.local_search.outlook import path_change
from berth.policies.local_search.proposals import a_target, any_block, resident
from berth.policies.local_search.spread import settle
from berth.policies.local_search.state import (
    AFTER,
    EVALUATED,
    FIRST,
    LARGEST,
    NODE,
    PENDING,
    TOTALS,
    TRIAL_BLOCK,
    TRIAL_LOGARITHM,
    TRIAL_NODE,
    TRIAL_SAVED,
    State,
)
from berth.policies.local_search.table import follow_table

CHAIN = 3


@inner
def attempt(case: Case, state: State, count: int, threshold: float) -> bool:
    """Make a trial's moves until they add no more than a threshold to the energy; else none of them."""
    ints = case.ints
    own, sums = state.ints, state.reals
    made, before, times = 0, 0.0, ints[USES_TIME] or case.reals[LOADED_WEIGHT] != 0.0
    if count > 1 or ints[HEAVY] or times:
        before = energy(case, state)
        for number in range(TOTALS):
            sums[own[TRIAL_SAVED] + number] = sums[number]
    while made < count:
        block, node = own[own[TRIAL_BLOCK] + made], own[own[TRIAL_NODE] + made]
        if node == own[own[NODE] + block]:
            break
        sums[EVALUATED] += 1.0
        cost, logarithm, broken = move_change(case, state, block, node)
        sure = False
        if made == count - 1 and not ints[HEAVY] and (made == 0 or not times):
            # The last one need not be made to be judged.
            low, high = energy_change(case, state, block, node, cost, logarithm, broken)
            so_far = energy(case, state) - before if made > 0 else 0.0
            if so_far + low > threshold:
                break
            sure = so_far + high <= threshold
        own[own[TRIAL_NODE] + made], sums[own[TRIAL_LOGARITHM] + made] = own[own[NODE] + block], logarithm
        made += 1
        own[PENDING] = made
        carry(case, state, block, node, cost, logarithm, broken)
        if case.reals[BUSIEST_WEIGHT] != 0.0:
            busiest_link(case, state)
        if sure or _suffices(case, state, made, threshold - (energy(case, state) - before)):
            own[PENDING] = 0
            if ints[TABLED]:
                for step in range(made):
                    follow_table(case, state, own[own[TRIAL_BLOCK] + step], own[own[TRIAL_NODE] + step])
            if times:
                settle(case, state, made)
            return True
    if made > 0:
        own[PENDING] = 0
        for step in range(made - 1, -1, -1):
            carry(
                case,
                state,
                own[own[TRIAL_BLOCK] + step],
                own[own[TRIAL_NODE] + step],
                0.0,
                -sums[own[TRIAL_LOGARITHM] + step],
                0.0,
            )
        for number in range(TOTALS):
            sums[number] = sums[own[TRIAL_SAVED] + number]
    return False


@inner
def _suffices(case: Case, state: State, made: int, room: float) -> bool:
    """Whether what the moves made add to times is within what is left to the threshold."""
    exact = made < 0
    low, high = path_change(case, state, made, room, exact)
    if low > room or high <= room:
        return high <= room
    low, high = path_change(case, state, made, room, not exact)
    return high <= room


@inner
def swap_or_chain(case: Case, state: State, random: Words, swap: bool) -> int:
    """Behind a first move: who was there moves on, to where the first came from, or anywhere; moves noted."""
    own = state.ints
    other = resident(state, random, own[own[TRIAL_NODE]], own[own[TRIAL_BLOCK]])
    if other < 0:
        return 1
    if swap:
        own[own[TRIAL_BLOCK] + 1], own[own[TRIAL_NODE] + 1] = other, own[own[NODE] + own[own[TRIAL_BLOCK]]]
        return 2 if may_host(case, other, own[own[TRIAL_NODE] + 1]) else 0
    count = 1
    while count < CHAIN and other >= 0 and not _listed(state, count, other):
        node = a_target(case, state, random, other)
        if node < 0:
            return count
        own[own[TRIAL_BLOCK] + count], own[own[TRIAL_NODE] + count] = other, node
        count += 1
        other = resident(state, random, node, other)
    return count


@inner
def _listed(state: State, count: int, block: int) -> bool:
    own = state.ints
    number = 0
    while number < count and own[own[TRIAL_BLOCK] + number] != block:
        number += 1
    return number < count


@inner
def group(case: Case, state: State, random: Words) -> int:
    """Behind a first move: blocks of the same node that are connected with it; how many moves."""
    ints = case.ints
    own = state.ints
    size, count, looked = 2 + drawn(random, LARGEST - 1), 1, 0
    old, node = own[own[NODE] + own[own[TRIAL_BLOCK]]], own[own[TRIAL_NODE]]
    while looked < count:
        block = own[own[TRIAL_BLOCK] + looked]
        looked += 1
        for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
            other = ints[ints[EDGE_OTHER] + edge]
            if count == size:
                return count
            if own[own[NODE] + other] != old or not may_host(case, other, node):
                continue
            if not _listed(state, count, other):
                own[own[TRIAL_BLOCK] + count], own[own[TRIAL_NODE] + count] = other, node
                count += 1
    return count


@inner
def drain(case: Case, state: State, random: Words, node: int) -> int:
    """All blocks of a node to others that are in use; how many moves, 0 if that can't be."""
    own = state.ints
    count, goal = 0, -1
    block = own[own[FIRST] + node]
    while block >= 0:
        if goal < 0 or drawn(random, 2) == 0:
            goal = own[own[NODE] + any_block(case, random)]
        if count == LARGEST or goal == node or not may_host(case, block, goal):
            return 0
        own[own[TRIAL_BLOCK] + count], own[own[TRIAL_NODE] + count] = block, goal
        count += 1
        block = own[own[AFTER] + block]
    return count
