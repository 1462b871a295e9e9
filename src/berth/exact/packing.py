"""The containers of a problem, made ready for exact solving: what goes into them, and into how many.

Where applications have containers, a solution is longer than its blocks: behind the node of each block
comes the container of each instance that needs one, application after application.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

PACKING_METRICS = ("containers_used", "container_traffic")
"""Metrics of the containers alone, whatever the nodes."""


@dataclass(frozen=True, eq=False)
class Packing:
    """Items and the containers, all alike, that they go into."""

    application: str
    resources: tuple[str, ...]
    demand: FloatArray
    """[n, R] of every item."""
    size: FloatArray
    """[R] of every container."""
    count: int
    """How many containers there are."""
    first: IndexArray
    second: IndexArray
    """[k] the two ends of every pair of items that exchange anything, the smaller number first, once."""
    rate: FloatArray
    """[k] what they exchange, both ways."""

    @property
    def useful(self) -> int:
        """As many containers as can be of use: all are alike."""
        return min(self.count, len(self.demand))

    @cached_property
    def neighbours(self) -> list[tuple[tuple[int, float], ...]]:
        """For every item the others that it exchanges something with, and how much."""
        lists: list[list[tuple[int, float]]] = [[] for _ in self.demand]
        for one, other, rate in zip(
            self.first.tolist(), self.second.tolist(), self.rate.tolist(), strict=True
        ):
            lists[one].append((other, rate))
            lists[other].append((one, rate))
        return [tuple(sorted(entries)) for entries in lists]


@dataclass(frozen=True, eq=False)
class ApplicationPacking(Packing):
    """The containers of one application of a problem."""

    instances: IndexArray
    """The number of every item in the problem's graph."""


def packings_of(setting: Setting) -> list[ApplicationPacking]:
    """One for each application that has containers."""
    graph = setting.graph
    found = []
    for number, application in enumerate(setting.problem.applications):
        if application.containers is None:
            continue
        capacity = application.containers.capacity
        instances = np.flatnonzero(graph.application_of == number)
        resources = tuple(dict.fromkeys([*capacity, *graph.resources]))
        demand = [
            graph.demand(name)[instances] if name in graph.resources else np.zeros(len(instances))
            for name in resources
        ]
        inside = np.flatnonzero(graph.application_of[graph.pair_sender] == number)
        first, second, rate = merged_pairs(
            np.searchsorted(instances, graph.pair_sender[inside]),
            np.searchsorted(instances, graph.pair_receiver[inside]),
            np.nan_to_num(graph.pair_rate[inside]),
        )
        found.append(
            ApplicationPacking(
                application=application.name,
                resources=resources,
                demand=np.stack(demand, axis=1) if demand else np.zeros((len(instances), 0)),
                size=np.array([capacity.get(name, 0.0) for name in resources]),
                count=application.containers.count,
                first=first,
                second=second,
                rate=rate,
                instances=instances,
            )
        )
    return found


def merged_pairs(
    one: IndexArray, other: IndexArray, rate: FloatArray
) -> tuple[IndexArray, IndexArray, FloatArray]:
    """Every two items that exchange anything once, the smaller number first, with the sum of both ways."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    counts = (rate > 0) & (low != high)
    ends, group = np.unique(np.stack([low[counts], high[counts]], axis=1), axis=0, return_inverse=True)
    total = np.bincount(group.reshape(-1), rate[counts], minlength=len(ends))
    return ends[:, 0], ends[:, 1], np.asarray(total, dtype=np.float64)


def most_packed(packings: Sequence[Packing], metric: str) -> float:
    """No plan has more of a metric of the containers."""
    if metric == "containers_used":
        return float(sum(packing.useful for packing in packings))
    return float(sum(packing.rate.sum() for packing in packings))
