"""Containers as they fill up, and servers by Nomad's best fit: what fits where, and why not."""

from __future__ import annotations

import numpy as np

from berth.budget import Budget
from berth.evaluation.limits import amount
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.two_stage.stages import Assigned, StageOne, StageTwo, Stuck, TwoStageParameters

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
        self.room: FloatArray = stage.room.copy()
        self.room[:, : len(stage.resources)] -= padding * stage.capacity
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
        free = self.room[:, : len(self._stage.resources)]
        return np.divide(free, capacity, out=np.zeros_like(capacity), where=capacity > 0)

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
        if (stage.demand[instance] > stage.room[0]).any():
            return Stuck(f"{at}: it fits on no server, by a rule or its processor")
        if not stage.group_servers[stage.group[instance]].any():
            return Stuck(f"{at}: no server that may host it has room for a container")
        if self._most is not None and (self.held >= self._most).any():
            kept += f" (at most {self._most} instances in each)"
        servers = "" if self._servers is None else " and can go to a server that may host it"
        return Stuck(
            f"{at}: none of the {stage.count} containers has room left{kept}{servers}; "
            "more or larger ones may help"
        )


def best_fit(
    stage: StageTwo, generator: np.random.Generator, parameters: TwoStageParameters, _budget: Budget
) -> Assigned | Stuck:
    """Containers in the order of their numbers, each onto the server with the best score."""
    room, shared = stage.room.copy(), [limit._replace(room=limit.room.copy()) for limit in stage.shared]
    resources = slice(len(stage.resources))
    servers = np.full(len(stage.names), -1, dtype=np.intp)
    # Who has no choice comes first: others must not take the only room there is.
    for container in np.argsort(stage.allowed.sum(axis=1) > 1, kind="stable").tolist():
        size = stage.size[container]
        fits = stage.allowed[container] & (size <= room).all(axis=1)
        for limit in shared:
            fits &= limit.fits(container)
        found = np.flatnonzero(fits)
        if len(found) == 0:
            return Stuck(_why(stage, container))
        if parameters.limit == "nomad":
            found = _drawn(found, len(stage.servers), generator)
        # what a container takes nothing of doesn't tell how well it fits
        taken = size[resources] > 0
        left = (room[found] - size)[:, resources]
        score = fit_score(left[:, taken], stage.capacity[found][:, taken])
        servers[container] = chosen = found[np.argmax(score >= score.max() - TIE)]
        room[chosen] -= size
        for limit in shared:
            limit.room[limit.place_of[chosen]] -= limit.needed[container]
    return Assigned(servers)


def fit_score(left: FloatArray, capacity: FloatArray) -> FloatArray:
    """How full servers are, from 0 to 1, when so much is left of their resources.

    Nomad's 20 - 10^cpu - 10^memory of the free shares, for any number of resources.

    Args:
        left: [servers, resources] what is free.
        capacity: [servers, resources] what there is; a resource that a server has none of counts as full.
    """
    count = left.shape[1]
    if count == 0:
        return np.zeros(len(left))
    free = np.divide(left, capacity, out=np.zeros_like(left), where=capacity > 0)
    score = 10.0 * count - (10.0**free).sum(axis=1)
    return np.asarray(np.clip(score, 0.0, 9.0 * count) / (9.0 * count))


def _drawn(found: IndexArray, servers: int, generator: np.random.Generator) -> IndexArray:
    """The servers that Nomad looks at: of those with room a few, in a random order, then by number."""
    count = max(2, (servers - 1).bit_length())
    return np.sort(generator.permutation(found)[:count])


def _why(stage: StageTwo, container: int) -> str:
    at = f"stuck at container {stage.names[container]}"
    if not stage.allowed[container].any():
        return f"{at}: no server may host all instances in it"
    size = zip(stage.resources, stage.size[container].tolist(), strict=False)
    needed = ", ".join(f"{name} {amount(value)}" for name, value in size)
    return f"{at}: no server that may host it has room for {needed}"
