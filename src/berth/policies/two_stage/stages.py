"""What the two stages work on and what they give back, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.model import Network

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Stuck:
    """Why a stage found nothing."""

    reason: str


@dataclass(frozen=True, eq=False)
class Assigned:
    """The bin of every item, and what the stage has to tell about how it got there."""

    bins: IndexArray
    trace: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Most:
    """What all applications together can come to: to add up traffic and containers on one scale."""

    traffic: float
    """Everything that instances exchange, in bytes per second."""
    containers: int
    """Every container that can be of use."""


@dataclass(frozen=True, eq=False)
class Stage:
    """Items that go into bins: instances into containers, or containers onto servers."""

    application: str
    names: tuple[str, ...]
    """Of the items."""
    resources: tuple[str, ...]
    capacity: FloatArray
    """[bins, R] of every container that can be of use; what every server has in all, less the headroom."""
    room: FloatArray
    """[bins, R] what is left, with the judge's tolerance: an item fits where it needs no more than this."""


@dataclass(frozen=True, eq=False)
class StageOne(Stage):
    """The instances of one application and the containers they go into."""

    demand: FloatArray
    """[n, R] of every instance."""
    count: int
    """How many containers there are; C is this or n, whichever is less, as all are alike."""
    component: IndexArray
    """[n] the operator of every instance, numbered within the application."""
    streams: IndexArray
    """[k, 2] sending and receiving component of every stream."""
    start: IndexArray
    """[n + 1] where the neighbours of every instance begin in `neighbour` and `rate`."""
    neighbour: IndexArray
    rate: FloatArray
    """Bytes per second exchanged with each neighbour; 0 where nobody knows."""
    group: IndexArray
    """[n] instances of one group may run on the same servers."""
    group_servers: BoolArray
    """[g, s] servers that may host a group's instances and have room for a container."""
    most: Most
    """Of the whole problem."""

    @cached_property
    def total_traffic(self) -> float:
        """What all instances exchange; every pair is there from both its ends."""
        return float(self.rate.sum() / 2.0)

    @cached_property
    def traffic_of(self) -> FloatArray:
        """[n] what every instance sends plus receives."""
        ends = np.repeat(np.arange(len(self.names)), np.diff(self.start))
        return np.asarray(np.bincount(ends, self.rate, minlength=len(self.names)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class StageTwo(Stage):
    """The containers of one application that are not empty, and the servers with what is left of them."""

    size: FloatArray
    """[m, R] what every container takes, however full it is."""
    traffic: FloatArray
    """[m, m] bytes per second from one container to another; 0 on the diagonal and where nobody knows."""
    sends: BoolArray
    """[m, m] whether there is a stream from one to the other: it needs a link without traffic, too."""
    allowed: BoolArray
    """[m, s] servers that may host all instances in a container."""
    servers: IndexArray
    """[s] the node number of every server."""
    network: Network

    @cached_property
    def cost(self) -> FloatArray:
        """[s, s] the price of one unit of traffic (theta); NaN where there is no link."""
        return np.asarray(self.network.table.cost[self.servers[:, None], self.servers[None, :]])


FirstStage = Callable[[StageOne, np.random.Generator, Any, Budget], Assigned | Stuck]
SecondStage = Callable[[StageTwo, np.random.Generator, Any, Budget], Assigned | Stuck]
