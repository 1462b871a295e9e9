"""From what has moved to all times that follow from it, each computed once."""

from __future__ import annotations

from berth.policies.local_search.case import Case
from berth.policies.local_search.fields import (
    APPLICATION,
    INPUT_FIRST,
    INPUTS,
    INSTANCE,
    INSTANCES,
    LOADED_WEIGHT,
    MEMBER_FIRST,
    MEMBERS,
    OUTPUT_FIRST,
    OUTPUTS,
    POSITION,
    USES_TIME,
)
from berth.policies.local_search.inner import inner, woven
from berth.policies.local_search.state import (
    AFTER,
    DIRTY,
    DONE,
    FIRST,
    LONGEST,
    MOVED,
    NODE,
    QUEUED,
    QUEUED_REST,
    REST,
    SLOWEST,
    TIME,
    TRIAL_BLOCK,
    TRIAL_NODE,
    WORST,
    State,
)
from berth.policies.local_search.times import (
    done_at,
    find_latest,
    find_loaded,
    find_worst,
    note_longest,
    rest_from,
)


@woven
def mark(state: State, position: int) -> int:
    """Note that an instance must be looked at; 0: it was noted before."""
    own = state.ints
    if own[own[DIRTY] + position]:
        return 0
    own[own[DIRTY] + position] = 1
    return 1


@inner
def seen_before(case: Case, state: State, step: int) -> bool:
    """Whether an earlier move of the trial was in the same application."""
    ints = case.ints
    own = state.ints
    application = ints[ints[APPLICATION] + own[own[TRIAL_BLOCK] + step]]
    for earlier in range(step):
        if ints[ints[APPLICATION] + own[own[TRIAL_BLOCK] + earlier]] == application:
            return True
    return False


@inner
def gather(case: Case, state: State, loaded: bool, made: int, step: int) -> int:
    """Mark and list what a trial's moves have changed in the application of one of them; how many.

    With load, in all applications, and all that shares a node with what has moved.
    """
    ints = case.ints
    own = state.ints
    application = ints[ints[APPLICATION] + own[own[TRIAL_BLOCK] + step]]
    count = 0
    for number in range(made):
        block = own[own[TRIAL_BLOCK] + number]
        if loaded:
            for node in (own[own[TRIAL_NODE] + number], own[own[NODE] + block]):
                other = own[own[FIRST] + node]
                while other >= 0:
                    count = _gather_block(case, state, other, count)
                    other = own[own[AFTER] + other]
        elif ints[ints[APPLICATION] + block] == application:
            count = _gather_block(case, state, block, count)
    return count


@inner
def _gather_block(case: Case, state: State, block: int, count: int) -> int:
    ints = case.ints
    own = state.ints
    for number in range(ints[ints[MEMBER_FIRST] + block], ints[ints[MEMBER_FIRST] + block + 1]):
        instance = ints[ints[MEMBERS] + number]
        if mark(state, ints[ints[POSITION] + instance]):
            own[own[MOVED] + count] = instance
            count += 1
    return count


@inner
def settle(case: Case, state: State, made: int) -> None:
    """A trial's moves stay: all times follow."""
    ints = case.ints
    loaded = ints[INSTANCES] < 0  # a variable: a literal would have all that follows compiled twice
    if ints[USES_TIME]:
        for step in range(made):
            if not seen_before(case, state, step):
                count = gather(case, state, loaded, made, step)
                latest = _forward(case, state, loaded, count)
                _note_latest(case, state, ints[ints[APPLICATION] + own_block(state, step)], latest)
                _backward(case, state, loaded, count)
    if case.reals[LOADED_WEIGHT] != 0.0:
        count = gather(case, state, not loaded, made, 0)
        _forward(case, state, not loaded, count)
        find_loaded(case, state)
        _backward(case, state, not loaded, count)


@inner
def own_block(state: State, step: int) -> int:
    """The block of a trial's move."""
    return int(state.ints[state.ints[TRIAL_BLOCK] + step])


@inner
def _forward(case: Case, state: State, loaded: bool, count: int) -> int:
    """Bring finish times up to date; which of those that have changed is last, -1 if none has."""
    ints = case.ints
    own, sums = state.ints, state.reals
    done = own[QUEUED if loaded else DONE]
    waiting, position = count, ints[INSTANCES]
    for number in range(count):
        instance = own[own[MOVED] + number]
        position = min(position, ints[ints[POSITION] + instance])
        for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
            waiting += mark(state, ints[ints[POSITION] + ints[ints[OUTPUTS] + edge]])
    latest = -1
    while waiting > 0:
        if own[own[DIRTY] + position]:
            own[own[DIRTY] + position] = 0
            waiting -= 1
            instance = ints[ints[INSTANCE] + position]
            time = done_at(case, state, loaded, instance)
            if time != sums[done + instance]:
                sums[done + instance] = time
                if latest < 0 or time > sums[done + latest]:
                    latest = instance
                for edge in range(
                    ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]
                ):
                    waiting += mark(state, ints[ints[POSITION] + ints[ints[OUTPUTS] + edge]])
        position += 1
    return latest


@inner
def _backward(case: Case, state: State, loaded: bool, count: int) -> None:
    """Bring up to date what is left of paths."""
    ints = case.ints
    own, sums = state.ints, state.reals
    rest = own[QUEUED_REST if loaded else REST]
    waiting, position = 0, 0
    for number in range(count):
        # Its work counts in its senders' rest.
        instance = own[own[MOVED] + number]
        waiting += mark(state, ints[ints[POSITION] + instance])
        position = max(position, ints[ints[POSITION] + instance])
        for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
            waiting += mark(state, ints[ints[POSITION] + ints[ints[INPUTS] + edge]])
    while waiting > 0:
        if own[own[DIRTY] + position]:
            own[own[DIRTY] + position] = 0
            waiting -= 1
            instance = ints[ints[INSTANCE] + position]
            time = rest_from(case, state, loaded, instance)
            if time != sums[rest + instance]:
                sums[rest + instance] = time
                for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
                    waiting += mark(state, ints[ints[POSITION] + ints[ints[INPUTS] + edge]])
        position -= 1


@inner
def _note_latest(case: Case, state: State, application: int, latest: int) -> None:
    """The longest path of an application, from who was last and who is last of those that have changed."""
    own, sums = state.ints, state.reals
    before = sums[own[LONGEST] + application]
    if latest >= 0 and sums[own[DONE] + latest] > before:
        note_longest(case, state, application, latest)
    elif sums[own[DONE] + own[own[SLOWEST] + application]] < before:
        find_latest(case, state, application)
    now = sums[own[LONGEST] + application]
    if application == own[WORST] and now < before:
        find_worst(case, state)
    elif now > sums[TIME]:
        own[WORST], sums[TIME] = application, now
