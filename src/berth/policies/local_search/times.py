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
    real,
    whole,
)
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
from berth.space.compiled import compiled

LATE = 10.0
"""What twice the response time that is asked for counts."""


@compiled
def hop(case: Case, state: State, sender: int, receiver: int) -> float:
    """The delay between two instances; a missing link counts elsewhere."""
    ms = delay_between(
        case, state.node[whole(case, OF_INSTANCE, sender)], state.node[whole(case, OF_INSTANCE, receiver)]
    )
    return 0.0 if np.isnan(ms) else ms


@compiled
def work_of(case: Case, state: State, instance: int) -> float:
    """How long a data unit takes on the instance's node."""
    return real(case, WORK, instance) * real(case, SLOWNESS, state.node[whole(case, OF_INSTANCE, instance)])


@compiled
def done_at(case: Case, state: State, instance: int) -> float:
    """When an instance is done, from its inputs."""
    arrival = 0.0
    for edge in range(whole(case, INPUT_FIRST, instance), whole(case, INPUT_FIRST, instance + 1)):
        sender = whole(case, INPUTS, edge)
        arrival = max(arrival, state.times[sender, DONE] + hop(case, state, sender, instance))
    return arrival + work_of(case, state, instance)


@compiled
def rest_from(case: Case, state: State, instance: int) -> float:
    """How long an instance's results go on, from its outputs."""
    longest = 0.0
    for edge in range(whole(case, OUTPUT_FIRST, instance), whole(case, OUTPUT_FIRST, instance + 1)):
        receiver = whole(case, OUTPUTS, edge)
        onward = (
            hop(case, state, instance, receiver)
            + work_of(case, state, receiver)
            + state.times[receiver, REST]
        )
        longest = max(longest, onward)
    return longest


@compiled
def all_times(case: Case, state: State) -> None:
    """Everything from the beginning."""
    for position in range(case.instances):
        instance = whole(case, INSTANCE, position)
        state.times[instance, DONE] = done_at(case, state, instance)
    for position in range(case.instances - 1, -1, -1):
        instance = whole(case, INSTANCE, position)
        state.times[instance, REST] = rest_from(case, state, instance)
    for application in range(len(state.application)):
        state.application[application, LONGEST] = 0.0
        _find_latest(case, state, application)
    _find_worst(state)


@compiled
def _find_latest(case: Case, state: State, application: int) -> None:
    """The longest path of an application, and what it adds to what is broken."""
    limit = real(case, LATEST, application)
    before = state.application[application, LONGEST]
    latest, slowest = 0.0, whole(case, INSTANCE, whole(case, APPLICATION_FIRST, application))
    for position in range(
        whole(case, APPLICATION_FIRST, application), whole(case, APPLICATION_FIRST, application + 1)
    ):
        instance = whole(case, INSTANCE, position)
        if state.times[instance, DONE] > latest:
            latest, slowest = state.times[instance, DONE], instance
    state.application[application, LONGEST], state.numbers[SLOWEST + application] = latest, slowest
    state.totals[BROKEN] += LATE * (late(latest, limit) - late(before, limit))


@compiled
def late(time: float, limit: float) -> float:
    """How much a response time is beyond what is asked for."""
    return beyond(time, limit, max(limit, 1e-9)) if np.isfinite(limit) else 0.0


@compiled
def _find_worst(state: State) -> None:
    worst = 0
    for application in range(len(state.application)):
        if state.application[application, LONGEST] > state.application[worst, LONGEST]:
            worst = application
    state.numbers[WORST] = worst
    state.totals[TIME] = state.application[worst, LONGEST]


@compiled
def follow_times(case: Case, state: State, block: int) -> None:
    """Bring times up to date after a block has moved."""
    application = whole(case, APPLICATION, block)
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


@compiled
def _follow_done(case: Case, state: State, block: int, application: int) -> bool:
    """Finish times, forward; whether any has changed."""
    end = whole(case, APPLICATION_FIRST, application + 1)
    waiting, position = 0, end
    for number in range(whole(case, MEMBER_FIRST, block), whole(case, MEMBER_FIRST, block + 1)):
        instance = whole(case, MEMBERS, number)
        waiting += _mark(state, whole(case, POSITION, instance))
        position = min(position, whole(case, POSITION, instance))
        for edge in range(whole(case, OUTPUT_FIRST, instance), whole(case, OUTPUT_FIRST, instance + 1)):
            waiting += _mark(state, whole(case, POSITION, whole(case, OUTPUTS, edge)))
    changed = False
    while waiting > 0:
        if state.dirty[position]:
            state.dirty[position] = 0
            waiting -= 1
            instance = whole(case, INSTANCE, position)
            time = done_at(case, state, instance)
            if time != state.times[instance, DONE]:
                state.times[instance, DONE] = time
                changed = True
                for edge in range(
                    whole(case, OUTPUT_FIRST, instance), whole(case, OUTPUT_FIRST, instance + 1)
                ):
                    waiting += _mark(state, whole(case, POSITION, whole(case, OUTPUTS, edge)))
        position += 1
    return changed


@compiled
def _follow_rest(case: Case, state: State, block: int, application: int) -> None:
    """What is left of paths, backward."""
    waiting, position = 0, whole(case, APPLICATION_FIRST, application)
    for number in range(whole(case, MEMBER_FIRST, block), whole(case, MEMBER_FIRST, block + 1)):
        instance = whole(case, MEMBERS, number)
        waiting += _mark(state, whole(case, POSITION, instance))
        position = max(position, whole(case, POSITION, instance))
        for edge in range(whole(case, INPUT_FIRST, instance), whole(case, INPUT_FIRST, instance + 1)):
            waiting += _mark(state, whole(case, POSITION, whole(case, INPUTS, edge)))
    while waiting > 0:
        if state.dirty[position]:
            state.dirty[position] = 0
            waiting -= 1
            instance = whole(case, INSTANCE, position)
            time = rest_from(case, state, instance)
            if time != state.times[instance, REST]:
                state.times[instance, REST] = time
                for edge in range(whole(case, INPUT_FIRST, instance), whole(case, INPUT_FIRST, instance + 1)):
                    waiting += _mark(state, whole(case, POSITION, whole(case, INPUTS, edge)))
            # A receiver's work counts in its senders' rest: those of the block were marked above.
        position -= 1


@compiled
def _mark(state: State, position: int) -> int:
    if state.dirty[position]:
        return 0
    state.dirty[position] = 1
    return 1


@compiled
def time_range(case: Case, state: State, block: int, node: int) -> tuple[float, float]:
    """Between what an application's longest path would be, were a block on a node."""
    latest = state.application[whole(case, APPLICATION, block), LONGEST]
    first = whole(case, MEMBER_FIRST, block)
    if whole(case, MEMBER_FIRST, block + 1) - first > 1:
        return 0.0, np.inf
    instance = whole(case, MEMBERS, first)
    arrival, onward = 0.0, 0.0
    for edge in range(whole(case, INPUT_FIRST, instance), whole(case, INPUT_FIRST, instance + 1)):
        sender = whole(case, INPUTS, edge)
        ms = delay_between(case, state.node[whole(case, OF_INSTANCE, sender)], node)
        arrival = max(arrival, state.times[sender, DONE] + (0.0 if np.isnan(ms) else ms))
    for edge in range(whole(case, OUTPUT_FIRST, instance), whole(case, OUTPUT_FIRST, instance + 1)):
        receiver = whole(case, OUTPUTS, edge)
        ms = delay_between(case, node, state.node[whole(case, OF_INSTANCE, receiver)])
        passed = (0.0 if np.isnan(ms) else ms) + work_of(case, state, receiver) + state.times[receiver, REST]
        onward = max(onward, passed)
    through = arrival + real(case, WORK, instance) * real(case, SLOWNESS, node) + onward
    if through >= latest:
        return through, through
    if state.times[instance, DONE] + state.times[instance, REST] < latest * (1.0 - 1e-12):
        return latest, latest
    # It was on the longest path: how long the next one is isn't known yet.
    return through, latest


@compiled
def loaded_time(case: Case, state: State) -> None:
    """The response time with run queues and transmission (paper 002), all of it anew."""
    worst = 0.0
    for position in range(case.instances):
        instance = whole(case, INSTANCE, position)
        here = state.node[whole(case, OF_INSTANCE, instance)]
        arrival = 0.0
        begin, end = whole(case, INPUT_FIRST, instance), whole(case, INPUT_FIRST, instance + 1)
        for edge in range(begin, end):
            sender = whole(case, INPUTS, edge)
            there = state.node[whole(case, OF_INSTANCE, sender)]
            ms = hop(case, state, sender, instance)
            if here != there and np.isfinite(real(case, CARD_SPEED, there)):
                ms += 1000.0 * real(case, INPUT_BYTES, edge) / real(case, CARD_SPEED, there)
            arrival = max(arrival, state.times[sender, QUEUED] + ms)
        time = 0.0
        if end > begin and whole(case, OUTPUT_FIRST, instance + 1) > whole(case, OUTPUT_FIRST, instance):
            time = work_of(case, state, instance) * max(
                1.0, real(case, RUN_QUEUE, here) + state.place[here, HOSTED]
            )
        state.times[instance, QUEUED] = arrival + time
        worst = max(worst, state.times[instance, QUEUED])
    state.totals[LOADED] = worst
