"""From a partial map to a whole one: one action, or all that are missing by the preferred policy."""

from __future__ import annotations

from berth.policies.two_stage.mcts_case import Case, IndexArray, Words
from berth.policies.two_stage.mcts_state import (
    HOPELESS,
    NO,
    OPENED,
    PLACED,
    PLAIN,
    PREFERRED,
    State,
    Statuses,
    below,
    change,
)
from berth.space.compiled import compiled

ROLL_OUT = -1
TOP = 1.0 - 1e-9
"""Scores above this share of the best one are equal to it but for rounding."""


@compiled
def advance(case: Case, state: State, kind: int, place: int) -> None:
    """Place an item of a kind into a bin; ROLL_OUT: go on by the preferred policy while that is possible.

    One function with all its loops: handing so many arrays on costs more than the work between two steps.
    """
    items, kinds, words = len(state.path), len(case.members), case.hosts.shape[1]
    rolls = kind == ROLL_OUT
    going = not rolls or (state.numbers[PLACED] < items and state.numbers[HOPELESS] == 0)
    while going:
        if rolls:
            kind, place = (
                _preferred(case, state)
                if len(case.share) > 0
                else _uniform(state.status, state.counts, state.random)
            )
        step = state.numbers[PLACED]
        state.path[step, 0] = kind
        state.path[step, 1] = place
        state.numbers[PLACED] = step + 1
        state.kept[0] += state.score[place, kind]
        state.left[kind] -= 1
        if state.left[kind] == 0:
            for other in range(len(state.used)):
                change(state.status, state.counts, state.fits, state.numbers, other, kind, NO)
            # nothing of it is left that could be without a bin
            state.numbers[HOPELESS] -= 1
        for resource in range(len(case.need)):
            state.room[place, resource] -= case.need[resource, kind]
        for other in range(kinds):
            state.score[place, other] += case.both[kind, other]
        for word in range(words):
            state.hosts[place, word] &= case.hosts[kind, word]
        if len(case.share) > 0:
            state.fullness[place] += case.share[kind, place]
            for there in range(len(state.used)):
                for other in range(kinds):
                    state.near[there, other] += case.both[kind, other] * case.nearness[place, there]
        state.used[place] += 1
        # a bin is looked at again when something was put into it, or may be from now on
        looked = place
        if state.used[place] == 1:
            state.numbers[OPENED] += 1
            if case.following[place] >= 0:
                looked = case.following[place]
        while looked >= 0:
            full = len(case.share) > 0 and state.fullness[looked] > 0.0
            now = state.now
            for other in range(kinds):
                now[other] = case.allowed[looked, other] & (state.left[other] > 0)
            for resource in range(len(case.need)):
                free = state.room[looked, resource]
                for other in range(kinds):
                    now[other] &= case.need[resource, other] <= free
            if words > 0:
                for other in range(kinds):
                    common = False
                    for word in range(words):
                        common |= state.hosts[looked, word] & case.hosts[other, word] != 0
                    now[other] &= common
            for other in range(kinds):
                now[other] *= 1 + (full | (state.score[looked, other] > 0.0))
            # as `change` does for one kind, without a branch for all of them
            plain, preferred, hopeless = 0, 0, 0
            for other in range(kinds):
                was, new = state.status[looked, other], now[other]
                before = state.fits[other]
                after = before + (new != NO) - (was != NO)
                state.fits[other] = after
                hopeless += (after == 0) & (before == 1)
                hopeless -= (after == 1) & (before == 0)
                plain += (new == PLAIN) - (was == PLAIN)
                preferred += (new == PREFERRED) - (was == PREFERRED)
                state.status[looked, other] = new
            for row in (looked, len(state.used)):
                state.counts[row, PLAIN - 1] += plain
                state.counts[row, PREFERRED - 1] += preferred
            state.numbers[HOPELESS] += hopeless
            looked = place if looked != place else -1
        going = rolls and state.numbers[PLACED] < items and state.numbers[HOPELESS] == 0


@compiled
def crossing_of(case: Case, state: State, total: float) -> float:
    """Traffic x distance of a whole map; infinite where traffic has no way."""
    crossing = 0.0
    if case.uniform:
        crossing = total - state.kept[0]
        # what rounding leaves of all traffic is nothing
        crossing = crossing if crossing > 1e-12 * total else 0.0
    else:
        for one in range(state.numbers[PLACED]):
            kind, place = state.path[one, 0], state.path[one, 1]
            for other in range(one):
                partner, there = state.path[other, 0], state.path[other, 1]
                # no traffic needs no link: 0 x infinity is not a number
                if place != there and case.traffic[kind, partner] > 0.0:
                    crossing += case.traffic[kind, partner] * case.distance[place, there]
                if place != there and case.traffic[partner, kind] > 0.0:
                    crossing += case.traffic[partner, kind] * case.distance[there, place]
    return crossing


@compiled
def _uniform(status: Statuses, counts: IndexArray, random: Words) -> tuple[int, int]:
    """Any action with a score, else any."""
    last = len(counts) - 1
    wanted = PREFERRED if counts[last, PREFERRED - 1] > 0 else PLAIN
    nth = below(random, counts[last, wanted - 1])
    place = 0
    while nth >= counts[place, wanted - 1]:
        nth -= counts[place, wanted - 1]
        place += 1
    kind = -1
    while nth >= 0:
        kind += 1
        if status[place, kind] == wanted:
            nth -= 1
    return kind, place


@compiled
def _preferred(case: Case, state: State) -> tuple[int, int]:
    """One of the actions with the highest score: traffic with a bin and those nearby, and how full it is."""
    best, found, chosen_kind, chosen_place = -1.0, 0, 0, 0
    for place in range(len(state.used)):
        for kind in range(len(case.members)):
            if state.status[place, kind] == NO:
                continue
            score = state.near[place, kind] / case.scale + state.fullness[place]
            if score * TOP > best:
                best, found = score, 0
            if score >= best * TOP:
                found += 1
                if found == 1 or below(state.random, found) == 0:
                    chosen_kind, chosen_place = kind, place
    return chosen_kind, chosen_place
