"""What lies between two nodes, for compiled code."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.case import Case, IndexArray
from berth.policies.local_search.fields import (
    CHECKS_LINKS,
    DELAY,
    DENSE,
    DIMENSIONS,
    FLOW,
    HALF_DUPLEX,
    HEIGHTS,
    LINK_DELAY,
    LINK_FIRST,
    LINK_FLOW,
    LINK_LOG_AVAILABILITY,
    LINK_LOGARITHM,
    LINK_TO,
    LINK_WIDTH,
    LINKED,
    NODES,
    POSITIONS,
    USUAL,
)
from berth.policies.local_search.inner import inner, woven


@inner
def found(numbers: IndexArray, first: int, last: int, wanted: int) -> int:
    """Where a number stands in an ascending part of an array; -1: it doesn't."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if numbers[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first if first < end and numbers[first] == wanted else -1


@inner
def entry_of(case: Case, here: int, there: int) -> int:
    """The place of a link of its own; -1: none."""
    ints = case.ints
    start = ints[LINK_TO]
    first, last = ints[ints[LINK_FIRST] + here], ints[ints[LINK_FIRST] + here + 1]
    entry = found(ints, start + first, start + last, there)
    return entry - start if entry >= 0 else -1


@inner
def distance(case: Case, here: int, there: int) -> float:
    """The delay by coordinates, NaN where there are none."""
    ints, reals = case.ints, case.reals
    if ints[DIMENSIONS] == 0:
        return np.nan
    total = 0.0
    for axis in range(ints[DIMENSIONS]):
        step = (
            reals[ints[POSITIONS] + here * ints[DIMENSIONS] + axis]
            - reals[ints[POSITIONS] + there * ints[DIMENSIONS] + axis]
        )
        total += step * step
    return float(np.sqrt(total) + reals[ints[HEIGHTS] + here] + reals[ints[HEIGHTS] + there])


@woven
def delay_between(case: Case, here: int, there: int) -> float:
    """In ms; NaN: no link."""
    ints, reals = case.ints, case.reals
    if here == there:
        return 0.0
    if ints[DENSE]:
        return float(reals[ints[DELAY] + here * ints[NODES] + there])
    entry = entry_of(case, here, there)
    return reals[ints[LINK_DELAY] + entry] if entry >= 0 else distance(case, here, there)


@inner
def linked_between(case: Case, here: int, there: int) -> bool:
    """Whether a stream can go from one node to the other."""
    ints = case.ints
    if here == there:
        return True
    if ints[DENSE]:
        return not ints[CHECKS_LINKS] or ints[ints[LINKED] + here * ints[NODES] + there] == 1
    return not np.isnan(delay_between(case, here, there))


@inner
def flow_between(case: Case, here: int, there: int) -> float:
    """What a byte per second adds to the cost; 0 without a link."""
    ints, reals = case.ints, case.reals
    if ints[DENSE]:
        return float(reals[ints[FLOW] + here * ints[NODES] + there])
    if here == there:
        return 0.0
    entry = entry_of(case, here, there)
    if entry >= 0:
        return float(reals[ints[LINK_FLOW] + entry])
    ms = distance(case, here, there)
    if np.isnan(ms):
        return 0.0
    usual = ints[USUAL]
    return float(reals[usual] + reals[usual + 1] * ms + reals[usual + 2] * ms * ms)


@inner
def log_availability_between(case: Case, here: int, there: int) -> float:
    """The logarithm of a link's availability."""
    ints, reals = case.ints, case.reals
    if here == there:
        return 0.0
    if ints[DENSE]:
        return float(reals[ints[LINK_LOGARITHM] + here * ints[NODES] + there])
    entry = entry_of(case, here, there)
    return reals[ints[LINK_LOG_AVAILABILITY] + entry] if entry >= 0 else 0.0


@inner
def bandwidth_between(case: Case, here: int, there: int) -> float:
    """Of the logical link."""
    ints, reals = case.ints, case.reals
    if ints[DENSE]:
        return float(reals[ints[LINK_WIDTH] + here * ints[NODES] + there])
    entry = entry_of(case, here, there)
    return reals[ints[LINK_WIDTH] + entry] if entry >= 0 else np.inf


@inner
def link_number(case: Case, here: int, there: int) -> int:
    """The place of a physical link's bandwidth and load; -1: it has no limit."""
    ints = case.ints
    if ints[HALF_DUPLEX] and here > there:
        here, there = there, here
    return here * ints[NODES] + there if ints[DENSE] else entry_of(case, here, there)
