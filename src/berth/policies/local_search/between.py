"""What lies between two nodes, for compiled code."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.case import Case
from berth.policies.local_search.fields import (
    HEIGHTS,
    LINK_DELAY,
    LINK_FIRST,
    LINK_FLOW,
    LINK_LOG_AVAILABILITY,
    LINK_TO,
    POSITIONS,
    USUAL,
    real,
    whole,
)
from berth.space.compiled import compiled


@compiled
def found(case: Case, field: int, first: int, last: int, wanted: int) -> int:
    """Where a number stands in an ascending part of a field; -1: it doesn't."""
    end = last
    while first < last:
        middle = (first + last) >> 1
        if whole(case, field, middle) < wanted:
            first = middle + 1
        else:
            last = middle
    return first if first < end and whole(case, field, first) == wanted else -1


@compiled
def entry_of(case: Case, here: int, there: int) -> int:
    """The place of a link of its own; -1: none."""
    return found(case, LINK_TO, whole(case, LINK_FIRST, here), whole(case, LINK_FIRST, here + 1), there)


@compiled
def distance(case: Case, here: int, there: int) -> float:
    """The delay by coordinates, NaN where there are none."""
    if case.dimensions == 0:
        return np.nan
    total = 0.0
    for axis in range(case.dimensions):
        step = real(case, POSITIONS, here * case.dimensions + axis) - real(
            case, POSITIONS, there * case.dimensions + axis
        )
        total += step * step
    return np.sqrt(total) + real(case, HEIGHTS, here) + real(case, HEIGHTS, there)


@compiled
def delay_between(case: Case, here: int, there: int) -> float:
    """In ms; NaN: no link."""
    if here == there:
        return 0.0
    if case.dense:
        return case.delay[here * case.nodes + there]
    entry = entry_of(case, here, there)
    return real(case, LINK_DELAY, entry) if entry >= 0 else distance(case, here, there)


@compiled
def linked_between(case: Case, here: int, there: int) -> bool:
    """Whether a stream can go from one node to the other."""
    if here == there:
        return True
    if case.dense:
        return not case.checks_links or case.linked[here * case.nodes + there] == 1
    return not np.isnan(delay_between(case, here, there))


@compiled
def flow_between(case: Case, here: int, there: int) -> float:
    """What a byte per second adds to the cost; 0 without a link."""
    if case.dense:
        return case.flow[here * case.nodes + there]
    if here == there:
        return 0.0
    entry = entry_of(case, here, there)
    if entry >= 0:
        return real(case, LINK_FLOW, entry)
    ms = distance(case, here, there)
    if np.isnan(ms):
        return 0.0
    return real(case, USUAL, 0) + real(case, USUAL, 1) * ms + real(case, USUAL, 2) * ms * ms


@compiled
def log_availability_between(case: Case, here: int, there: int) -> float:
    """The logarithm of a link's availability."""
    if here == there:
        return 0.0
    if case.dense:
        return case.log_availability[here * case.nodes + there]
    entry = entry_of(case, here, there)
    return real(case, LINK_LOG_AVAILABILITY, entry) if entry >= 0 else 0.0


@compiled
def bandwidth_between(case: Case, here: int, there: int) -> float:
    """Of the logical link."""
    if case.dense:
        return case.link_bandwidth[here * case.nodes + there]
    entry = entry_of(case, here, there)
    return case.link_bandwidth[entry] if entry >= 0 else np.inf


@compiled
def link_number(case: Case, here: int, there: int) -> int:
    """The place of a physical link's bandwidth and load; -1: it has no limit."""
    if case.half_duplex and here > there:
        here, there = there, here
    return here * case.nodes + there if case.dense else entry_of(case, here, there)
