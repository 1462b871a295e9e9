"""Moves made: everything that follows from the blocks' nodes is brought up to date."""

from __future__ import annotations

from berth.policies.local_search.between import bandwidth_between, link_number
from berth.policies.local_search.case import Case, IndexArray
from berth.policies.local_search.changes import beyond, move_change
from berth.policies.local_search.fields import (
    APPLICATION,
    APPLICATIONS,
    BANDWIDTH,
    BLOCK_COUNT,
    BUSIEST_WEIGHT,
    CARD,
    DEMAND,
    EDGE_FIRST,
    EDGE_OTHER,
    EDGE_RATE,
    EDGE_SENDS,
    LOADED_WEIGHT,
    MEMBER_FIRST,
    NEXT_HOP,
    NODES,
    RATE_UNIT,
    RESOURCES,
    ROUTED,
    TABLED,
    USES_CARDS,
    USES_LINKS,
    USES_PORTS,
    USES_TIME,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.state import (
    AFTER,
    BEFORE,
    BROKEN,
    BUSIEST,
    CARD_USED,
    COST,
    DONE,
    FIRST,
    HOSTED,
    LINK_LOAD,
    LISTED,
    LOAD,
    LOG_AVAILABILITY,
    LOG_SUM,
    MARKED,
    NODE,
    RECEIVING,
    SENDING,
    TOTALS,
    TOUCHED,
    State,
)
from berth.policies.local_search.table import empty_table, follow_table
from berth.policies.local_search.times import all_times
from berth.space.compiled import compiled

ROOM = 1.0 + 0.9e-9
"""Bandwidths with (most of) the judge's tolerance."""
MOST_SHARE = 1e6
"""Of a link without any bandwidth."""


@inner
def carry(
    case: Case, state: State, block: int, new: int, cost: float, logarithm: float, broken: float
) -> None:
    """Put a block on a node, given what `move_change` says to that; times are left as they are."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    old = own[own[NODE] + block]
    sums[COST] += cost
    sums[LOG_AVAILABILITY] += logarithm
    sums[BROKEN] += broken
    sums[own[LOG_SUM] + ints[ints[APPLICATION] + block]] += logarithm
    if ints[USES_LINKS] or ints[USES_PORTS]:
        if old >= 0:
            _send(case, state, block, old, -1.0)
        _send(case, state, block, new, 1.0)
    if ints[USES_CARDS]:
        _cards(case, state, block, old, new)
    size = ints[ints[MEMBER_FIRST] + block + 1] - ints[ints[MEMBER_FIRST] + block]
    for resource in range(ints[RESOURCES]):
        need = reals[ints[DEMAND] + block * ints[RESOURCES] + resource]
        if old >= 0:
            sums[own[LOAD] + old * ints[RESOURCES] + resource] -= need
        sums[own[LOAD] + new * ints[RESOURCES] + resource] += need
    if old >= 0:
        own[own[HOSTED] + old] -= size
        _unlist(state, block, old)
    own[own[HOSTED] + new] += size
    _enlist(state, block, new)
    own[own[NODE] + block] = new
    if old < 0 and ints[TABLED]:
        follow_table(case, state, block, old)
    if not own[own[MARKED] + block]:
        own[own[MARKED] + block] = 1
        own[own[LISTED] + own[TOUCHED]] = block
        own[TOUCHED] += 1


@inner
def _unlist(state: State, block: int, node: int) -> None:
    own = state.ints
    before, after = own[own[BEFORE] + block], own[own[AFTER] + block]
    if before >= 0:
        own[own[AFTER] + before] = after
    else:
        own[own[FIRST] + node] = after
    if after >= 0:
        own[own[BEFORE] + after] = before


@inner
def _enlist(state: State, block: int, node: int) -> None:
    own = state.ints
    after = own[own[FIRST] + node]
    own[own[BEFORE] + block], own[own[AFTER] + block] = -1, after
    if after >= 0:
        own[own[BEFORE] + after] = block
    own[own[FIRST] + node] = block


@inner
def _cards(case: Case, state: State, block: int, old: int, new: int) -> None:
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    unit = reals[RATE_UNIT]
    for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
        there, rate = (
            own[own[NODE] + ints[ints[EDGE_OTHER] + edge]],
            reals[ints[EDGE_RATE] + edge],
        )
        if there < 0:
            continue
        if there != new:
            sums[own[CARD_USED] + new] += rate
        if old < 0:
            # The other end begins to send or receive: its card was not part of the change.
            if there != new:
                before = sums[own[CARD_USED] + there]
                sums[own[CARD_USED] + there] += rate
                sums[BROKEN] += beyond(before + rate, reals[ints[CARD] + there], unit)
                sums[BROKEN] -= beyond(before, reals[ints[CARD] + there], unit)
            continue
        if there != old:
            sums[own[CARD_USED] + old] -= rate
        if there == old:
            sums[own[CARD_USED] + old] += rate
        if there == new:
            sums[own[CARD_USED] + new] -= rate


@inner
def _send(case: Case, state: State, block: int, node: int, sign: float) -> None:
    """Add to links and ports, or take from them, what a block exchanges on a node."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
        there = own[own[NODE] + ints[ints[EDGE_OTHER] + edge]]
        if there < 0 or there == node or reals[ints[EDGE_RATE] + edge] == 0.0:
            continue
        rate = sign * reals[ints[EDGE_RATE] + edge]
        sender, receiver = (node, there) if ints[ints[EDGE_SENDS] + edge] else (there, node)
        if ints[USES_LINKS]:
            _cross(case, state, sender, receiver, rate)
        if ints[USES_PORTS]:
            share = rate / max(bandwidth_between(case, sender, receiver), abs(rate) / MOST_SHARE)
            sums[BROKEN] -= beyond(sums[own[SENDING] + sender], ROOM, 1.0)
            sums[BROKEN] -= beyond(sums[own[RECEIVING] + receiver], ROOM, 1.0)
            sums[own[SENDING] + sender] += share
            sums[own[RECEIVING] + receiver] += share
            sums[BROKEN] += beyond(sums[own[SENDING] + sender], ROOM, 1.0)
            sums[BROKEN] += beyond(sums[own[RECEIVING] + receiver], ROOM, 1.0)


@inner
def _cross(case: Case, state: State, sender: int, receiver: int, rate: float) -> None:
    """A rate over every physical link from one node to another."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    here = sender
    while here != receiver:
        following = receiver if not ints[ROUTED] else ints[ints[NEXT_HOP] + here * ints[NODES] + receiver]
        if following < 0:
            return
        link = link_number(case, here, following)
        if link >= 0:
            limit, unit = reals[ints[BANDWIDTH] + link] * ROOM, reals[RATE_UNIT]
            before = sums[own[LINK_LOAD] + link]
            sums[own[LINK_LOAD] + link] += rate
            sums[BROKEN] += beyond(before + rate, limit, unit) - beyond(before, limit, unit)
        here = following


@inner
def busiest_link(case: Case, state: State) -> None:
    """The highest share of a link's bandwidth in use, over all that is sent."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    highest = 0.0
    for block in range(ints[BLOCK_COUNT]):
        for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
            if not ints[ints[EDGE_SENDS] + edge] or reals[ints[EDGE_RATE] + edge] == 0.0:
                continue
            here, goal = own[own[NODE] + block], own[own[NODE] + ints[ints[EDGE_OTHER] + edge]]
            while here != goal:
                following = goal if not ints[ROUTED] else ints[ints[NEXT_HOP] + here * ints[NODES] + goal]
                if following < 0:
                    break
                link = link_number(case, here, following)
                if link >= 0:
                    share = sums[own[LINK_LOAD] + link] / max(reals[ints[BANDWIDTH] + link], 1e-300)
                    highest = max(highest, min(share, MOST_SHARE))
                here = following
    sums[BUSIEST] = highest


@inner
def clear(case: Case, state: State) -> None:
    """Nothing is placed, and nothing loaded."""
    ints = case.ints
    own, sums = state.ints, state.reals
    for block in range(ints[BLOCK_COUNT]):
        own[own[NODE] + block] = -1
    for node in range(ints[NODES]):
        own[own[HOSTED] + node] = 0
        own[own[FIRST] + node] = -1
    for number in range(own[LOAD], own[DONE]):
        # what nodes bear, their cards and ports, and the links
        sums[number] = 0.0
    for application in range(ints[APPLICATIONS]):
        sums[own[LOG_SUM] + application] = 0.0
    for number in range(TOTALS):
        sums[number] = 0.0
    if ints[TABLED]:
        empty_table(case, state)


@compiled
def rebuild(case: Case, state: State, nodes: IndexArray) -> None:
    """Everything from the blocks' nodes: sums of many small changes drift."""
    ints, reals = case.ints, case.reals
    clear(case, state)
    for block in range(len(nodes)):
        cost, logarithm, broken = move_change(case, state, block, nodes[block])
        carry(case, state, block, nodes[block], cost, logarithm, broken)
    loaded = ints[NODES] < 0  # a variable: a literal would have all that follows compiled twice
    if reals[LOADED_WEIGHT] != 0.0:
        all_times(case, state, not loaded)
    if ints[USES_TIME]:
        all_times(case, state, loaded)
    if reals[BUSIEST_WEIGHT] != 0.0:
        busiest_link(case, state)
