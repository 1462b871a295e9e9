"""Moves made: everything that follows from the blocks' nodes is brought up to date."""

from __future__ import annotations

from berth.policies.local_search.between import bandwidth_between, link_number
from berth.policies.local_search.case import Case, IndexArray
from berth.policies.local_search.changes import beyond, move_change
from berth.policies.local_search.fields import (
    APPLICATION,
    CARD,
    DEMAND,
    EDGE_FIRST,
    EDGE_OTHER,
    EDGE_RATE,
    EDGE_SENDS,
    MEMBER_FIRST,
    NEXT_HOP,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.state import (
    AFTER,
    BEFORE,
    BROKEN,
    BUSIEST,
    CARD_USED,
    COST,
    FIRST,
    HOSTED,
    LISTED,
    LOG_AVAILABILITY,
    LOG_SUM,
    MARKED,
    RECEIVING,
    SENDING,
    TOUCHED,
    State,
)
from berth.policies.local_search.times import all_times, follow_times, loaded_time
from berth.space.compiled import compiled

ROOM = 1.0 + 0.9e-9
"""Bandwidths with (most of) the judge's tolerance."""
MOST_SHARE = 1e6
"""Of a link without any bandwidth."""


@inner
def follow(case: Case, state: State, block: int) -> None:
    """Bring up to date what isn't a sum."""
    if case.aims.loaded != 0.0:
        loaded_time(case, state)
    if case.aims.uses_time:
        follow_times(case, state, block)
    if case.aims.busiest != 0.0:
        busiest_link(case, state)


@inner
def carry(
    case: Case, state: State, block: int, new: int, cost: float, logarithm: float, broken: float
) -> None:
    """Put a block on a node, given what `move_change` says to that; times are left as they are."""
    ints, reals = case.ints, case.reals
    aims, old = case.aims, state.node[block]
    state.totals[COST] += cost
    state.totals[LOG_AVAILABILITY] += logarithm
    state.totals[BROKEN] += broken
    state.application[ints[ints[APPLICATION] + block], LOG_SUM] += logarithm
    if aims.uses_links or aims.uses_ports:
        if old >= 0:
            _send(case, state, block, old, -1.0)
        _send(case, state, block, new, 1.0)
    if aims.uses_cards:
        _cards(case, state, block, old, new)
    size = ints[ints[MEMBER_FIRST] + block + 1] - ints[ints[MEMBER_FIRST] + block]
    for resource in range(case.resources):
        need = reals[ints[DEMAND] + block * case.resources + resource]
        if old >= 0:
            state.load[old, resource] -= need
        state.load[new, resource] += need
    if old >= 0:
        state.place[old, HOSTED] -= size
        _unlist(state, block, old)
    state.place[new, HOSTED] += size
    _enlist(state, block, new)
    state.node[block] = new
    if not state.noted[block, MARKED]:
        state.noted[block, MARKED] = 1
        state.noted[state.numbers[TOUCHED], LISTED] = block
        state.numbers[TOUCHED] += 1


@inner
def _unlist(state: State, block: int, node: int) -> None:
    before, after = state.chain[block, BEFORE], state.chain[block, AFTER]
    if before >= 0:
        state.chain[before, AFTER] = after
    else:
        state.place[node, FIRST] = after
    if after >= 0:
        state.chain[after, BEFORE] = before


@inner
def _enlist(state: State, block: int, node: int) -> None:
    after = state.place[node, FIRST]
    state.chain[block, BEFORE], state.chain[block, AFTER] = -1, after
    if after >= 0:
        state.chain[after, BEFORE] = block
    state.place[node, FIRST] = block


@inner
def _cards(case: Case, state: State, block: int, old: int, new: int) -> None:
    ints, reals = case.ints, case.reals
    unit = case.aims.rate_unit
    for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
        there, rate = (
            state.node[ints[ints[EDGE_OTHER] + edge]],
            reals[ints[EDGE_RATE] + edge],
        )
        if there < 0:
            continue
        if there != new:
            state.wire[new, CARD_USED] += rate
        if old < 0:
            # The other end begins to send or receive: its card was not part of the change.
            if there != new:
                before = state.wire[there, CARD_USED]
                state.wire[there, CARD_USED] += rate
                state.totals[BROKEN] += beyond(before + rate, reals[ints[CARD] + there], unit)
                state.totals[BROKEN] -= beyond(before, reals[ints[CARD] + there], unit)
            continue
        if there != old:
            state.wire[old, CARD_USED] -= rate
        if there == old:
            state.wire[old, CARD_USED] += rate
        if there == new:
            state.wire[new, CARD_USED] -= rate


@inner
def _send(case: Case, state: State, block: int, node: int, sign: float) -> None:
    """Add to links and ports, or take from them, what a block exchanges on a node."""
    ints, reals = case.ints, case.reals
    for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
        there = state.node[ints[ints[EDGE_OTHER] + edge]]
        if there < 0 or there == node or reals[ints[EDGE_RATE] + edge] == 0.0:
            continue
        rate = sign * reals[ints[EDGE_RATE] + edge]
        sender, receiver = (node, there) if ints[ints[EDGE_SENDS] + edge] else (there, node)
        if case.aims.uses_links:
            _cross(case, state, sender, receiver, rate)
        if case.aims.uses_ports:
            share = rate / max(bandwidth_between(case, sender, receiver), abs(rate) / MOST_SHARE)
            state.totals[BROKEN] -= beyond(state.wire[sender, SENDING], ROOM, 1.0)
            state.totals[BROKEN] -= beyond(state.wire[receiver, RECEIVING], ROOM, 1.0)
            state.wire[sender, SENDING] += share
            state.wire[receiver, RECEIVING] += share
            state.totals[BROKEN] += beyond(state.wire[sender, SENDING], ROOM, 1.0)
            state.totals[BROKEN] += beyond(state.wire[receiver, RECEIVING], ROOM, 1.0)


@inner
def _cross(case: Case, state: State, sender: int, receiver: int, rate: float) -> None:
    """A rate over every physical link from one node to another."""
    ints = case.ints
    here = sender
    while here != receiver:
        following = receiver if not case.routed else ints[ints[NEXT_HOP] + here * case.nodes + receiver]
        if following < 0:
            return
        link = link_number(case, here, following)
        if link >= 0:
            limit, unit = case.bandwidth[link] * ROOM, case.aims.rate_unit
            before = state.link_load[link]
            state.link_load[link] += rate
            state.totals[BROKEN] += beyond(before + rate, limit, unit) - beyond(before, limit, unit)
        here = following


@inner
def busiest_link(case: Case, state: State) -> None:
    """The highest share of a link's bandwidth in use, over all that is sent."""
    ints, reals = case.ints, case.reals
    highest = 0.0
    for block in range(case.block_count):
        for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
            if not ints[ints[EDGE_SENDS] + edge] or reals[ints[EDGE_RATE] + edge] == 0.0:
                continue
            here, goal = state.node[block], state.node[ints[ints[EDGE_OTHER] + edge]]
            while here != goal:
                following = goal if not case.routed else ints[ints[NEXT_HOP] + here * case.nodes + goal]
                if following < 0:
                    break
                link = link_number(case, here, following)
                if link >= 0:
                    share = state.link_load[link] / max(case.bandwidth[link], 1e-300)
                    highest = max(highest, min(share, MOST_SHARE))
                here = following
    state.totals[BUSIEST] = highest


@compiled
def rebuild(case: Case, state: State, nodes: IndexArray) -> None:
    """Everything from the blocks' nodes: sums of many small changes drift."""
    state.node[:] = -1
    state.load[:] = 0.0
    state.place[:, HOSTED] = 0
    state.place[:, FIRST] = -1
    state.wire[:] = 0.0
    state.link_load[:] = 0.0
    state.application[:, LOG_SUM] = 0.0
    state.totals[:] = 0.0
    for block in range(len(nodes)):
        cost, logarithm, broken = move_change(case, state, block, nodes[block])
        carry(case, state, block, nodes[block], cost, logarithm, broken)
    if case.aims.loaded != 0.0:
        loaded_time(case, state)
    if case.aims.uses_time:
        all_times(case, state)
    if case.aims.busiest != 0.0:
        busiest_link(case, state)
