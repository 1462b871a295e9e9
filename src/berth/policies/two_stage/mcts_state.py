"""A partial map for compiled code: what is placed, what may come next, and what the policy prefers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.policies.two_stage.mcts_case import Case, FloatArray, IndexArray, Words
from berth.space.compiled import compiled

Statuses = NDArray[np.int8]

NO, PLAIN, PREFERRED = 0, 1, 2
"""An item of a kind may not go into a bin; it may; it may, with a score above 0."""
PLACED, OPENED, HOPELESS = 0, 1, 2
"""Positions in `State.numbers`."""


class State(NamedTuple):
    """A partial map."""

    numbers: IndexArray
    """[items placed, bins opened, kinds that are left and fit nowhere]."""
    left: IndexArray
    """Items of each kind that have no bin."""
    room: FloatArray
    score: FloatArray
    """[bins, kinds]: traffic between an item of that kind and what the bin holds."""
    status: Statuses
    """[bins, kinds]: NO, PLAIN or PREFERRED."""
    hosts: Words
    """[bins, words]: the hosts that all items in a bin have in common."""
    used: IndexArray
    """Items in each bin."""
    fits: IndexArray
    """In how many bins an item of each kind may go."""
    counts: IndexArray
    """[bins + 1, 2]: PLAIN and PREFERRED kinds in each bin; the last row has the sums."""
    fullness: FloatArray
    near: FloatArray
    """[bins, kinds]: as `score`, with what nearby bins hold by how near they are; no rows: not needed."""
    kept: FloatArray
    """[traffic that stays within bins]."""
    path: IndexArray
    """[items, 2]: kind and bin of every item in the order of placement."""
    random: Words
    """[the state of chance]."""


def new_state(case: Case, seed: int) -> State:
    """The empty map."""
    kinds, bins, items = len(case.members), len(case.room), int(case.members.sum())
    state = State(
        np.zeros(3, dtype=np.intp),
        case.members.copy(),
        case.room.copy(),
        np.zeros((bins, kinds)),
        np.zeros((bins, kinds), dtype=np.int8),
        np.full((bins, case.hosts.shape[1]), np.iinfo(np.uint64).max, dtype=np.uint64),
        np.zeros(bins, dtype=np.intp),
        np.zeros(kinds, dtype=np.intp),
        np.zeros((bins + 1, 2), dtype=np.intp),
        case.fullness.copy(),
        np.zeros((bins if len(case.share) else 0, kinds)),
        np.zeros(1),
        np.zeros((items, 2), dtype=np.intp),
        np.array([seed], dtype=np.uint64),
    )
    state.numbers[HOPELESS] = kinds
    look_at_all(case, state)
    return state


@compiled
def restore(state: State, source: State) -> None:
    """Make a map the same as another one; chance goes on.

    In loops: copies of whole arrays take numba longer to compile, and longer for arrays as small as these.
    """
    bins, kinds = state.status.shape
    for number in range(len(source.numbers)):
        state.numbers[number] = source.numbers[number]
    for kind in range(kinds):
        state.left[kind] = source.left[kind]
        state.fits[kind] = source.fits[kind]
    for place in range(bins):
        state.used[place] = source.used[place]
        state.fullness[place] = source.fullness[place]
        for resource in range(state.room.shape[1]):
            state.room[place, resource] = source.room[place, resource]
        for word in range(state.hosts.shape[1]):
            state.hosts[place, word] = source.hosts[place, word]
        for kind in range(kinds):
            state.score[place, kind] = source.score[place, kind]
            state.status[place, kind] = source.status[place, kind]
    for place in range(bins + 1):
        state.counts[place, 0] = source.counts[place, 0]
        state.counts[place, 1] = source.counts[place, 1]
    for place in range(len(source.near)):
        for kind in range(kinds):
            state.near[place, kind] = source.near[place, kind]
    state.kept[0] = source.kept[0]
    for step in range(source.numbers[PLACED]):
        state.path[step, 0] = source.path[step, 0]
        state.path[step, 1] = source.path[step, 1]


@compiled
def below(random: Words, limit: int) -> int:
    """A random whole number from 0 to below a limit (splitmix64)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word = word ^ (word >> np.uint64(31))
    return int(((word >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@compiled
def change(
    status: Statuses,
    counts: IndexArray,
    fits: IndexArray,
    numbers: IndexArray,
    place: int,
    kind: int,
    now: int,
) -> None:
    """Set whether a kind, of which items are left or were until now, may go into a bin; count that."""
    was = status[place, kind]
    last = len(counts) - 1
    if was != NO:
        counts[place, was - 1] -= 1
        counts[last, was - 1] -= 1
        fits[kind] -= 1
        if fits[kind] == 0:
            numbers[HOPELESS] += 1
    if now != NO:
        counts[place, now - 1] += 1
        counts[last, now - 1] += 1
        fits[kind] += 1
        if fits[kind] == 1:
            numbers[HOPELESS] -= 1
    status[place, kind] = now


@compiled
def status_of(case: Case, state: State, kind: int, place: int, full: bool) -> int:
    """Whether a kind may go into a bin, and is preferred there."""
    words = case.hosts.shape[1]
    fits = case.allowed[place, kind]
    for resource in range(case.need.shape[1]):
        fits &= case.need[kind, resource] <= state.room[place, resource]
    common = words == 0
    for word in range(words):
        common |= state.hosts[place, word] & case.hosts[kind, word] != 0
    preferred = full | (state.score[place, kind] > 0.0)
    return int(fits & common) * (1 + int(preferred))


@compiled
def look_at_all(case: Case, state: State) -> None:
    """Find out who may go into which bin."""
    for place in range(len(state.used)):
        full = len(case.share) > 0 and state.fullness[place] > 0.0
        if not case.waiting[place]:
            for kind in range(len(case.members)):
                now = status_of(case, state, kind, place, full)
                change(state.status, state.counts, state.fits, state.numbers, place, kind, now)
