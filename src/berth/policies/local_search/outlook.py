"""What moves would do to the longest paths, before their times are followed to the end."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.between import delay_between
from berth.policies.local_search.case import Case
from berth.policies.local_search.fields import (
    APPLICATION,
    APPLICATION_FIRST,
    APPLICATIONS,
    INPUT_FIRST,
    INPUTS,
    INSTANCE,
    INSTANCES,
    LATEST,
    LOADED_WEIGHT,
    MEMBER_FIRST,
    MEMBERS,
    OF_INSTANCE,
    OUTPUT_FIRST,
    OUTPUTS,
    POSITION,
    SLOWNESS,
    TIME_WEIGHT,
    USES_TIME,
    WORK,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.spread import gather, mark, own_block, seen_before
from berth.policies.local_search.state import (
    BROKEN,
    COST_WEIGHT,
    DIRTY,
    DONE,
    LOADED,
    LONGEST,
    MOVED,
    NODE,
    PENALTY,
    QUEUED,
    QUEUED_REST,
    REST,
    TIME,
    UNDO,
    UNDO_DONE,
    WORST,
    State,
)
from berth.policies.local_search.times import LATE, done_at, late, onward, slowest_of, work_of

ROUNDING = 1e-12


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
    loaded = instance < 0
    arrival, left = 0.0, 0.0
    for edge in range(ints[ints[INPUT_FIRST] + instance], ints[ints[INPUT_FIRST] + instance + 1]):
        sender = ints[ints[INPUTS] + edge]
        ms = delay_between(case, own[own[NODE] + ints[ints[OF_INSTANCE] + sender]], node)
        arrival = max(arrival, sums[own[DONE] + sender] + (0.0 if np.isnan(ms) else ms))
    for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
        receiver = ints[ints[OUTPUTS] + edge]
        ms = delay_between(case, node, own[own[NODE] + ints[ints[OF_INSTANCE] + receiver]])
        passed = work_of(case, state, loaded, receiver) + sums[own[REST] + receiver]
        left = max(left, (0.0 if np.isnan(ms) else ms) + passed)
    through = arrival + reals[ints[WORK] + instance] * reals[ints[SLOWNESS] + node] + left
    if through >= latest:
        return through, through
    if sums[own[DONE] + instance] + sums[own[REST] + instance] < latest * (1.0 - ROUNDING):
        return latest, latest
    # It was on the longest path: how long the next one is isn't known yet.
    return through, latest


@inner
def path_change(case: Case, state: State, made: int, room: float, exact: bool) -> tuple[float, float]:
    """Between what a trial's moves add to the energy by longer paths; the times are still the old ones.

    Where it is more than there is room for, it need not be told how much more.
    """
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    least, most = 0.0, 0.0
    loaded = made < 0
    if ints[USES_TIME]:
        price, weight = sums[PENALTY] * LATE, sums[COST_WEIGHT] * reals[TIME_WEIGHT]
        shortest, longest, with_worst = 0.0, 0.0, False
        # Where applications are late, others may make up for one that takes longer.
        most_ms = sums[TIME] + room / weight if weight > 0.0 and sums[BROKEN] <= 0.0 else np.inf
        for step in range(made):
            if seen_before(case, state, step):
                continue
            application = ints[ints[APPLICATION] + own_block(state, step)]
            now, limit = sums[own[LONGEST] + application], reals[ints[LATEST] + application]
            count = gather(case, state, loaded, made, step)
            first = ints[APPLICATION_FIRST] + application
            low, high = _range(case, state, loaded, count, now, most_ms, ints[first], ints[first + 1], exact)
            least += price * (late(low, limit) - late(now, limit))
            most += price * (late(high, limit) - late(now, limit))
            shortest, longest = max(shortest, low), max(longest, high)
            with_worst = with_worst or application == own[WORST]
        if weight != 0.0:
            if not with_worst:
                shortest = max(shortest, sums[TIME])
            elif exact:
                shortest = max(shortest, _longest_of_others(case, state, made))
            least += weight * (shortest - sums[TIME])
            most += weight * ((shortest if exact else max(longest, sums[TIME])) - sums[TIME])
    if reals[LOADED_WEIGHT] != 0.0:
        weight, now = sums[COST_WEIGHT] * reals[LOADED_WEIGHT], sums[LOADED]
        begin = made * 0
        most_ms = now + (room - least) / weight if weight > 0.0 else np.inf
        count = gather(case, state, not loaded, made, begin)
        low, high = _range(case, state, not loaded, count, now, most_ms, begin, ints[INSTANCES], exact)
        least += weight * (low - now)
        most += weight * (high - now)
    return least, most


@inner
def _longest_of_others(case: Case, state: State, made: int) -> float:
    """The longest path of the applications in which nothing has moved."""
    ints = case.ints
    own, sums = state.ints, state.reals
    longest = 0.0
    for application in range(ints[APPLICATIONS]):
        if sums[own[LONGEST] + application] > longest:
            step = 0
            while step < made and ints[ints[APPLICATION] + own_block(state, step)] != application:
                step += 1
            if step == made:
                longest = sums[own[LONGEST] + application]
    return float(longest)


@inner
def _range(
    case: Case,
    state: State,
    loaded: bool,
    count: int,
    latest: float,
    most: float,
    begin: int,
    end: int,
    exact: bool,
) -> tuple[float, float]:
    """Between what the longest path of all instances at some positions is, given those that have changed.

    Finish times are followed up to the last that has changed: behind it, what is left of paths is known.
    Where the longest path led through any of them, only an exact answer sees the next one. Beyond the most
    that is of interest, nothing is followed.
    """
    ints = case.ints
    own, sums = state.ints, state.reals
    done, rest = own[QUEUED if loaded else DONE], own[QUEUED_REST if loaded else REST]
    first, last, critical = end, begin, False
    for number in range(count):
        instance = own[own[MOVED] + number]
        position = ints[ints[POSITION] + instance]
        first, last = min(first, position), max(last, position)
        critical = critical or sums[done + instance] + sums[rest + instance] >= latest * (1.0 - ROUNDING)
    if exact:
        last, most = end - 1, np.inf
    for number in range(count):
        instance = own[own[MOVED] + number]
        for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
            position = ints[ints[POSITION] + ints[ints[OUTPUTS] + edge]]
            if position <= last:
                mark(state, position)
    through, changes = 0.0, 0
    for position in range(first, last + 1):
        if not own[own[DIRTY] + position]:
            continue
        own[own[DIRTY] + position] = 0
        if through > most:
            continue
        instance = ints[ints[INSTANCE] + position]
        time, before = done_at(case, state, loaded, instance), sums[done + instance]
        through = max(through, time)
        if time != before:
            own[own[UNDO] + changes], sums[own[UNDO_DONE] + changes] = instance, before
            changes += 1
            sums[done + instance] = time
        for edge in range(ints[ints[OUTPUT_FIRST] + instance], ints[ints[OUTPUT_FIRST] + instance + 1]):
            following = ints[ints[POSITION] + ints[ints[OUTPUTS] + edge]]
            if following > last:
                through = max(through, time + onward(case, state, loaded, instance, edge))
            elif time != before:
                mark(state, following)
    if exact:
        through = sums[done + slowest_of(case, state, done, begin, end)]
    for number in range(changes):
        sums[done + own[own[UNDO] + number]] = sums[own[UNDO_DONE] + number]
    if exact or through >= latest:
        return float(through), float(through)
    return (through, latest) if critical else (latest, latest)
