"""What a block costs on a node by itself."""

from __future__ import annotations

from berth.policies.local_search.between import found
from berth.policies.local_search.case import Case
from berth.policies.local_search.fields import (
    NODES,
    POWER,
    PRICE,
    PRICE_FIRST,
    PRICE_NODE,
    PRICE_VALUE,
    SLOWNESS,
)
from berth.policies.local_search.inner import inner


@inner
def price_of(case: Case, block: int, node: int) -> float:
    """What a block costs on a node by itself."""
    ints, reals = case.ints, case.reals
    total = reals[ints[POWER] + block] * reals[ints[SLOWNESS] + node]
    first, last = ints[ints[PRICE_FIRST] + block], ints[ints[PRICE_FIRST] + block + 1]
    if first == last:
        return float(total + reals[ints[PRICE] + block])
    if last - first == ints[NODES]:
        return float(total + reals[ints[PRICE_VALUE] + first + node])
    start = ints[PRICE_NODE]
    entry = found(ints, start + first, start + last, node)
    place = ints[PRICE_VALUE] + entry - start if entry >= 0 else ints[PRICE] + block
    return float(total + reals[place])
