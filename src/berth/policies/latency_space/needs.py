"""What units need of a node: resources, its processor, a place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.model import Problem
from berth.policies.latency_space.graph import UnitGraph

FloatArray = NDArray[np.float64]


class Needs(NamedTuple):
    """What is needed, and of what: `room` are the arguments of `NetworkFacts.room`."""

    demand: FloatArray
    """[units, resources]."""
    room: tuple[tuple[str, ...], bool, int | None]


def needs_of(problem: Problem, graph: UnitGraph, most: int | None = None) -> Needs:
    """The needs of all units; `most` operators with a choice may share a node."""
    instances = problem.instances
    resources = tuple(instances.resources)
    processors = any(
        application.throughput_per_s is not None and any(item.work_ms for item in application.operators)
        for application in problem.applications
    )
    columns = [instances.demand(name) for name in resources]
    if processors:
        columns.append(np.nan_to_num(instances.throughput_share) * instances.work_ms / 1000.0)
    if most is not None:
        # Pinned ones run nothing in this model.
        columns.append((graph.fixed[graph.unit_of] < 0).astype(np.float64))
    rows = [np.bincount(graph.unit_of, column, len(graph)) for column in columns]
    demand: FloatArray = np.zeros((len(graph), 0))
    if rows:
        demand = np.stack(rows, axis=1).astype(np.float64)
    return Needs(demand, (resources, processors, most))
