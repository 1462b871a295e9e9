"""Response times in the search: a move changes only what lies behind and before what has moved."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.between import delay_between
from berth.policies.local_search.case import Case
from berth.policies.local_search.changes import beyond
from berth.policies.local_search.fields import (
    APPLICATION,
    APPLICATION_FIRST,
    APPLICATIONS,
    CARD_SPEED,
    INPUT_BYTES,
    INPUT_FIRST,
    INPUTS,
    INSTANCE,
    INSTANCES,
    LATEST,
    MEMBER_FIRST,
    MEMBERS,
    OF_INSTANCE,
    OUTPUT_FIRST,
    OUTPUTS,
    POSITION,
    RUN_QUEUE,
    SLOWNESS,
    WORK,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.state import (
    BROKEN,
    DIRTY,
    DONE,
    HOSTED,
    LOADED,
    LONGEST,
    NODE,
    QUEUED,
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


@inner
def work_of(case: Case, state: State, instance: int) -> float:
    """How long a data unit takes on the instance's node."""
    ints, reals = case.ints, case.reals
    own = state.ints
    node = own[own[NODE] + ints[ints[OF_INSTANCE] + instance]]
    return float(reals[ints[WORK] + instance] * reals[ints[SLOWNESS] + node])


@inner
def done_at(case: Case, state: State, instance: int) -> float:
    """When an instance is done, from its inputs."""
    ints = case.ints
    own, sums = state.ints, state.reals
    arrival = 0.0
    for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
        sender = ints[ints[INPUTS] + edge]
        arrival = max(arrival, sums[own[DONE] + sender] + hop(case, state, sender, instance))
    return arrival + work_of(case, state, instance)


@inner
def rest_from(case: Case, state: State, instance: int) -> float:
    """How long an instance's results go on, from its outputs."""
    ints = case.ints
    own, sums = state.ints, state.reals
    longest = 0.0
    for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
        receiver = ints[ints[OUTPUTS] + edge]
        onward = (
            hop(case, state, instance, receiver) + work_of(case, state, receiver) + sums[own[REST] + receiver]
        )
        longest = max(longest, onward)
    return longest


@inner
def all_times(case: Case, state: State) -> None:
    """Everything from the beginning."""
    ints = case.ints
    own, sums = state.ints, state.reals
    for position in range(ints[INSTANCES]):
        instance = ints[ints[INSTANCE] + position]
        sums[own[DONE] + instance] = done_at(case, state, instance)
    for position in range(ints[INSTANCES] - 1, -1, -1):
        instance = ints[ints[INSTANCE] + position]
        sums[own[REST] + instance] = rest_from(case, state, instance)
    for application in range(ints[APPLICATIONS]):
        sums[own[LONGEST] + application] = 0.0
        _find_latest(case, state, application)
    _find_worst(case, state)


@inner
def _find_latest(case: Case, state: State, application: int) -> None:
    """The longest path of an application, and what it adds to what is broken."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    limit = reals[ints[LATEST] + application]
    before = sums[own[LONGEST] + application]
    latest, slowest = (
        0.0,
        ints[ints[INSTANCE] + ints[ints[APPLICATION_FIRST] + application]],
    )
    for position in range(
        ints[ints[APPLICATION_FIRST] + application],
        ints[ints[APPLICATION_FIRST] + application + 1],
    ):
        instance = ints[ints[INSTANCE] + position]
        if sums[own[DONE] + instance] > latest:
            latest, slowest = sums[own[DONE] + instance], instance
    sums[own[LONGEST] + application], own[own[SLOWEST] + application] = latest, slowest
    sums[BROKEN] += LATE * (late(latest, limit) - late(before, limit))


@inner
def late(time: float, limit: float) -> float:
    """How much a response time is beyond what is asked for."""
    return beyond(time, limit, max(limit, 1e-9)) if np.isfinite(limit) else 0.0


@inner
def _find_worst(case: Case, state: State) -> None:
    ints = case.ints
    own, sums = state.ints, state.reals
    worst = 0
    for application in range(ints[APPLICATIONS]):
        if sums[own[LONGEST] + application] > sums[own[LONGEST] + worst]:
            worst = application
    own[WORST] = worst
    sums[TIME] = sums[own[LONGEST] + worst]


@inner
def follow_times(case: Case, state: State, block: int) -> None:
    """Bring finish times up to date after a block has moved; `follow_rest` can wait until it stays."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    application = ints[ints[APPLICATION] + block]
    latest = _follow_done(case, state, block, application)
    before = sums[own[LONGEST] + application]
    if latest >= 0 and sums[own[DONE] + latest] > before:
        limit, now = reals[ints[LATEST] + application], sums[own[DONE] + latest]
        sums[own[LONGEST] + application], own[own[SLOWEST] + application] = now, latest
        sums[BROKEN] += LATE * (late(now, limit) - late(before, limit))
    elif sums[own[DONE] + own[own[SLOWEST] + application]] < before:
        _find_latest(case, state, application)
    now = sums[own[LONGEST] + application]
    if application == own[WORST] and now < before:
        _find_worst(case, state)
    elif now > sums[TIME]:
        own[WORST], sums[TIME] = application, now


@inner
def _follow_done(case: Case, state: State, block: int, application: int) -> int:
    """Finish times, forward; which of those that have changed is last, -1 if none has."""
    ints = case.ints
    own, sums = state.ints, state.reals
    end = ints[ints[APPLICATION_FIRST] + application + 1]
    waiting, position = 0, end
    for number in range(ints[ints[MEMBER_FIRST] + block], ints[ints[MEMBER_FIRST] + block + 1]):
        instance = ints[ints[MEMBERS] + number]
        waiting += _mark(state, ints[ints[POSITION] + instance])
        position = min(position, ints[ints[POSITION] + instance])
        for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
            waiting += _mark(state, ints[ints[POSITION] + ints[ints[OUTPUTS] + edge]])
    latest = -1
    while waiting > 0:
        if own[own[DIRTY] + position]:
            own[own[DIRTY] + position] = 0
            waiting -= 1
            instance = ints[ints[INSTANCE] + position]
            time = done_at(case, state, instance)
            if time != sums[own[DONE] + instance]:
                sums[own[DONE] + instance] = time
                if latest < 0 or time > sums[own[DONE] + latest]:
                    latest = instance
                for edge in range(
                    ints[ints[OUTPUT_FIRST] + instance],
                    ints[ints[OUTPUT_FIRST] + instance + 1],
                ):
                    waiting += _mark(state, ints[ints[POSITION] + ints[ints[OUTPUTS] + edge]])
        position += 1
    return latest


@inner
def follow_rest(case: Case, state: State, block: int) -> None:
    """What is left of paths, backward."""
    ints = case.ints
    own, sums = state.ints, state.reals
    waiting, position = 0, 0
    for number in range(ints[ints[MEMBER_FIRST] + block], ints[ints[MEMBER_FIRST] + block + 1]):
        instance = ints[ints[MEMBERS] + number]
        waiting += _mark(state, ints[ints[POSITION] + instance])
        position = max(position, ints[ints[POSITION] + instance])
        for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
            waiting += _mark(state, ints[ints[POSITION] + ints[ints[INPUTS] + edge]])
    while waiting > 0:
        if own[own[DIRTY] + position]:
            own[own[DIRTY] + position] = 0
            waiting -= 1
            instance = ints[ints[INSTANCE] + position]
            time = rest_from(case, state, instance)
            if time != sums[own[REST] + instance]:
                sums[own[REST] + instance] = time
                for edge in range(
                    ints[ints[INPUT_FIRST] + instance],
                    ints[ints[INPUT_FIRST] + instance + 1],
                ):
                    waiting += _mark(state, ints[ints[POSITION] + ints[ints[INPUTS] + edge]])
            # A receiver's work counts in its senders' rest: those of the block were marked above.
        position -= 1


@inner
def _mark(state: State, position: int) -> int:
    own = state.ints
    if own[own[DIRTY] + position]:
        return 0
    own[own[DIRTY] + position] = 1
    return 1


@inner
def time_range(case: Case, state: State, block: int, node: int) -> tuple[float, float]:
    """Between what an application's longest path would be, were a block on a node."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    latest = sums[own[LONGEST] + ints[ints[APPLICATION] + block]]
    first = ints[ints[MEMBER_FIRST] + block]
    if ints[ints[MEMBER_FIRST] + block + 1] - first > 1:
        return 0.0, np.inf
    instance = ints[ints[MEMBERS] + first]
    arrival, onward = 0.0, 0.0
    for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
        sender = ints[ints[INPUTS] + edge]
        ms = delay_between(case, own[own[NODE] + ints[ints[OF_INSTANCE] + sender]], node)
        arrival = max(arrival, sums[own[DONE] + sender] + (0.0 if np.isnan(ms) else ms))
    for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
        receiver = ints[ints[OUTPUTS] + edge]
        ms = delay_between(case, node, own[own[NODE] + ints[ints[OF_INSTANCE] + receiver]])
        passed = (0.0 if np.isnan(ms) else ms) + work_of(case, state, receiver) + sums[own[REST] + receiver]
        onward = max(onward, passed)
    through = arrival + reals[ints[WORK] + instance] * reals[ints[SLOWNESS] + node] + onward
    if through >= latest:
        return through, through
    if sums[own[DONE] + instance] + sums[own[REST] + instance] < latest * (1.0 - 1e-12):
        return latest, latest
    # It was on the longest path: how long the next one is isn't known yet.
    return through, latest


@inner
def loaded_time(case: Case, state: State) -> None:
    """The response time with run queues and transmission (paper 002), all of it anew."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    worst = 0.0
    for position in range(ints[INSTANCES]):
        instance = ints[ints[INSTANCE] + position]
        here = own[own[NODE] + ints[ints[OF_INSTANCE] + instance]]
        arrival = 0.0
        begin, end = (
            ints[ints[INPUT_FIRST] + instance],
            ints[ints[INPUT_FIRST] + instance + 1],
        )
        for edge in range(begin, end):
            sender = ints[ints[INPUTS] + edge]
            there = own[own[NODE] + ints[ints[OF_INSTANCE] + sender]]
            ms = hop(case, state, sender, instance)
            if here != there and np.isfinite(reals[ints[CARD_SPEED] + there]):
                ms += 1000.0 * reals[ints[INPUT_BYTES] + edge] / reals[ints[CARD_SPEED] + there]
            arrival = max(arrival, sums[own[QUEUED] + sender] + ms)
        time = 0.0
        if end > begin and ints[ints[OUTPUT_FIRST] + instance + 1] > ints[ints[OUTPUT_FIRST] + instance]:
            time = work_of(case, state, instance) * max(
                1.0, reals[ints[RUN_QUEUE] + here] + own[own[HOSTED] + here]
            )
        sums[own[QUEUED] + instance] = arrival + time
        worst = max(worst, sums[own[QUEUED] + instance])
    sums[LOADED] = worst
