"""The arrays of a case, one behind the other in two: compiled calls with many arrays take long to compile.

A name stands for where its array begins: `ints[ints[EDGE_OTHER] + 5]` is its sixth number.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from berth.policies.local_search.case import Case

(
    MEMBER_FIRST,
    MEMBERS,
    OF_INSTANCE,
    APPLICATION,
    GROUP,
    CANDIDATE_FIRST,
    CANDIDATES,
    MOVABLE,
    EDGE_FIRST,
    EDGE_OTHER,
    EDGE_SENDS,
    PRICE_FIRST,
    PRICE_NODE,
    APART_FIRST,
    APART_RULE,
    RULE_FIRST,
    RULE_BLOCK,
    RULE_PLACES,
    PLACES,
    NEAR,
    POSITION,
    INSTANCE,
    INPUT_FIRST,
    INPUTS,
    OUTPUT_FIRST,
    OUTPUTS,
    APPLICATION_FIRST,
    LINK_FIRST,
    LINK_TO,
    NEXT_HOP,
) = range(30)
WHOLE_FIELDS = 30

(
    DEMAND,
    EDGE_RATE,
    EDGE_PAIRS,
    POWER,
    PRICE,
    PRICE_VALUE,
    LIMIT,
    UNIT,
    COST_OF_USE,
    SLOWNESS,
    CARD,
    CARD_SPEED,
    RUN_QUEUE,
    WORK,
    INPUT_BYTES,
    LATEST,
    LEAST,
    LINK_FLOW,
    LINK_DELAY,
    LINK_LOG_AVAILABILITY,
    POSITIONS,
    HEIGHTS,
    USUAL,
    NODE_LOG_AVAILABILITY,
) = range(30, 54)
FIELDS = 54


def field_of(case: Case, field: int) -> NDArray[Any]:
    """A whole field, for code that isn't compiled."""
    pool = case.ints if field < WHOLE_FIELDS else case.reals
    last = WHOLE_FIELDS if field < WHOLE_FIELDS else FIELDS
    end = int(case.ints[field + 1]) if field + 1 < last else len(pool)
    return pool[int(case.ints[field]) : end]
