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
    whole,
)
from berth.policies.local_search.state import AFTER, DONE, FIRST, SLOWEST, WORST, State
from berth.policies.local_search.times import hop
from berth.space.compiled import compiled

WALK = 12
"""How far along a node's blocks one is drawn at most."""


@compiled
def any_block(case: Case, random: Words) -> int:
    """A block that has a choice."""
    return whole(case, MOVABLE, drawn(random, case.free))


@compiled
def a_target(case: Case, state: State, random: Words, block: int) -> int:
    """A node for a block: that of a neighbour, one near it, or any candidate; -1: none this time."""
    first, last = whole(case, EDGE_FIRST, block), whole(case, EDGE_FIRST, block + 1)
    choice = drawn(random, 4)
    if choice < 2 and last > first:
        node = state.node[whole(case, EDGE_OTHER, first + drawn(random, last - first))]
        if choice == 1 and case.near_count > 0:
            node = whole(case, NEAR, node * case.near_count + drawn(random, case.near_count))
        return node if node != state.node[block] and may_host(case, block, node) else -1
    if choice == 2 and case.near_count > 0:
        node = whole(case, NEAR, state.node[block] * case.near_count + drawn(random, case.near_count))
        return node if node != state.node[block] and may_host(case, block, node) else -1
    group = whole(case, GROUP, block)
    begin = whole(case, CANDIDATE_FIRST, group)
    node = whole(case, CANDIDATES, begin + drawn(random, whole(case, CANDIDATE_FIRST, group + 1) - begin))
    return node if node != state.node[block] else -1


@compiled
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


@compiled
def critical_blocks(case: Case, state: State, found: IndexArray) -> int:
    """Note the blocks with a choice on the longest path; how many there are."""
    count = 0
    instance = state.numbers[SLOWEST + state.numbers[WORST]]
    while count < len(found):
        block = whole(case, OF_INSTANCE, instance)
        group = whole(case, GROUP, block)
        if whole(case, CANDIDATE_FIRST, group + 1) - whole(case, CANDIDATE_FIRST, group) > 1:
            found[count] = block
            count += 1
        latest, before = -1.0, -1
        for edge in range(whole(case, INPUT_FIRST, instance), whole(case, INPUT_FIRST, instance + 1)):
            sender = whole(case, INPUTS, edge)
            arrival = state.times[sender, DONE] + hop(case, state, sender, instance)
            if arrival > latest:
                latest, before = arrival, sender
        if before < 0:
            return count
        instance = before
    return count
