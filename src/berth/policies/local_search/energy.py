"""What the search minimises: the value, with broken constraints at a price."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.case import Case, FloatArray, IndexArray
from berth.policies.local_search.fields import APPLICATION, LATEST
from berth.policies.local_search.inner import inner
from berth.policies.local_search.state import (
    BROKEN,
    BUSIEST,
    COST,
    LISTED,
    LOADED,
    LOG_AVAILABILITY,
    LONGEST,
    MARKED,
    TIME,
    TOUCHED,
    WORST,
    State,
)
from berth.policies.local_search.times import LATE, late, time_range
from berth.space.compiled import compiled

PENALTY, LEAST_PENALTY, MOST_PENALTY, COST_WEIGHT = range(4)
"""Positions in `weights`."""
BEST_VALUE, BEST_BROKEN, EVALUATED = range(3)
"""Positions in `best`."""
WHOLE = 1e-9
"""What is broken by less is rounding: the judge decides."""


@inner
def value_of(case: Case, cost: float, logarithm: float, time: float, loaded: float, busiest: float) -> float:
    """What is minimised."""
    aims = case.aims
    total = cost + aims.time * time + aims.loaded * loaded + aims.busiest * busiest
    if aims.availability != 0.0:
        total += aims.availability * np.exp(logarithm)
    return total + aims.log_availability * logarithm


@compiled
def current_value(case: Case, state: State) -> float:
    """What is minimised, of the plan as it is."""
    totals = state.totals
    return value_of(
        case, totals[COST], totals[LOG_AVAILABILITY], totals[TIME], totals[LOADED], totals[BUSIEST]
    )


@inner
def energy(case: Case, state: State, weights: FloatArray) -> float:
    """The value, with what is broken at its price."""
    return float(weights[COST_WEIGHT] * current_value(case, state) + weights[PENALTY] * state.totals[BROKEN])


@inner
def energy_change(
    case: Case,
    state: State,
    weights: FloatArray,
    block: int,
    node: int,
    cost: float,
    logarithm: float,
    broken: float,
) -> tuple[float, float]:
    """Between what a move adds to the energy; nothing in between where times don't count."""
    ints, reals = case.ints, case.reals
    aims, totals = case.aims, state.totals
    change = cost + aims.log_availability * logarithm
    if aims.availability != 0.0:
        there = totals[LOG_AVAILABILITY]
        change += aims.availability * (np.exp(there + logarithm) - np.exp(there))
    change = weights[COST_WEIGHT] * change + weights[PENALTY] * broken
    if not aims.uses_time:
        return change, change
    application = ints[ints[APPLICATION] + block]
    low, high = time_range(case, state, block, node)
    is_worst = application == state.numbers[WORST]
    all_low = low if is_worst else max(totals[TIME], low)
    all_high = max(totals[TIME], high)
    limit, now = reals[ints[LATEST] + application], state.application[application, LONGEST]
    price, weight = weights[PENALTY] * LATE, weights[COST_WEIGHT] * aims.time
    lateness = late(now, limit)
    least = change + price * (late(low, limit) - lateness)
    most = change + price * (late(high, limit) - lateness)
    if weight != 0.0:
        least += weight * (all_low - totals[TIME])
        most += weight * (all_high - totals[TIME])
    return least, most


@compiled
def note_best(case: Case, state: State, best: FloatArray, nodes: IndexArray) -> None:
    """Keep the plan if it is the best so far: fewest broken constraints first."""
    broken = state.totals[BROKEN]
    if broken > WHOLE:
        if broken >= best[BEST_BROKEN]:
            return
        best[BEST_BROKEN] = broken
    else:
        value = current_value(case, state)
        if best[BEST_BROKEN] <= WHOLE and value >= best[BEST_VALUE] - 1e-12 * abs(best[BEST_VALUE]):
            return
        best[BEST_BROKEN], best[BEST_VALUE] = 0.0, value
    for number in range(state.numbers[TOUCHED]):
        block = state.noted[number, LISTED]
        nodes[block] = state.node[block]
        state.noted[block, MARKED] = 0
    state.numbers[TOUCHED] = 0
