"""Response times in the search: when instances are done, and how long their results go on from there.

Twice where both are asked for: as they are, and with run queues and transmission (`loaded`, paper 002).
"""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.between import delay_between
from berth.policies.local_search.case import Case
from berth.policies.local_search.changes import beyond
from berth.policies.local_search.fields import (
    APPLICATION_FIRST,
    APPLICATIONS,
    CARD_SPEED,
    INPUT_BYTES,
    INPUT_FIRST,
    INPUTS,
    INSTANCE,
    INSTANCES,
    LATEST,
    OF_INSTANCE,
    OUTPUT_BYTES,
    OUTPUT_FIRST,
    OUTPUTS,
    RUN_QUEUE,
    SLOWNESS,
    WORK,
)
from berth.policies.local_search.inner import inner, woven
from berth.policies.local_search.state import (
    BROKEN,
    DONE,
    HOSTED,
    LOADED,
    LONGEST,
    NODE,
    QUEUED,
    QUEUED_REST,
    REST,
    SLOWEST,
    TIME,
    WORST,
    State,
)

LATE = 10.0
"""What twice the response time that is asked for counts."""


@inner
def hop(case: Case, state: State, sender: int, receiver: int) -> float:
    """The delay between two instances; a missing link counts elsewhere."""
    ints = case.ints
    own = state.ints
    ms = delay_between(
        case,
        own[own[NODE] + ints[ints[OF_INSTANCE] + sender]],
        own[own[NODE] + ints[ints[OF_INSTANCE] + receiver]],
    )
    return 0.0 if np.isnan(ms) else ms


@woven
def passage(case: Case, state: State, loaded: bool, sender: int, receiver: int, size: int) -> float:
    """How long a data unit is on its way; `size` is where its bytes stand."""
    ints, reals = case.ints, case.reals
    own = state.ints
    here = own[own[NODE] + ints[ints[OF_INSTANCE] + sender]]
    there = own[own[NODE] + ints[ints[OF_INSTANCE] + receiver]]
    if here == there:
        return 0.0
    ms = delay_between(case, here, there)
    ms = 0.0 if np.isnan(ms) else ms
    if loaded and np.isfinite(reals[ints[CARD_SPEED] + here]):
        ms += 1000.0 * reals[size] / reals[ints[CARD_SPEED] + here]
    return ms


@woven
def work_of(case: Case, state: State, loaded: bool, instance: int) -> float:
    """How long a data unit takes on the instance's node."""
    ints, reals = case.ints, case.reals
    own = state.ints
    node = own[own[NODE] + ints[ints[OF_INSTANCE] + instance]]
    time = float(reals[ints[WORK] + instance] * reals[ints[SLOWNESS] + node])
    if not loaded:
        return time
    inputs, outputs = ints[INPUT_FIRST] + instance, ints[OUTPUT_FIRST] + instance
    if ints[inputs] == ints[inputs + 1] or ints[outputs] == ints[outputs + 1]:
        # The ends of paths take no time where load counts.
        return 0.0
    return float(time * max(1.0, reals[ints[RUN_QUEUE] + node] + own[own[HOSTED] + node]))


@woven
def done_at(case: Case, state: State, loaded: bool, instance: int) -> float:
    """When an instance is done, from its inputs."""
    ints = case.ints
    own, sums = state.ints, state.reals
    done, inputs, sizes = own[QUEUED if loaded else DONE], ints[INPUTS], ints[INPUT_BYTES]
    arrival = 0.0
    for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
        sender = ints[inputs + edge]
        ms = passage(case, state, loaded, sender, instance, sizes + edge)
        arrival = max(arrival, sums[done + sender] + ms)
    return arrival + work_of(case, state, loaded, instance)


@inner
def onward(case: Case, state: State, loaded: bool, instance: int, edge: int) -> float:
    """How long an instance's results go on over one of its outputs."""
    ints = case.ints
    own, sums = state.ints, state.reals
    receiver = ints[ints[OUTPUTS] + edge]
    ms = passage(case, state, loaded, instance, receiver, ints[OUTPUT_BYTES] + edge)
    return float(
        ms + work_of(case, state, loaded, receiver) + sums[own[QUEUED_REST if loaded else REST] + receiver]
    )


@inner
def rest_from(case: Case, state: State, loaded: bool, instance: int) -> float:
    """How long an instance's results go on, over all of its outputs."""
    ints = case.ints
    longest = 0.0
    for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
        longest = max(longest, onward(case, state, loaded, instance, edge))
    return longest


@inner
def all_times(case: Case, state: State, loaded: bool) -> None:
    """Everything from the beginning."""
    ints = case.ints
    own, sums = state.ints, state.reals
    done, rest = own[QUEUED if loaded else DONE], own[QUEUED_REST if loaded else REST]
    for position in range(ints[INSTANCES]):
        instance = ints[ints[INSTANCE] + position]
        sums[done + instance] = done_at(case, state, loaded, instance)
    for position in range(ints[INSTANCES] - 1, -1, -1):
        instance = ints[ints[INSTANCE] + position]
        sums[rest + instance] = rest_from(case, state, loaded, instance)
    if loaded:
        find_loaded(case, state)
        return
    for application in range(ints[APPLICATIONS]):
        sums[own[LONGEST] + application] = 0.0
        find_latest(case, state, application)
    find_worst(case, state)


@inner
def slowest_of(case: Case, state: State, done: int, first: int, last: int) -> int:
    """Which instance is done last, of those at some positions."""
    ints = case.ints
    sums = state.reals
    slowest = ints[ints[INSTANCE] + first]
    latest = sums[done + slowest]
    for position in range(first + 1, last):
        instance = ints[ints[INSTANCE] + position]
        if sums[done + instance] > latest:
            latest, slowest = sums[done + instance], instance
    return int(slowest)


@inner
def find_latest(case: Case, state: State, application: int) -> None:
    """The longest path of an application."""
    ints = case.ints
    first = ints[APPLICATION_FIRST] + application
    slowest = slowest_of(case, state, state.ints[DONE], ints[first], ints[first + 1])
    note_longest(case, state, application, slowest)


@inner
def note_longest(case: Case, state: State, application: int, slowest: int) -> None:
    """Who is done last, and what that adds to what is broken."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    limit, before = reals[ints[LATEST] + application], sums[own[LONGEST] + application]
    latest = sums[own[DONE] + slowest]
    sums[own[LONGEST] + application], own[own[SLOWEST] + application] = latest, slowest
    sums[BROKEN] += LATE * (late(latest, limit) - late(before, limit))


@inner
def find_worst(case: Case, state: State) -> None:
    """The application with the longest path."""
    ints = case.ints
    own, sums = state.ints, state.reals
    worst = 0
    for application in range(ints[APPLICATIONS]):
        if sums[own[LONGEST] + application] > sums[own[LONGEST] + worst]:
            worst = application
    own[WORST] = worst
    sums[TIME] = sums[own[LONGEST] + worst]


@inner
def find_loaded(case: Case, state: State) -> None:
    """The longest path of all, with load."""
    own, sums = state.ints, state.reals
    first, last = 0, case.ints[INSTANCES]
    sums[LOADED] = sums[own[QUEUED] + slowest_of(case, state, own[QUEUED], first, last)]


@inner
def late(time: float, limit: float) -> float:
    """How much a response time is beyond what is asked for."""
    return beyond(time, limit, max(limit, 1e-9)) if np.isfinite(limit) else 0.0
