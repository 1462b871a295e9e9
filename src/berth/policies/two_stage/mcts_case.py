"""What a search over partial maps works on: items that go into bins, as arrays for compiled code.

Both stages of paper 001 are such a case: instances into containers, containers onto servers. Items that can
be swapped without any change are one kind, and bins that can be swapped are opened in order: with `symmetry`
the search never looks at two maps that differ in names only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.policies.two_stage.mcts_alike import alike, examples, previous_alike

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
Words = NDArray[np.uint64]

WORD = 64
EQUAL = 1e-12
"""Costs that differ by less than this share of the bound are equal."""


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
    """[bins, resources] with what others took. Given: full bins are preferred (the second stage)."""

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
        difference, margin = self.cost(one) - self.cost(other), EQUAL * self.bound
        same = abs(difference) <= margin
        return difference < -margin or (same and self.rest(one) < self.rest(other) * (1.0 - EQUAL))

    def _crossing(self, bins: IndexArray) -> float:
        distance = self.distance[np.ix_(bins, bins)]
        return float((self.traffic * np.where(self.traffic > 0, distance, 0.0)).sum())


class Case(NamedTuple):
    """A packing by kinds of items, for compiled code."""

    members: IndexArray
    """How many items of each kind there are."""
    need: FloatArray
    """[resources, kinds]."""
    room: FloatArray
    traffic: FloatArray
    """[kinds, kinds], from an item of one kind to one of the other."""
    both: FloatArray
    """[kinds, kinds], both ways."""
    allowed: BoolArray
    """[bins, kinds]."""
    hosts: Words
    """[kinds, words]: the hosts of each kind, a bit each."""
    distance: FloatArray
    following: IndexArray
    """The bin that may be opened once this one is in use, as it looks the same; -1: none."""
    waiting: BoolArray
    """Which bins are closed until the one before them is in use."""
    share: FloatArray
    """[kinds, bins]: what an item adds to a bin's fullness; no rows: fullness doesn't count."""
    fullness: FloatArray
    nearness: FloatArray
    """[bins, bins]: 1 within a bin, 0 at the greatest distance."""
    scale: float
    """Traffic of this amount is worth as much as a full bin."""
    uniform: bool
    """Whether all bins are equally far from each other, by 1."""
    per_traffic: float
    per_bin: float


def case_of(packing: Packing, symmetry: bool, near: bool = True) -> tuple[Case, IndexArray]:
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
        kind = alike(packing.traffic, [packing.demand, packing.allowed, packing.hosts])
        before = previous_alike(alike(packing.distance, [packing.room, capacity, packing.allowed.T]))
    first, second = examples(kind)
    kinds = np.arange(len(first))
    traffic = packing.traffic[np.ix_(first, first)]
    # within a kind: from one item to another one
    traffic[kinds, kinds] = packing.traffic[first, second]
    following = np.full(bins, -1, dtype=np.intp)
    following[before[before >= 0]] = np.flatnonzero(before >= 0)
    size = np.where(capacity > 0, capacity, np.inf)
    share = np.zeros((0, bins))
    if packing.capacity is not None and packing.demand.shape[1]:
        share = np.ascontiguousarray((packing.demand[first][:, None, :] / size[None, :, :]).mean(axis=2))
    taken = np.maximum(capacity - packing.room, 0.0) / size
    exchanged = (packing.traffic + packing.traffic.T).sum(axis=1)
    case = Case(
        np.bincount(kind, minlength=len(kinds)).astype(np.intp),
        np.ascontiguousarray(packing.demand[first].T, dtype=np.float64),
        np.ascontiguousarray(packing.room, dtype=np.float64),
        np.ascontiguousarray(traffic),
        np.ascontiguousarray(traffic + traffic.T),
        np.ascontiguousarray(packing.allowed[first].T),
        _words(packing.hosts[first]),
        np.ascontiguousarray(packing.distance, dtype=np.float64),
        following,
        before >= 0,
        share,
        taken.mean(axis=1) if taken.shape[1] else np.zeros(bins),
        _nearness(packing.distance) if near else np.eye(bins),
        float(exchanged.max(initial=0.0)) or 1.0,
        bool((packing.distance[~np.eye(bins, dtype=bool)] == 1.0).all()),
        float(packing.per_traffic),
        float(packing.per_bin),
    )
    return case, kind


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
