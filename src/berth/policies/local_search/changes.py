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
    PLACES,
    POWER,
    PRICE,
    PRICE_FIRST,
    PRICE_NODE,
    PRICE_VALUE,
    RULE_BLOCK,
    RULE_FIRST,
    RULE_PLACES,
    SLOWNESS,
    UNIT,
    real,
    whole,
)
from berth.policies.local_search.state import CARD_USED, HOSTED, LOG_SUM, State
from berth.space.compiled import compiled

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


@compiled
def beyond(amount: float, limit: float, unit: float) -> float:
    """How much a limit is broken."""
    excess = amount - limit
    if not excess > DUST * unit:
        return 0.0
    return excess / unit + BEYOND


@compiled
def price_of(case: Case, block: int, node: int) -> float:
    """What a block costs on a node by itself."""
    total = real(case, POWER, block) * real(case, SLOWNESS, node)
    first, last = whole(case, PRICE_FIRST, block), whole(case, PRICE_FIRST, block + 1)
    if first == last:
        return total + real(case, PRICE, block)
    if last - first == case.nodes:
        return total + real(case, PRICE_VALUE, first + node)
    entry = found(case, PRICE_NODE, first, last, node)
    return total + (real(case, PRICE_VALUE, entry) if entry >= 0 else real(case, PRICE, block))


@compiled
def may_host(case: Case, block: int, node: int) -> bool:
    """Whether a node is among a block's candidates."""
    group = whole(case, GROUP, block)
    first, last = whole(case, CANDIDATE_FIRST, group), whole(case, CANDIDATE_FIRST, group + 1)
    return last - first == case.nodes or found(case, CANDIDATES, first, last, node) >= 0


@compiled
def clashes(case: Case, state: State, block: int, node: int) -> float:
    """How many blocks are where this one must not meet them, were it on a node."""
    total = 0.0
    for position in range(whole(case, APART_FIRST, block), whole(case, APART_FIRST, block + 1)):
        rule = whole(case, APART_RULE, position)
        row = whole(case, RULE_PLACES, rule) * case.nodes
        place = whole(case, PLACES, row + node)
        for member in range(whole(case, RULE_FIRST, rule), whole(case, RULE_FIRST, rule + 1)):
            other = whole(case, RULE_BLOCK, member)
            there = state.node[other]
            if other != block and there >= 0 and whole(case, PLACES, row + there) == place:
                total += CLASH
    return total


@compiled
def load_change(case: Case, state: State, block: int, old: int, new: int) -> float:
    """What moving a block adds to broken capacities."""
    total = 0.0
    for resource in range(case.resources):
        need = real(case, DEMAND, block * case.resources + resource)
        if need == 0.0:
            continue
        unit = real(case, UNIT, resource)
        if old >= 0:
            there, limit = state.load[old, resource], real(case, LIMIT, old * case.resources + resource)
            total += beyond(there - need, limit, unit) - beyond(there, limit, unit)
        there, limit = state.load[new, resource], real(case, LIMIT, new * case.resources + resource)
        total += beyond(there + need, limit, unit) - beyond(there, limit, unit)
    return total


@compiled
def move_change(case: Case, state: State, block: int, new: int) -> tuple[float, float, float]:
    """What a move adds to the costs, to the logarithm of availability and to what is broken.

    Left out: response times, and what `Aims.heavy` stands for.
    """
    aims = case.aims
    old = state.node[block]
    broken = load_change(case, state, block, old, new)
    cost = price_of(case, block, new)
    size = whole(case, MEMBER_FIRST, block + 1) - whole(case, MEMBER_FIRST, block)
    if state.place[new, HOSTED] == 0:
        cost += real(case, COST_OF_USE, new)
    if old >= 0:
        cost -= price_of(case, block, old)
        if state.place[old, HOSTED] == size:
            cost -= real(case, COST_OF_USE, old)
    logarithm, leaving, coming = 0.0, 0.0, 0.0
    for edge in range(whole(case, EDGE_FIRST, block), whole(case, EDGE_FIRST, block + 1)):
        there = state.node[whole(case, EDGE_OTHER, edge)]
        if there < 0:
            continue
        sends, rate = whole(case, EDGE_SENDS, edge), real(case, EDGE_RATE, edge)
        if aims.uses_flow:
            if sends:
                cost += rate * flow_between(case, new, there)
                if old >= 0:
                    cost -= rate * flow_between(case, old, there)
            else:
                cost += rate * flow_between(case, there, new)
                if old >= 0:
                    cost -= rate * flow_between(case, there, old)
        if aims.uses_availability:
            pairs = real(case, EDGE_PAIRS, edge)
            if sends:
                logarithm += pairs * log_availability_between(case, new, there)
                if old >= 0:
                    logarithm -= pairs * log_availability_between(case, old, there)
            else:
                logarithm += pairs * log_availability_between(case, there, new)
                if old >= 0:
                    logarithm -= pairs * log_availability_between(case, there, old)
        if case.checks_links:
            if not (linked_between(case, new, there) if sends else linked_between(case, there, new)):
                broken += BAD_LINK
            if old >= 0:
                if not (linked_between(case, old, there) if sends else linked_between(case, there, old)):
                    broken -= BAD_LINK
        if aims.uses_cards:
            # Only the two nodes of the move see a difference.
            leaving += rate if there == old else -rate
            coming += -rate if there == new else rate
    if aims.uses_cards:
        broken += _card_change(case, state, old, new, leaving, coming)
    if whole(case, APART_FIRST, block) < whole(case, APART_FIRST, block + 1):
        broken += clashes(case, state, block, new)
        if old >= 0:
            broken -= clashes(case, state, block, old)
    if aims.uses_availability:
        logarithm += size * real(case, NODE_LOG_AVAILABILITY, new)
        if old >= 0:
            logarithm -= size * real(case, NODE_LOG_AVAILABILITY, old)
        application = whole(case, APPLICATION, block)
        least, there = real(case, LEAST, application), state.application[application, LOG_SUM]
        if np.isfinite(least):
            broken += UNAVAILABLE * (beyond(least, there + logarithm, 1.0) - beyond(least, there, 1.0))
    return cost, logarithm, broken


@compiled
def _card_change(case: Case, state: State, old: int, new: int, leaving: float, coming: float) -> float:
    unit = case.aims.rate_unit
    total = beyond(state.wire[new, CARD_USED] + coming, real(case, CARD, new), unit) - beyond(
        state.wire[new, CARD_USED], real(case, CARD, new), unit
    )
    if old >= 0:
        there = state.wire[old, CARD_USED]
        total += beyond(there + leaving, real(case, CARD, old), unit) - beyond(
            there, real(case, CARD, old), unit
        )
    return total
