"""A fan as arrays: what its ends and its middle take on every place, and what must fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.exact.placement import Placement
from berth.exact.structure.chain import Room, delays_between, work_at
from berth.exact.structure.shape import Fan

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FanArrays:
    """A fan on numbered places; arrays of a missing end are empty."""

    nodes: IndexArray
    source: FloatArray
    sink: FloatArray
    middle: FloatArray
    """[operator, place]: time there; infinite where it may not go."""
    step: FloatArray
    first: FloatArray
    last: FloatArray
    """[resource]: what the two ends need."""
    demand: FloatArray
    """[resource, operator] of the middle."""
    limit: FloatArray

    @property
    def alike(self) -> bool:
        """Whether all operators in the middle are the same."""
        times, needs = self.middle, self.demand
        return bool((times == times[:1]).all()) and bool((needs == needs[:, :1]).all())

    def ends(self) -> Iterator[tuple[int, int, float]]:
        """All places of source and sink (-1: there is none) where they fit, with the time that both take."""
        for a in range(len(self.source)) if len(self.source) else [-1]:
            for b in range(len(self.sink)) if len(self.sink) else [-1]:
                time = (self.source[a] if a >= 0 else 0.0) + (self.sink[b] if b >= 0 else 0.0)
                if np.isfinite(time):
                    yield a, b, float(time)

    def room(self, a: int, b: int) -> FloatArray:
        """What is left beside the ends; below 0 where they don't fit."""
        left = self.limit.copy()
        if a >= 0:
            left[:, a] -= self.first
        if b >= 0:
            left[:, b] -= self.last
        return left

    def delays(self, a: int, b: int) -> FloatArray:
        """[place]: the delays from the source and to the sink."""
        there = self.step[a] if a >= 0 else np.zeros(len(self.nodes))
        return there + (self.step[:, b] if b >= 0 else 0.0)


def fan_of(placement: Placement, fan: Fan, room: Room) -> FanArrays:
    """The arrays of a fan."""
    blocks = np.array(fan.blocks, dtype=np.intp)
    nodes = np.unique(np.concatenate([placement.candidates[block] for block in fan.blocks]))
    needs, limit = room.binding(blocks, nodes)
    count = len(fan.middle)
    none = np.zeros(0)
    ends = [none if end is None else work_at(placement, end, nodes) for end in (fan.source, fan.sink)]
    first = needs[:, count] if fan.source is not None else np.zeros(len(needs))
    last = needs[:, -1] if fan.sink is not None else np.zeros(len(needs))
    middle = np.array([work_at(placement, block, nodes) for block in fan.middle])
    step = delays_between(placement, blocks, nodes)
    return FanArrays(nodes, ends[0], ends[1], middle, step, first, last, needs[:, :count].copy(), limit)
