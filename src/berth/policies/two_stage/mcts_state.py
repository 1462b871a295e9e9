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
    now: Statuses
    """[kinds]: the row of `status` that is being looked at."""


def new_state(case: Case, seed: int) -> State:
    """The empty map."""
    kinds, bins, items = len(case.members), len(case.room), int(case.members.sum())
    words = case.hosts.shape[1]
    may = case.allowed & (case.room[:, None, :] >= case.need.T).all(axis=2) & ~case.waiting[:, None]
    if words:
        may &= case.hosts.any(axis=1)
    full = case.fullness > 0.0 if len(case.share) else np.zeros(bins, dtype=bool)
    status = np.where(may, np.where(full, PREFERRED, PLAIN)[:, None], NO).astype(np.int8)
    counts = np.stack([(status == PLAIN).sum(axis=1), (status == PREFERRED).sum(axis=1)], axis=1)
    fits = may.sum(axis=0).astype(np.intp)
    return State(
        np.array([0, 0, (fits == 0).sum()], dtype=np.intp),
        case.members.copy(),
        case.room.copy(),
        np.zeros((bins, kinds)),
        status,
        np.full((bins, words), np.iinfo(np.uint64).max, dtype=np.uint64),
        np.zeros(bins, dtype=np.intp),
        fits,
        np.concatenate([counts, counts.sum(axis=0, keepdims=True)]).astype(np.intp),
        case.fullness.copy(),
        np.zeros((bins if len(case.share) else 0, kinds)),
        np.zeros(1),
        np.zeros((items, 2), dtype=np.intp),
        np.array([seed], dtype=np.uint64),
        np.zeros(kinds, dtype=np.int8),
    )


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
