"""Which blocks to move, and where to."""

from __future__ import annotations

from berth.policies.local_search.case import Case
from berth.policies.local_search.chance import Words, drawn
from berth.policies.local_search.changes import may_host
from berth.policies.local_search.fields import (
    CANDIDATE_FIRST,
    CANDIDATES,
    EDGE_FIRST,
    EDGE_OTHER,
    FREE,
    GROUP,
    INPUT_FIRST,
    INPUTS,
    MOVABLE,
    NEAR,
    NEAR_COUNT,
    OF_INSTANCE,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.state import (
    AFTER,
    CRITICAL,
    DONE,
    FIRST,
    LONGEST_PATH,
    NODE,
    SLOWEST,
    WORST,
    State,
)
from berth.policies.local_search.times import hop

WALK = 12
"""How far along a node's blocks one is drawn at most."""


@inner
def any_block(case: Case, random: Words) -> int:
    """A block that has a choice."""
    ints = case.ints
    return int(ints[ints[MOVABLE] + drawn(random, ints[FREE])])


@inner
def a_target(case: Case, state: State, random: Words, block: int) -> int:
    """A node for a block: that of a neighbour, one near it, or any candidate; -1: none this time."""
    ints = case.ints
    own = state.ints
    first, last = ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]
    choice = drawn(random, 4)
    if choice < 2 and last > first:
        node = own[own[NODE] + ints[ints[EDGE_OTHER] + first + drawn(random, last - first)]]
        if choice == 1 and ints[NEAR_COUNT] > 0:
            node = ints[ints[NEAR] + node * ints[NEAR_COUNT] + drawn(random, ints[NEAR_COUNT])]
        return node if node != own[own[NODE] + block] and may_host(case, block, node) else -1
    if choice == 2 and ints[NEAR_COUNT] > 0:
        node = ints[ints[NEAR] + own[own[NODE] + block] * ints[NEAR_COUNT] + drawn(random, ints[NEAR_COUNT])]
        return node if node != own[own[NODE] + block] and may_host(case, block, node) else -1
    group = ints[ints[GROUP] + block]
    begin = ints[ints[CANDIDATE_FIRST] + group]
    node = ints[ints[CANDIDATES] + begin + drawn(random, ints[ints[CANDIDATE_FIRST] + group + 1] - begin)]
    return node if node != own[own[NODE] + block] else -1


@inner
def resident(state: State, random: Words, node: int, other_than: int) -> int:
    """One of a node's blocks, but not a certain one; -1: there is no other."""
    own = state.ints
    chosen, seen = -1, 0
    block = own[own[FIRST] + node]
    while block >= 0 and seen < WALK:
        if block != other_than:
            seen += 1
            if drawn(random, seen) == 0:
                chosen = block
        block = own[own[AFTER] + block]
    return chosen


@inner
def critical_blocks(case: Case, state: State) -> int:
    """Note the blocks with a choice on the longest path; how many there are."""
    ints = case.ints
    own, sums = state.ints, state.reals
    count = 0
    instance = own[own[SLOWEST] + own[WORST]]
    while count < LONGEST_PATH:
        block = ints[ints[OF_INSTANCE] + instance]
        group = ints[ints[GROUP] + block]
        if ints[ints[CANDIDATE_FIRST] + group + 1] - ints[ints[CANDIDATE_FIRST] + group] > 1:
            own[own[CRITICAL] + count] = block
            count += 1
        latest, before = -1.0, -1
        for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
            sender = ints[ints[INPUTS] + edge]
            arrival = sums[own[DONE] + sender] + hop(case, state, sender, instance)
            if arrival > latest:
                latest, before = arrival, sender
        if before < 0:
            return count
        instance = before
    return count
