"""The second stage as an exact model."""

from __future__ import annotations

import numpy as np

from berth.budget import Budget
from berth.exact.cpsat.limits import WholeSum
from berth.exact.cpsat.stages import MapTask, ServersModel, least_map
from berth.exact.task import Found
from berth.policies.two_stage.exact import groups
from berth.policies.two_stage.mcts_alike import alike
from berth.policies.two_stage.mcts_case import Packing
from berth.policies.two_stage.stages import IndexArray


class Containers:
    """Containers that go onto servers."""

    def __init__(self, packing: Packing, swappable: list[list[int]]) -> None:
        self._packing = packing
        self._swappable = swappable
        fits = (packing.demand[:, None, :] <= packing.room[None, :, :]).all(axis=2)
        self._allowed = packing.allowed & fits
        choices = self._allowed.sum(axis=1)
        exchanging = np.triu(packing.traffic + packing.traffic.T, 1) > 0
        self.size = int(choices.sum() + (np.outer(choices, choices) * exchanging).sum())
        """The number of combinations in a model."""

    def least(self, start: IndexArray | None, budget: Budget, seed: int) -> Found:
        """The map of least cost."""
        if not self._allowed.any(axis=1).all():
            return Found("infeasible", None, 0.0)
        return least_map(MapTask(self._build, self._packing.cost, start), budget, seed)

    def _build(self, ceiling: float) -> tuple[ServersModel, WholeSum]:
        packing = self._packing
        servers = alike(packing.distance, [packing.room, self._allowed.T])
        model = ServersModel(
            packing.demand,
            packing.room,
            packing.traffic,
            packing.distance,
            self._allowed,
            self._swappable,
            groups(servers),
        )
        return model, model.minimise(ceiling)
