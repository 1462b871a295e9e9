"""The fields of a case, one behind the other in two arrays: many arrays make calls slow, and slow to compile.

A field's name stands for where it begins: `ints[ints[EDGE_OTHER] + 5]` is its sixth number. Single numbers
stand at their names: `ints[NODES]`, `reals[TIME_WEIGHT]`.
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
    LINKED,
) = range(31)
WHOLE_FIELDS = 31

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
    OUTPUT_BYTES,
    LATEST,
    LEAST,
    LINK_FLOW,
    LINK_DELAY,
    LINK_LOG_AVAILABILITY,
    POSITIONS,
    HEIGHTS,
    USUAL,
    NODE_LOG_AVAILABILITY,
    FLOW,
    DELAY,
    LINK_LOGARITHM,
    BANDWIDTH,
    LINK_WIDTH,
    FLOW_BACK,
) = range(31, 62)
FIELDS = 62

(
    NODES,
    BLOCK_COUNT,
    FREE,
    INSTANCES,
    RESOURCES,
    NEAR_COUNT,
    DIMENSIONS,
    DENSE,
    ROUTED,
    HALF_DUPLEX,
    CHECKS_LINKS,
    USES_FLOW,
    USES_TIME,
    USES_AVAILABILITY,
    USES_LINKS,
    USES_PORTS,
    USES_CARDS,
    PAYS_NODES,
    HEAVY,
    APPLICATIONS,
    TABLED,
) = range(62, 83)
HEAD = 83

TIME_WEIGHT, LOADED_WEIGHT, BUSIEST_WEIGHT, LOGARITHM_WEIGHT, AVAILABILITY_WEIGHT, RATE_UNIT = range(6)
WEIGHTS = 6


def field_of(case: Case, field: int) -> NDArray[Any]:
    """A whole field, for code that isn't compiled."""
    pool = case.ints if field < WHOLE_FIELDS else case.reals
    last = WHOLE_FIELDS if field < WHOLE_FIELDS else FIELDS
    end = int(case.ints[field + 1]) if field + 1 < last else len(pool)
    return pool[int(case.ints[field]) : end]
