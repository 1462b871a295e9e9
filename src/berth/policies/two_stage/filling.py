"""Containers as they fill up: what fits where, and why something fits nowhere."""

from __future__ import annotations

import numpy as np

from berth.evaluation.limits import amount
from berth.policies.two_stage.stages import BoolArray, FloatArray, IndexArray, StageOne, Stuck

TIE = 1e-9
"""Scores that differ by less, relative to the largest there can be, are equal: float sums are not exact."""


class Filling:
    """Instances put into containers one by one."""

    def __init__(self, stage: StageOne, padding: float = 0.0, most: int | None = None) -> None:
        """Start with empty containers.

        Args:
            stage: instances and containers.
            padding: the share of every container that is kept free.
            most: how many instances a container may hold; None: any number.
        """
        self._stage = stage
        self._padding = padding
        self._most = most
        self.room: FloatArray = stage.room - padding * stage.capacity
        self.held: IndexArray = np.zeros(len(stage.room), dtype=np.intp)
        """How many instances are in each container."""
        self.bins: IndexArray = np.full(len(stage.names), -1, dtype=np.intp)
        """The container of each instance; -1: not yet in one."""
        # The servers that each container may still go to; of no interest where all instances have the same.
        self._servers: BoolArray | None = None
        if len(stage.group_servers) > 1:
            self._servers = np.ones((len(stage.room), stage.group_servers.shape[1]), dtype=bool)

    @property
    def free_share(self) -> FloatArray:
        """What is free of each container, as shares of its capacity: a row each."""
        capacity = self._stage.capacity
        return np.divide(self.room, capacity, out=np.zeros_like(capacity), where=capacity > 0)

    def fits(self, instance: int) -> BoolArray:
        """The containers that have room for an instance and can still go to a server that may host it."""
        fits = (self._stage.demand[instance] <= self.room).all(axis=1)
        if self._most is not None:
            fits &= self.held < self._most
        if self._servers is not None:
            there = self._stage.group_servers[self._stage.group[instance]]
            fits &= (self._servers & there).any(axis=1)
        return np.asarray(fits)

    def put(self, instance: int, container: int) -> None:
        """An instance is in a container now."""
        self.bins[instance] = container
        self.held[container] += 1
        self.room[container] -= self._stage.demand[instance]
        if self._servers is not None:
            self._servers[container] &= self._stage.group_servers[self._stage.group[instance]]

    def least(self, fits: BoolArray, score: FloatArray, largest: float, empty_first: bool = False) -> int:
        """The container with the least score among those that fit; ties: one in use, then the first.

        Args:
            fits: the containers to choose from, at least one.
            score: of every container.
            largest: the size of what scores are sums of; differences far below it are rounding.
            empty_first: ties go to an empty one instead.
        """
        found = np.flatnonzero(fits)
        best = found[score[found] <= score[found].min() + TIE * largest]
        return int(best[np.argmax((self.held[best] == 0) == empty_first)])

    def traffic_with(self, instance: int) -> FloatArray:
        """What an instance exchanges with those in each container."""
        ends = slice(self._stage.start[instance], self._stage.start[instance + 1])
        there = self.bins[self._stage.neighbour[ends]]
        placed = there >= 0
        rates = self._stage.rate[ends][placed]
        return np.bincount(there[placed], rates, minlength=len(self.held)).astype(np.float64)

    def stuck(self, instance: int) -> Stuck:
        """Why an instance fits nowhere."""
        stage, at = self._stage, f"stuck at {self._stage.names[instance]}"
        kept = f" less {amount(self._padding)} of it as padding" if self._padding else ""
        for column, resource in enumerate(stage.resources):
            needed, there = stage.demand[instance, column], stage.capacity[0, column]
            if needed > stage.room[0, column] - self._padding * there:
                size = f"{resource} {amount(needed)} needed, a container has {amount(there)}{kept}"
                return Stuck(f"{at}: it fits no container: {size}")
        if not stage.group_servers[stage.group[instance]].any():
            return Stuck(f"{at}: no server that may host it has room for a container")
        if self._most is not None and (self.held >= self._most).any():
            kept += f" (at most {self._most} instances in each)"
        servers = "" if self._servers is None else " and can go to a server that may host it"
        return Stuck(
            f"{at}: none of the {stage.count} containers has room left{kept}{servers}; "
            "more or larger ones may help"
        )
