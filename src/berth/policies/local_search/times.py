"""Response times in the search: a move changes only what lies behind and before what has moved."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.between import delay_between
from berth.policies.local_search.case import Case
from berth.policies.local_search.changes import beyond
from berth.policies.local_search.fields import (
    APPLICATION,
    APPLICATION_FIRST,
    CARD_SPEED,
    INPUT_BYTES,
    INPUT_FIRST,
    INPUTS,
    INSTANCE,
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
    DONE,
    HOSTED,
    LOADED,
    LONGEST,
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
    ms = delay_between(
        case,
        state.node[ints[ints[OF_INSTANCE] + sender]],
        state.node[ints[ints[OF_INSTANCE] + receiver]],
    )
    return 0.0 if np.isnan(ms) else ms


@inner
def work_of(case: Case, state: State, instance: int) -> float:
    """How long a data unit takes on the instance's node."""
    ints, reals = case.ints, case.reals
    node = state.node[ints[ints[OF_INSTANCE] + instance]]
    return float(reals[ints[WORK] + instance] * reals[ints[SLOWNESS] + node])


@inner
def done_at(case: Case, state: State, instance: int) -> float:
    """When an instance is done, from its inputs."""
    ints = case.ints
    arrival = 0.0
    for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
        sender = ints[ints[INPUTS] + edge]
        arrival = max(arrival, state.times[sender, DONE] + hop(case, state, sender, instance))
    return arrival + work_of(case, state, instance)


@inner
def rest_from(case: Case, state: State, instance: int) -> float:
    """How long an instance's results go on, from its outputs."""
    ints = case.ints
    longest = 0.0
    for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
        receiver = ints[ints[OUTPUTS] + edge]
        onward = (
            hop(case, state, instance, receiver)
            + work_of(case, state, receiver)
            + state.times[receiver, REST]
        )
        longest = max(longest, onward)
    return longest


@inner
def all_times(case: Case, state: State) -> None:
    """Everything from the beginning."""
    ints = case.ints
    for position in range(case.instances):
        instance = ints[ints[INSTANCE] + position]
        state.times[instance, DONE] = done_at(case, state, instance)
    for position in range(case.instances - 1, -1, -1):
        instance = ints[ints[INSTANCE] + position]
        state.times[instance, REST] = rest_from(case, state, instance)
    for application in range(len(state.application)):
        state.application[application, LONGEST] = 0.0
        _find_latest(case, state, application)
    _find_worst(state)


@inner
def _find_latest(case: Case, state: State, application: int) -> None:
    """The longest path of an application, and what it adds to what is broken."""
    ints, reals = case.ints, case.reals
    limit = reals[ints[LATEST] + application]
    before = state.application[application, LONGEST]
    latest, slowest = (
        0.0,
        ints[ints[INSTANCE] + ints[ints[APPLICATION_FIRST] + application]],
    )
    for position in range(
        ints[ints[APPLICATION_FIRST] + application],
        ints[ints[APPLICATION_FIRST] + application + 1],
    ):
        instance = ints[ints[INSTANCE] + position]
        if state.times[instance, DONE] > latest:
            latest, slowest = state.times[instance, DONE], instance
    state.application[application, LONGEST], state.numbers[SLOWEST + application] = latest, slowest
    state.totals[BROKEN] += LATE * (late(latest, limit) - late(before, limit))


@inner
def late(time: float, limit: float) -> float:
    """How much a response time is beyond what is asked for."""
    return beyond(time, limit, max(limit, 1e-9)) if np.isfinite(limit) else 0.0


@inner
def _find_worst(state: State) -> None:
    worst = 0
    for application in range(len(state.application)):
        if state.application[application, LONGEST] > state.application[worst, LONGEST]:
            worst = application
    state.numbers[WORST] = worst
    state.totals[TIME] = state.application[worst, LONGEST]


@inner
def follow_times(case: Case, state: State, block: int) -> None:
    """Bring times up to date after a block has moved."""
    ints = case.ints
    application = ints[ints[APPLICATION] + block]
    changed = _follow_done(case, state, block, application)
    _follow_rest(case, state, block, application)
    if not changed:
        return
    before = state.application[application, LONGEST]
    _find_latest(case, state, application)
    now = state.application[application, LONGEST]
    if application == state.numbers[WORST] and now < before:
        _find_worst(state)
    elif now > state.totals[TIME]:
        state.numbers[WORST], state.totals[TIME] = application, now


@inner
def _follow_done(case: Case, state: State, block: int, application: int) -> bool:
    """Finish times, forward; whether any has changed."""
    ints = case.ints
    end = ints[ints[APPLICATION_FIRST] + application + 1]
    waiting, position = 0, end
    for number in range(ints[ints[MEMBER_FIRST] + block], ints[ints[MEMBER_FIRST] + block + 1]):
        instance = ints[ints[MEMBERS] + number]
        waiting += _mark(state, ints[ints[POSITION] + instance])
        position = min(position, ints[ints[POSITION] + instance])
        for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
            waiting += _mark(state, ints[ints[POSITION] + ints[ints[OUTPUTS] + edge]])
    changed = False
    while waiting > 0:
        if state.dirty[position]:
            state.dirty[position] = 0
            waiting -= 1
            instance = ints[ints[INSTANCE] + position]
            time = done_at(case, state, instance)
            if time != state.times[instance, DONE]:
                state.times[instance, DONE] = time
                changed = True
                for edge in range(
                    ints[ints[OUTPUT_FIRST] + instance],
                    ints[ints[OUTPUT_FIRST] + instance + 1],
                ):
                    waiting += _mark(state, ints[ints[POSITION] + ints[ints[OUTPUTS] + edge]])
        position += 1
    return changed


@inner
def _follow_rest(case: Case, state: State, block: int, application: int) -> None:
    """What is left of paths, backward."""
    ints = case.ints
    waiting, position = 0, ints[ints[APPLICATION_FIRST] + application]
    for number in range(ints[ints[MEMBER_FIRST] + block], ints[ints[MEMBER_FIRST] + block + 1]):
        instance = ints[ints[MEMBERS] + number]
        waiting += _mark(state, ints[ints[POSITION] + instance])
        position = max(position, ints[ints[POSITION] + instance])
        for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
            waiting += _mark(state, ints[ints[POSITION] + ints[ints[INPUTS] + edge]])
    while waiting > 0:
        if state.dirty[position]:
            state.dirty[position] = 0
            waiting -= 1
            instance = ints[ints[INSTANCE] + position]
            time = rest_from(case, state, instance)
            if time != state.times[instance, REST]:
                state.times[instance, REST] = time
                for edge in range(
                    ints[ints[INPUT_FIRST] + instance],
                    ints[ints[INPUT_FIRST] + instance + 1],
                ):
                    waiting += _mark(state, ints[ints[POSITION] + ints[ints[INPUTS] + edge]])
            # A receiver's work counts in its senders' rest: those of the block were marked above.
        position -= 1


@inner
def _mark(state: State, position: int) -> int:
    if state.dirty[position]:
        return 0
    state.dirty[position] = 1
    return 1


@inner
def time_range(case: Case, state: State, block: int, node: int) -> tuple[float, float]:
    """Between what an application's longest path would be, were a block on a node."""
    ints, reals = case.ints, case.reals
    latest = state.application[ints[ints[APPLICATION] + block], LONGEST]
    first = ints[ints[MEMBER_FIRST] + block]
    if ints[ints[MEMBER_FIRST] + block + 1] - first > 1:
        return 0.0, np.inf
    instance = ints[ints[MEMBERS] + first]
    arrival, onward = 0.0, 0.0
    for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
        sender = ints[ints[INPUTS] + edge]
        ms = delay_between(case, state.node[ints[ints[OF_INSTANCE] + sender]], node)
        arrival = max(arrival, state.times[sender, DONE] + (0.0 if np.isnan(ms) else ms))
    for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
        receiver = ints[ints[OUTPUTS] + edge]
        ms = delay_between(case, node, state.node[ints[ints[OF_INSTANCE] + receiver]])
        passed = (0.0 if np.isnan(ms) else ms) + work_of(case, state, receiver) + state.times[receiver, REST]
        onward = max(onward, passed)
    through = arrival + reals[ints[WORK] + instance] * reals[ints[SLOWNESS] + node] + onward
    if through >= latest:
        return through, through
    if state.times[instance, DONE] + state.times[instance, REST] < latest * (1.0 - 1e-12):
        return latest, latest
    # It was on the longest path: how long the next one is isn't known yet.
    return through, latest


@inner
def loaded_time(case: Case, state: State) -> None:
    """The response time with run queues and transmission (paper 002), all of it anew."""
    ints, reals = case.ints, case.reals
    worst = 0.0
    for position in range(case.instances):
        instance = ints[ints[INSTANCE] + position]
        here = state.node[ints[ints[OF_INSTANCE] + instance]]
        arrival = 0.0
        begin, end = (
            ints[ints[INPUT_FIRST] + instance],
            ints[ints[INPUT_FIRST] + instance + 1],
        )
        for edge in range(begin, end):
            sender = ints[ints[INPUTS] + edge]
            there = state.node[ints[ints[OF_INSTANCE] + sender]]
            ms = hop(case, state, sender, instance)
            if here != there and np.isfinite(reals[ints[CARD_SPEED] + there]):
                ms += 1000.0 * reals[ints[INPUT_BYTES] + edge] / reals[ints[CARD_SPEED] + there]
            arrival = max(arrival, state.times[sender, QUEUED] + ms)
        time = 0.0
        if end > begin and ints[ints[OUTPUT_FIRST] + instance + 1] > ints[ints[OUTPUT_FIRST] + instance]:
            time = work_of(case, state, instance) * max(
                1.0, reals[ints[RUN_QUEUE] + here] + state.place[here, HOSTED]
            )
        state.times[instance, QUEUED] = arrival + time
        worst = max(worst, state.times[instance, QUEUED])
    state.totals[LOADED] = worst
