"""A first plan: block by block, each on the node that breaks least and costs least of some that are tried."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.between import delay_between
from berth.policies.local_search.case import Case, IndexArray
from berth.policies.local_search.chance import Words, drawn
from berth.policies.local_search.changes import may_host, move_change
from berth.policies.local_search.fields import (
    CANDIDATE_FIRST,
    CANDIDATES,
    EDGE_FIRST,
    EDGE_OTHER,
    EDGE_SENDS,
    GROUP,
    MEMBER_FIRST,
    MEMBERS,
    NEAR,
    SLOWNESS,
    WORK,
    real,
    whole,
)
from berth.policies.local_search.moves import put
from berth.policies.local_search.state import State
from berth.space.compiled import compiled

TRIES = 24
"""Candidates that are drawn for each block; all of them where there are fewer than twice as many."""
NEIGHBOURS = 12
WHOLE_SCANS = 2_000_000_000
"""Candidates that are looked at, over all blocks, where none that was drawn has room."""


@compiled
def first_nodes(case: Case, state: State, order: IndexArray, wanted: IndexArray, random: Words) -> None:
    """Place all blocks in an order; where a node is wanted for one, there."""
    scans, rotation = 0, 0
    for block in order:
        if wanted[block] >= 0:
            put(case, state, block, wanted[block])
            continue
        group = whole(case, GROUP, block)
        begin, end = whole(case, CANDIDATE_FIRST, group), whole(case, CANDIDATE_FIRST, group + 1)
        chosen, broken, cost = -1, np.inf, np.inf
        first, last = whole(case, EDGE_FIRST, block), whole(case, EDGE_FIRST, block + 1)
        for edge in range(first, min(last, first + NEIGHBOURS)):
            node = state.node[whole(case, EDGE_OTHER, edge)]
            if node < 0:
                continue
            for number in range(-1, case.near_count):
                place = node if number < 0 else whole(case, NEAR, node * case.near_count + number)
                if may_host(case, block, place):
                    chosen, broken, cost = _better(case, state, block, place, chosen, broken, cost)
        if end - begin <= 2 * TRIES:
            for position in range(begin, end):
                node = whole(case, CANDIDATES, position)
                chosen, broken, cost = _better(case, state, block, node, chosen, broken, cost)
        else:
            for _ in range(TRIES):
                node = whole(case, CANDIDATES, begin + drawn(random, end - begin))
                chosen, broken, cost = _better(case, state, block, node, chosen, broken, cost)
        looked = 0
        while broken > 0.0 and end - begin > 2 * TRIES and looked < end - begin and scans < WHOLE_SCANS:
            node = whole(case, CANDIDATES, begin + rotation % (end - begin))
            chosen, broken, cost = _better(case, state, block, node, chosen, broken, cost)
            if broken > 0.0:
                rotation += 1
            looked += 1
            scans += 1
        put(case, state, block, chosen)


@compiled
def _better(
    case: Case, state: State, block: int, node: int, chosen: int, broken: float, cost: float
) -> tuple[int, float, float]:
    """A node, or the one chosen before: whichever breaks less, then costs less."""
    price, logarithm, breaks = move_change(case, state, block, node)
    price += case.aims.log_availability * logarithm
    if case.aims.time + case.aims.loaded > 0.0:
        price += (case.aims.time + case.aims.loaded) * _delays(case, state, block, node)
    breaks = max(breaks, 0.0)
    if breaks < broken or (breaks == broken and price < cost):
        return node, breaks, price
    return chosen, broken, cost


@compiled
def _delays(case: Case, state: State, block: int, node: int) -> float:
    """Delays to a block's neighbours and its work: what paths through it would take."""
    total = 0.0
    for edge in range(whole(case, EDGE_FIRST, block), whole(case, EDGE_FIRST, block + 1)):
        there = state.node[whole(case, EDGE_OTHER, edge)]
        if there >= 0:
            sends = whole(case, EDGE_SENDS, edge)
            ms = delay_between(case, node, there) if sends else delay_between(case, there, node)
            total += 0.0 if np.isnan(ms) else ms
    for number in range(whole(case, MEMBER_FIRST, block), whole(case, MEMBER_FIRST, block + 1)):
        total += real(case, WORK, whole(case, MEMBERS, number)) * real(case, SLOWNESS, node)
    return total
