"""Goals of tiny amounts in a larger unit: what is rounding elsewhere may be all there is to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from berth.evaluation import METRIC_BY_NAME
from berth.evaluation.goal import Goal
from berth.evaluation.metrics import AdditiveMetric
from berth.exact.costs import finite
from berth.exact.placement import Placement

TINY = 1e-3
"""Goals of which no part can be as large as this get another unit."""
MOST_NODES = 200
"""So many nodes tell how large parts are."""


@dataclass(frozen=True)
class InUnit(Goal):
    """A goal of which all amounts are multiplied by a power of two: nothing is rounded."""

    inner: Goal = field(default_factory=lambda: Goal({}))
    factor: float = 1.0

    @property
    def maximise(self) -> bool:
        """As without the unit."""
        return self.inner.maximise

    def coefficient(self, name: str) -> float:
        """What one unit of a metric adds."""
        return self.inner.coefficient(name) * self.factor

    @property
    def constant(self) -> float:
        """What a normalised sum adds."""
        return self.inner.constant * self.factor

    def from_costs(self, total: float) -> float:
        """The objective from the sum of costs."""
        return self.inner.from_costs(total / self.factor) * self.factor

    def costs(self, metrics: Mapping[str, float]) -> float:
        """The sum of costs from the objective."""
        return self.inner.costs(metrics) * self.factor

    def magnitude(self, metrics: Mapping[str, float]) -> float:
        """The size of what is added up."""
        return self.inner.magnitude(metrics) * self.factor

    def value(self, metrics: Mapping[str, float]) -> float | None:
        """The objective of a plan."""
        value = self.inner.value(metrics)
        return None if value is None else value * self.factor


def unit_of(goal: Goal, placement: Placement) -> float:
    """The factor by which a goal's amounts are of a size that can be told from rounding; 1 as a rule."""
    nodes = np.unique(np.concatenate(placement.candidates))[:MOST_NODES]
    here, there = np.repeat(nodes, len(nodes)), np.tile(nodes, len(nodes))
    largest = 0.0
    for name in goal.weights:
        metric = METRIC_BY_NAME[name]
        flows = isinstance(metric, AdditiveMetric) and metric.per_instance is None and metric.per_pair is None
        if not flows or (goal.single is None and goal.scale == "normalised"):
            return 1.0
        assert isinstance(metric, AdditiveMetric)
        part = 0.0
        if metric.per_flow is not None:
            weights = finite(metric.per_flow(placement.network, here, there))
            part += float(placement.rate.max(initial=0.0)) * float(np.abs(weights).max(initial=0.0))
        if metric.per_node is not None:
            part += float(np.abs(metric.per_node(placement.network)[nodes]).max(initial=0.0))
        largest = max(largest, abs(goal.coefficient(name)) * part)
    return float(2.0 ** -np.floor(np.log2(largest))) if 0.0 < largest < TINY else 1.0
