"""Items that go into bins, what a map costs, and the same as a case for the compiled search.

Both stages of paper 001 are such a case: instances into containers, containers onto servers. Items that can
be swapped without any change are one kind, and bins that can be swapped are opened in order: with `symmetry`
the search never looks at two maps that differ in names only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.core import packing as core
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.two_stage.stages import SharedRoom

Words = NDArray[np.uint64]

WORD = 64
PROBED = 16
"""Rows are compared as a whole only where so many of their smallest entries agree."""


@dataclass(frozen=True, eq=False)
class Packing:
    """Items that go into bins, and what a map costs.

    A map costs `per_traffic` x the sum of traffic x distance between the bins of its ends, plus `per_bin` for
    every bin that holds anything.
    """

    demand: FloatArray
    """[items, resources]."""
    room: FloatArray
    """[bins, resources]: what is free, with the judge's tolerance."""
    traffic: FloatArray
    """[items, items], from row to column."""
    distance: FloatArray
    """[bins, bins]; infinite: no traffic can flow."""
    allowed: BoolArray
    """[items, bins]."""
    hosts: BoolArray
    """[items, hosts]: the items in a bin need one host in common; no columns: nothing to check."""
    per_traffic: float = 1.0
    per_bin: float = 0.0
    capacity: FloatArray | None = None
    """[bins, resources] with what others took. Given: full bins are preferred (the second stage).

    It may have fewer columns than `room`: the rest are limits that say nothing about how full a bin is.
    """
    shared: tuple[SharedRoom, ...] = ()
    """Limits on what is in several bins together."""

    @property
    def farthest(self) -> float:
        """All traffic x the greatest distance."""
        apart = self.distance[np.isfinite(self.distance)]
        return float(self.traffic.sum() * apart.max(initial=0.0))

    @property
    def bound(self) -> float:
        """The pessimistic bound: all traffic crosses at the greatest distance, every bin is in use."""
        return self.per_traffic * self.farthest + self.per_bin * len(self.room)

    def cost(self, bins: IndexArray) -> float:
        """What a whole map costs."""
        return self.per_traffic * self._crossing(bins) + self.per_bin * len(np.unique(bins))

    def rest(self, bins: IndexArray) -> float:
        """What decides between maps of the same cost: traffic and bins, both as shares of their most."""
        return self._crossing(bins) / (self.farthest or 1.0) + len(np.unique(bins)) / len(self.room)

    def better(self, one: IndexArray, other: IndexArray) -> bool:
        """Whether a map costs less than another one or, at the same cost, has less of what doesn't count."""
        difference, margin = self.cost(one) - self.cost(other), core.EQUAL * self.bound
        same = abs(difference) <= margin
        return difference < -margin or (same and self.rest(one) < self.rest(other) * (1.0 - core.EQUAL))

    def _crossing(self, bins: IndexArray) -> float:
        distance = self.distance[np.ix_(bins, bins)]
        return float((self.traffic * np.where(self.traffic > 0, distance, 0.0)).sum())


def case_of(packing: Packing, symmetry: bool, near: bool = True) -> tuple[core.Case, IndexArray]:
    """A packing for compiled code, and the kind of every item.

    Args:
        packing: what goes where.
        symmetry: what can be swapped counts as one.
        near: the second stage's score counts traffic with nearby bins, too, by how near they are.
    """
    items, bins = len(packing.demand), len(packing.room)
    kind, before = np.arange(items), np.full(bins, -1, dtype=np.intp)
    capacity = packing.room if packing.capacity is None else packing.capacity
    if symmetry:
        needs = [limit.needed[:, None] for limit in packing.shared]
        places = [limit.place_of[:, None] for limit in packing.shared]
        kind = alike(packing.traffic, [packing.demand, packing.allowed, packing.hosts, *needs])
        before = previous_alike(alike(packing.distance, [packing.room, capacity, packing.allowed.T, *places]))
    first, second = examples(kind)
    kinds = np.arange(len(first))
    traffic = packing.traffic[np.ix_(first, first)]
    # within a kind: from one item to another one
    traffic[kinds, kinds] = packing.traffic[first, second]
    following = np.full(bins, -1, dtype=np.intp)
    following[before[before >= 0]] = np.flatnonzero(before >= 0)
    share, fullness = _fullness(packing, first, capacity)
    exchanged = (packing.traffic + packing.traffic.T).sum(axis=1)
    case = core.Case(
        members=np.bincount(kind, minlength=len(kinds)),
        need=packing.demand[first],
        room=packing.room,
        traffic=traffic,
        allowed=np.ascontiguousarray(packing.allowed[first].T),
        hosts=_words(packing.hosts[first]),
        distance=packing.distance,
        following=following,
        share=share,
        fullness=fullness,
        nearness=_nearness(packing.distance) if near else np.eye(bins),
        shared=[
            core.SharedLimit(limit.needed[first], limit.place_of, limit.room) for limit in packing.shared
        ],
        scale=float(exchanged.max(initial=0.0)) or 1.0,
        uniform=bool((packing.distance[~np.eye(bins, dtype=bool)] == 1.0).all()),
        per_traffic=float(packing.per_traffic),
        per_bin=float(packing.per_bin),
    )
    return case, kind


def _fullness(packing: Packing, first: IndexArray, capacity: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What an item of each kind adds to the fullness of each bin (no rows: it has none), and that now."""
    bins, columns = capacity.shape
    size = np.where(capacity > 0, capacity, np.inf)
    share = np.zeros((0, bins))
    if packing.capacity is not None and columns:
        demand = packing.demand[first][:, None, :columns]
        share = np.ascontiguousarray((demand / size[None, :, :]).mean(axis=2))
    taken = np.maximum(capacity - packing.room[:, :columns], 0.0) / size
    return share, taken.mean(axis=1) if columns else np.zeros(bins)


def _nearness(distance: FloatArray) -> FloatArray:
    both = distance + distance.T
    farthest = both[np.isfinite(both)].max(initial=0.0)
    if farthest == 0.0:
        return np.eye(len(distance))
    return np.ascontiguousarray(np.where(np.isfinite(both), 1.0 - both / farthest, 0.0))


def _words(flags: BoolArray) -> Words:
    """Rows of flags as rows of words."""
    rows, columns = flags.shape
    padded = np.zeros((rows, -(-columns // WORD) * WORD), dtype=bool)
    padded[:, :columns] = flags
    return np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little").view(np.uint64))


def alike(between: FloatArray, features: Sequence[NDArray[Any]]) -> IndexArray:
    """Groups of rows that can be swapped: the same features, and the same numbers between them and others.

    Where two rows can be swapped, and one of them with a third, the other one can, too: a look at one row of
    each group is enough.
    """
    size = len(between)
    group = np.full(size, -1, dtype=np.intp)
    found = 0
    for row in range(size):
        if group[row] >= 0:
            continue
        rest = np.flatnonzero(group < 0)
        for feature in features:
            rest = rest[(feature[rest] == feature[row]).all(axis=1)]
        # whole rows are compared only where the nearest ones agree: on large networks that are few
        near = np.argsort(between[row], kind="stable")[:PROBED]
        agree = (between[rest[:, None], near] == between[row, near]) | (near == row) | (near == rest[:, None])
        rest = rest[agree.all(axis=1)]
        same = _swappable(between, row, rest) & _swappable(between.T, row, rest)
        group[rest[same]] = found
        found += 1
    return group


def _swappable(between: FloatArray, row: int, others: IndexArray) -> NDArray[np.bool_]:
    equal = between[others] == between[row]
    equal[:, row] = True
    equal[np.arange(len(others)), others] = True
    crosswise = between[others, row] == between[row, others]
    return np.asarray(equal.all(axis=1) & crosswise & (between[others, others] == between[row, row]))


def examples(group: IndexArray) -> tuple[IndexArray, IndexArray]:
    """A member of each group, and another one of that group; the same where there is only one."""
    first = np.unique(group, return_index=True)[1]
    last = len(group) - 1 - np.unique(group[::-1], return_index=True)[1]
    return first, last


def previous_alike(group: IndexArray) -> IndexArray:
    """The member before each one in its group; -1: it is the first."""
    before = np.full(len(group), -1, dtype=np.intp)
    order = np.argsort(group, kind="stable")
    again = group[order][1:] == group[order][:-1]
    before[order[1:][again]] = order[:-1][again]
    return before
