"""The first stage as an exact model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from berth.budget import Budget
from berth.evaluation.limits import TOLERANCE
from berth.exact.cpsat.containers import canonical
from berth.exact.cpsat.limits import WholeSum
from berth.exact.cpsat.stages import ContainersModel, MapTask, least_map
from berth.exact.packing import Packing as Items
from berth.exact.packing import merged_pairs
from berth.exact.task import Found
from berth.policies.two_stage.mcts_case import Packing
from berth.policies.two_stage.stages import IndexArray, StageOne


class Instances:
    """Instances that go into containers."""

    def __init__(self, stage: StageOne, packing: Packing, swappable: list[list[int]]) -> None:
        self._packing = packing
        self._hosts = stage.group_servers[stage.group]
        self._swappable = swappable
        one, other = np.nonzero(packing.traffic)
        first, second, rate = merged_pairs(one, other, packing.traffic[one, other])
        self._items = Items(
            application=stage.application,
            resources=stage.resources,
            demand=stage.demand,
            # the room has the tolerance in it already
            size=stage.room[0] / (1.0 + TOLERANCE),
            count=len(stage.room),
            first=first,
            second=second,
            rate=rate,
        )
        self.size = len(stage.room) * (len(stage.names) + len(first))
        """The number of combinations in a model."""

    def in_order(self, bins: IndexArray) -> IndexArray:
        """The same map, as the model numbers containers and what can be swapped."""
        return np.array(canonical(bins.tolist(), self._swappable), dtype=np.intp)

    def least(self, start: IndexArray | None, budget: Budget, seed: int) -> Found:
        """The map of least cost; where only traffic or only containers count, with least of the other."""
        packing = self._packing
        prices = packing.per_traffic, packing.per_bin
        found = least_map(MapTask(self._builder(prices), packing.cost, start), budget, seed)
        if found.outcome != "optimal" or found.nodes is None or min(prices) > 0:
            return found
        best = found.nodes
        rest = (0.0, 1.0) if packing.per_traffic > 0 else (1.0, 0.0)
        build = self._builder(rest, best)
        other = least_map(MapTask(build, lambda bins: self._other(rest, bins), best), budget, seed)
        if other.nodes is not None and packing.better(other.nodes, best):
            best = other.nodes
        return Found("optimal", best, found.bound, found.solves + other.solves)

    def _builder(
        self, prices: tuple[float, float], kept: IndexArray | None = None
    ) -> Callable[[float], tuple[ContainersModel, WholeSum]]:
        """Models for prices of traffic and containers; `kept`: what is free may not get more than there."""

        def build(ceiling: float) -> tuple[ContainersModel, WholeSum]:
            model = ContainersModel(self._items, self._hosts, self._swappable)
            if kept is not None:
                traffic = None if prices[0] else self._other((1.0, 0.0), kept)
                model.keep(traffic, None if prices[1] else len(np.unique(kept)))
            return model, model.minimise(*prices, ceiling)

        return build

    def _other(self, prices: tuple[float, float], bins: IndexArray) -> float:
        crossing = bins[self._items.first] != bins[self._items.second]
        return prices[0] * float(self._items.rate[crossing].sum()) + prices[1] * len(np.unique(bins))
