"""Which blocks to move, and where to."""

from __future__ import annotations

from berth.policies.local_search.case import Case, IndexArray
from berth.policies.local_search.chance import Words, drawn
from berth.policies.local_search.changes import may_host
from berth.policies.local_search.fields import (
    CANDIDATE_FIRST,
    CANDIDATES,
    EDGE_FIRST,
    EDGE_OTHER,
    GROUP,
    INPUT_FIRST,
    INPUTS,
    MOVABLE,
    NEAR,
    OF_INSTANCE,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.state import AFTER, DONE, FIRST, SLOWEST, WORST, State
from berth.policies.local_search.times import hop

WALK = 12
"""How far along a node's blocks one is drawn at most."""


@inner
def any_block(case: Case, random: Words) -> int:
    """A block that has a choice."""
    ints = case.ints
    return int(ints[ints[MOVABLE] + drawn(random, case.free)])


@inner
def a_target(case: Case, state: State, random: Words, block: int) -> int:
    """A node for a block: that of a neighbour, one near it, or any candidate; -1: none this time."""
    ints = case.ints
    first, last = ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]
    choice = drawn(random, 4)
    if choice < 2 and last > first:
        node = state.node[ints[ints[EDGE_OTHER] + first + drawn(random, last - first)]]
        if choice == 1 and case.near_count > 0:
            node = ints[ints[NEAR] + node * case.near_count + drawn(random, case.near_count)]
        return node if node != state.node[block] and may_host(case, block, node) else -1
    if choice == 2 and case.near_count > 0:
        node = ints[ints[NEAR] + state.node[block] * case.near_count + drawn(random, case.near_count)]
        return node if node != state.node[block] and may_host(case, block, node) else -1
    group = ints[ints[GROUP] + block]
    begin = ints[ints[CANDIDATE_FIRST] + group]
    node = ints[ints[CANDIDATES] + begin + drawn(random, ints[ints[CANDIDATE_FIRST] + group + 1] - begin)]
    return node if node != state.node[block] else -1


@inner
def resident(state: State, random: Words, node: int, other_than: int) -> int:
    """One of a node's blocks, but not a certain one; -1: there is no other."""
    chosen, seen = -1, 0
    block = state.place[node, FIRST]
    while block >= 0 and seen < WALK:
        if block != other_than:
            seen += 1
            if drawn(random, seen) == 0:
                chosen = block
        block = state.chain[block, AFTER]
    return chosen


@inner
def critical_blocks(case: Case, state: State, found: IndexArray) -> int:
    """Note the blocks with a choice on the longest path; how many there are."""
    ints = case.ints
    count = 0
    instance = state.numbers[SLOWEST + state.numbers[WORST]]
    while count < len(found):
        block = ints[ints[OF_INSTANCE] + instance]
        group = ints[ints[GROUP] + block]
        if ints[ints[CANDIDATE_FIRST] + group + 1] - ints[ints[CANDIDATE_FIRST] + group] > 1:
            found[count] = block
            count += 1
        latest, before = -1.0, -1
        for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
            sender = ints[ints[INPUTS] + edge]
            arrival = state.times[sender, DONE] + hop(case, state, sender, instance)
            if arrival > latest:
                latest, before = arrival, sender
        if before < 0:
            return count
        instance = before
    return count
