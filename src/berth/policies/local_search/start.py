"""A first plan: block by block, each on the node that breaks least and costs least of some that are tried."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.between import delay_between
from berth.policies.local_search.case import Case, IndexArray
from berth.policies.local_search.chance import Words, drawn
from berth.policies.local_search.changes import DUST, may_host, move_change
from berth.policies.local_search.fields import (
    AVAILABILITY_WEIGHT,
    CANDIDATE_FIRST,
    CANDIDATES,
    EDGE_FIRST,
    EDGE_OTHER,
    EDGE_SENDS,
    GROUP,
    LOADED_WEIGHT,
    LOGARITHM_WEIGHT,
    MEMBER_FIRST,
    MEMBERS,
    NEAR,
    NEAR_COUNT,
    SLOWNESS,
    TIME_WEIGHT,
    WORK,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.moves import carry, clear
from berth.policies.local_search.state import NODE, State
from berth.space.compiled import compiled

TRIES = 32
"""Candidates that are drawn for each block; all of them where there are no more."""
NEIGHBOURS = 10
"""Neighbours in the graph that are looked at, with what is near them."""
OPTIONS = 256
SCANS = 30_000_000
"""Candidates that are looked at, over all blocks, where none that was drawn has room."""


@compiled
def first_nodes(case: Case, state: State, order: IndexArray, wanted: IndexArray, random: Words) -> None:
    """Place all blocks in an order; where a node is wanted for one, there."""
    ints = case.ints
    options = np.empty(OPTIONS, dtype=np.int64)
    clear(case, state)
    scans, rotation = 0, 0
    for block in order:
        group = ints[ints[GROUP] + block]
        begin = ints[ints[CANDIDATE_FIRST] + group]
        size = ints[ints[CANDIDATE_FIRST] + group + 1] - begin
        count = _options(case, state, random, block, wanted[block], options)
        chosen, least, looked = options[0], np.inf, 0
        best = np.inf
        while count > 0:
            for number in range(count):
                price, logarithm, broken = move_change(case, state, block, options[number])
                if broken > best + DUST:
                    continue
                price += first_guess(case, state, block, options[number], logarithm)
                if broken < best - DUST or price < least:
                    chosen, best, least = options[number], broken, price
            count = 0
            if best > DUST and wanted[block] < 0 and looked < size and scans < SCANS:
                # Nodes that are full are passed for good.
                count = min(TRIES, size - looked)
                for number in range(count):
                    options[number] = ints[ints[CANDIDATES] + begin + (rotation + number) % size]
                rotation += count
                looked += count
                scans += count
        cost, logarithm, broken = move_change(case, state, block, chosen)
        carry(case, state, block, chosen, cost, logarithm, broken)


@inner
def _options(case: Case, state: State, random: Words, block: int, wanted: int, options: IndexArray) -> int:
    """Note nodes that are worth a look; how many there are."""
    ints = case.ints
    own = state.ints
    if wanted >= 0:
        options[0] = wanted
        return 1
    count = 0
    first, last = ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]
    for edge in range(first, min(last, first + NEIGHBOURS)):
        node = own[own[NODE] + ints[ints[EDGE_OTHER] + edge]]
        for number in range(-1, ints[NEAR_COUNT] if node >= 0 else -1):
            place = node if number < 0 else ints[ints[NEAR] + node * ints[NEAR_COUNT] + number]
            if may_host(case, block, place):
                options[count] = place
                count += 1
    group = ints[ints[GROUP] + block]
    begin = ints[ints[CANDIDATE_FIRST] + group]
    size = ints[ints[CANDIDATE_FIRST] + group + 1] - begin
    for number in range(min(size, TRIES)):
        options[count] = ints[ints[CANDIDATES] + begin + (number if size <= TRIES else drawn(random, size))]
        count += 1
    return count


@inner
def first_guess(case: Case, state: State, block: int, node: int, logarithm: float) -> float:
    """What a move costs beside sums of flows and prices, as far as one can tell from a part of a plan."""
    reals = case.reals
    price = (reals[LOGARITHM_WEIGHT] + reals[AVAILABILITY_WEIGHT]) * logarithm
    if reals[TIME_WEIGHT] + reals[LOADED_WEIGHT] > 0.0:
        price += (reals[TIME_WEIGHT] + reals[LOADED_WEIGHT]) * _delays(case, state, block, node)
    return float(price)


@inner
def _delays(case: Case, state: State, block: int, node: int) -> float:
    """Delays to a block's neighbours and its work: what paths through it would take."""
    ints, reals = case.ints, case.reals
    own = state.ints
    total = 0.0
    for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
        there = own[own[NODE] + ints[ints[EDGE_OTHER] + edge]]
        if there >= 0:
            sends = ints[ints[EDGE_SENDS] + edge]
            ms = delay_between(case, node, there) if sends else delay_between(case, there, node)
            total += 0.0 if np.isnan(ms) else ms
    for number in range(ints[ints[MEMBER_FIRST] + block], ints[ints[MEMBER_FIRST] + block + 1]):
        total += reals[ints[WORK] + ints[ints[MEMBERS] + number]] * reals[ints[SLOWNESS] + node]
    return total
