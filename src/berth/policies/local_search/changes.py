"""What a move changes, without making it: costs, availability and what is broken."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.between import (
    flow_between,
    found,
    linked_between,
    log_availability_between,
)
from berth.policies.local_search.case import Case
from berth.policies.local_search.fields import (
    APART_FIRST,
    APART_RULE,
    APPLICATION,
    CANDIDATE_FIRST,
    CANDIDATES,
    CARD,
    CHECKS_LINKS,
    COST_OF_USE,
    DEMAND,
    EDGE_FIRST,
    EDGE_OTHER,
    EDGE_PAIRS,
    EDGE_RATE,
    EDGE_SENDS,
    GROUP,
    LEAST,
    LIMIT,
    MEMBER_FIRST,
    NODE_LOG_AVAILABILITY,
    NODES,
    PLACES,
    RATE_UNIT,
    RESOURCES,
    RULE_BLOCK,
    RULE_FIRST,
    RULE_PLACES,
    TABLED,
    UNIT,
    USES_AVAILABILITY,
    USES_CARDS,
    USES_FLOW,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.prices import price_of
from berth.policies.local_search.state import CARD_USED, HOSTED, LOAD, LOG_SUM, NODE, State
from berth.policies.local_search.table import table_cost

BEYOND = 0.2
"""What it adds that a limit is broken at all, in units of its excess: small excesses shall not hide."""
DUST = 1e-12
"""Excesses below so many units are rounding."""
BAD_LINK = 2.0
"""What a missing link counts."""
CLASH = 1.0
"""What two blocks count that should be apart."""
UNAVAILABLE = 20.0
"""What a factor e of missing availability counts."""


@inner
def beyond(amount: float, limit: float, unit: float) -> float:
    """How much a limit is broken."""
    excess = amount - limit
    if not excess > DUST * unit:
        return 0.0
    return excess / unit + BEYOND


@inner
def may_host(case: Case, block: int, node: int) -> bool:
    """Whether a node is among a block's candidates."""
    ints = case.ints
    group = ints[ints[GROUP] + block]
    first, last = (
        ints[ints[CANDIDATE_FIRST] + group],
        ints[ints[CANDIDATE_FIRST] + group + 1],
    )
    start = ints[CANDIDATES]
    return last - first == ints[NODES] or found(ints, start + first, start + last, node) >= 0


@inner
def clashes(case: Case, state: State, block: int, node: int) -> float:
    """How many blocks are where this one must not meet them, were it on a node."""
    ints = case.ints
    own = state.ints
    total = 0.0
    for position in range(ints[ints[APART_FIRST] + block], ints[ints[APART_FIRST] + block + 1]):
        rule = ints[ints[APART_RULE] + position]
        row = ints[ints[RULE_PLACES] + rule] * ints[NODES]
        place = ints[ints[PLACES] + row + node]
        for member in range(ints[ints[RULE_FIRST] + rule], ints[ints[RULE_FIRST] + rule + 1]):
            other = ints[ints[RULE_BLOCK] + member]
            there = own[own[NODE] + other]
            if other != block and there >= 0 and ints[ints[PLACES] + row + there] == place:
                total += CLASH
    return total


@inner
def load_change(case: Case, state: State, block: int, old: int, new: int) -> float:
    """What moving a block adds to broken capacities."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    total = 0.0
    for resource in range(ints[RESOURCES]):
        need = reals[ints[DEMAND] + block * ints[RESOURCES] + resource]
        if need == 0.0:
            continue
        unit = reals[ints[UNIT] + resource]
        if old >= 0:
            there, limit = (
                sums[own[LOAD] + old * ints[RESOURCES] + resource],
                reals[ints[LIMIT] + old * ints[RESOURCES] + resource],
            )
            total += beyond(there - need, limit, unit) - beyond(there, limit, unit)
        there, limit = (
            sums[own[LOAD] + new * ints[RESOURCES] + resource],
            reals[ints[LIMIT] + new * ints[RESOURCES] + resource],
        )
        total += beyond(there + need, limit, unit) - beyond(there, limit, unit)
    return total


@inner
def exchange(case: Case, state: State, block: int, node: int) -> tuple[float, float, float, float]:
    """What a block's streams add, were it on a node: cost, logarithm of availability, missing links, balance.

    The balance is what would cross the node's card less what would stay inside.
    """
    ints, reals = case.ints, case.reals
    own = state.ints
    cost, logarithm, broken, balance = 0.0, 0.0, 0.0, 0.0
    for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
        there = own[own[NODE] + ints[ints[EDGE_OTHER] + edge]]
        if there < 0:
            continue
        sender, receiver = node, there
        if not ints[ints[EDGE_SENDS] + edge]:
            sender, receiver = there, node
        rate = reals[ints[EDGE_RATE] + edge]
        if ints[USES_FLOW]:
            cost += rate * flow_between(case, sender, receiver)
        if ints[USES_AVAILABILITY]:
            logarithm += reals[ints[EDGE_PAIRS] + edge] * log_availability_between(case, sender, receiver)
        if ints[CHECKS_LINKS] and not linked_between(case, sender, receiver):
            broken += BAD_LINK
        balance += -rate if there == node else rate
    return cost, logarithm, broken, balance


@inner
def move_change(case: Case, state: State, block: int, new: int) -> tuple[float, float, float]:
    """What a move adds to the costs, to the logarithm of availability and to what is broken.

    Left out: response times, and what `Aims.heavy` stands for.
    """
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    old = own[own[NODE] + block]
    size = ints[ints[MEMBER_FIRST] + block + 1] - ints[ints[MEMBER_FIRST] + block]
    broken, cost, logarithm = load_change(case, state, block, old, new), 0.0, 0.0
    for side in range(2):
        node, sign, hosted = (new, 1.0, 0) if side == 0 else (old, -1.0, size)
        if node < 0:
            continue
        factor, missing, balance = 0.0, 0.0, 0.0
        if ints[TABLED]:
            price = table_cost(case, state, block, node)
        else:
            price, factor, missing, balance = exchange(case, state, block, node)
            price += price_of(case, block, node)
        if own[own[HOSTED] + node] == hosted:
            price += reals[ints[COST_OF_USE] + node]
        cost += sign * price
        logarithm += sign * (factor + size * reals[ints[NODE_LOG_AVAILABILITY] + node])
        broken += sign * (missing + clashes(case, state, block, node))
        if ints[USES_CARDS]:
            # Only the two nodes of the move see a difference.
            used, limit, unit = (
                sums[own[CARD_USED] + node],
                reals[ints[CARD] + node],
                reals[RATE_UNIT],
            )
            broken += beyond(used + sign * balance, limit, unit) - beyond(used, limit, unit)
    if ints[USES_AVAILABILITY]:
        application = ints[ints[APPLICATION] + block]
        least, there = reals[ints[LEAST] + application], sums[own[LOG_SUM] + application]
        if np.isfinite(least):
            broken += UNAVAILABLE * (beyond(least, there + logarithm, 1.0) - beyond(least, there, 1.0))
    return cost, logarithm, broken
