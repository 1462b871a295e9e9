"""What the search minimises: the value, with broken constraints at a price."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.case import Case
from berth.policies.local_search.fields import (
    APPLICATION,
    AVAILABILITY_WEIGHT,
    BUSIEST_WEIGHT,
    LATEST,
    LOADED_WEIGHT,
    LOGARITHM_WEIGHT,
    TIME_WEIGHT,
    USES_TIME,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.outlook import time_range
from berth.policies.local_search.state import (
    BEST_BROKEN,
    BEST_NODE,
    BEST_VALUE,
    BROKEN,
    BUSIEST,
    COST,
    COST_WEIGHT,
    LISTED,
    LOADED,
    LOG_AVAILABILITY,
    LONGEST,
    MARKED,
    NODE,
    PENALTY,
    TIME,
    TOUCHED,
    WORST,
    State,
)
from berth.policies.local_search.times import LATE, late
from berth.space.compiled import compiled

WHOLE = 1e-9
"""What is broken by less is rounding: the judge decides."""


@inner
def value_of(case: Case, cost: float, logarithm: float, time: float, loaded: float, busiest: float) -> float:
    """What is minimised."""
    reals = case.reals
    total = cost + reals[TIME_WEIGHT] * time + reals[LOADED_WEIGHT] * loaded + reals[BUSIEST_WEIGHT] * busiest
    if reals[AVAILABILITY_WEIGHT] != 0.0:
        total += reals[AVAILABILITY_WEIGHT] * np.exp(logarithm)
    return float(total + reals[LOGARITHM_WEIGHT] * logarithm)


@compiled
def current_value(case: Case, state: State) -> float:
    """What is minimised, of the plan as it is."""
    sums = state.reals
    return value_of(case, sums[COST], sums[LOG_AVAILABILITY], sums[TIME], sums[LOADED], sums[BUSIEST])


@inner
def energy(case: Case, state: State) -> float:
    """The value, with what is broken at its price."""
    sums = state.reals
    return float(sums[COST_WEIGHT] * current_value(case, state) + sums[PENALTY] * sums[BROKEN])


@inner
def energy_change(
    case: Case,
    state: State,
    block: int,
    node: int,
    cost: float,
    logarithm: float,
    broken: float,
) -> tuple[float, float]:
    """Between what a move adds to the energy; nothing in between where times don't count."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    change = cost + reals[LOGARITHM_WEIGHT] * logarithm
    if reals[AVAILABILITY_WEIGHT] != 0.0:
        there = sums[LOG_AVAILABILITY]
        change += reals[AVAILABILITY_WEIGHT] * (np.exp(there + logarithm) - np.exp(there))
    change = sums[COST_WEIGHT] * change + sums[PENALTY] * broken
    if not ints[USES_TIME]:
        return change, change
    application = ints[ints[APPLICATION] + block]
    low, high = time_range(case, state, block, node)
    is_worst = application == own[WORST]
    all_low = low if is_worst else max(sums[TIME], low)
    all_high = max(sums[TIME], high)
    limit, now = reals[ints[LATEST] + application], sums[own[LONGEST] + application]
    price, weight = sums[PENALTY] * LATE, sums[COST_WEIGHT] * reals[TIME_WEIGHT]
    lateness = late(now, limit)
    least = change + price * (late(low, limit) - lateness)
    most = change + price * (late(high, limit) - lateness)
    if weight != 0.0:
        least += weight * (all_low - sums[TIME])
        most += weight * (all_high - sums[TIME])
    return least, most


@compiled
def note_best(case: Case, state: State) -> None:
    """Keep the plan if it is the best so far: fewest broken constraints first."""
    own, sums = state.ints, state.reals
    broken = sums[BROKEN]
    if broken > WHOLE:
        if broken >= sums[BEST_BROKEN]:
            return
        sums[BEST_BROKEN] = broken
    else:
        value = current_value(case, state)
        if sums[BEST_BROKEN] <= WHOLE and value >= sums[BEST_VALUE] - 1e-12 * abs(sums[BEST_VALUE]):
            return
        sums[BEST_BROKEN], sums[BEST_VALUE] = 0.0, value
    for number in range(own[TOUCHED]):
        block = own[own[LISTED] + number]
        own[own[BEST_NODE] + block] = own[own[NODE] + block]
        own[own[MARKED] + block] = 0
    own[TOUCHED] = 0
