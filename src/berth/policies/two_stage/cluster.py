"""The servers with what is left of them, while one application after another is placed."""

from __future__ import annotations

import numpy as np

from berth.evaluation import Setting
from berth.evaluation.limits import TOLERANCE
from berth.policies.two_stage.stages import FloatArray, IndexArray, StageTwo

SLACK = 1.0 + TOLERANCE / 2.0
"""Half of the judge's tolerance: sums in another order are not quite the same, and must not be above it."""


class Cluster:
    """The servers and what applications have taken of them so far."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.network = setting.problem.network
        self.servers: IndexArray = self.network.hosting
        self._taken: dict[str, FloatArray] = {}

    def capacity(self, resources: tuple[str, ...]) -> FloatArray:
        """[s, R] what every server has in all."""
        return self._columns([self.network.capacity(name)[self.servers] for name in resources])

    def room(self, resources: tuple[str, ...]) -> FloatArray:
        """[s, R] what is left of every server, with the tolerance."""
        left = [
            np.maximum(self._setting.capacity(name)[self.servers], 0.0) * SLACK - self._taken.get(name, 0.0)
            for name in resources
        ]
        return np.maximum(self._columns(left), 0.0)

    def take(self, stage: StageTwo, servers: IndexArray) -> None:
        """Containers are on servers now."""
        for column, name in enumerate(stage.resources):
            taken = self._taken.setdefault(name, np.zeros(len(self.servers)))
            np.add.at(taken, servers, stage.size[:, column])

    def _columns(self, columns: list[FloatArray]) -> FloatArray:
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.servers), 0))
