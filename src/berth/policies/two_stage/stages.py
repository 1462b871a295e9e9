"""What the two stages work on and what they give back; what users may set; and all stages by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from math import sqrt
from typing import Any, Literal, NamedTuple

import numpy as np

from berth.budget import Budget
from berth.model import Network
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.model.parameters import NOT_NEGATIVE, Parameters, at_least, parameter


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


class SharedRoom(NamedTuple):
    """A limit on what is in several bins together: servers that have the same label."""

    needed: FloatArray
    """By item."""
    place_of: IndexArray
    """By bin."""
    room: FloatArray
    """By place, what is left."""

    def fits(self, item: int) -> BoolArray:
        """The bins whose places have room for an item."""
        return np.asarray(self.needed[item] <= self.room[self.place_of])


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
    """[bins, R + L] what is left, with the judge's tolerance: an item fits where it needs no more than this.

    The columns behind the resources are of limits on single nodes (processors, rules): what instances need of
    these counts wherever their container is.
    """


@dataclass(frozen=True, eq=False)
class StageOne(Stage):
    """The instances of one application and the containers they go into."""

    demand: FloatArray
    """[n, R + L] of every instance."""
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
    """[m, R + L] what every container takes, of resources however full it is."""
    shared: tuple[SharedRoom, ...]
    """Limits of places that several servers belong to."""
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

SecondStageName = Literal["best-fit", "exact", "mips"]


@dataclass(frozen=True)
class TwoStageParameters(Parameters):
    """The second stage's own; any first stage goes with it."""

    second_stage: SecondStageName = parameter("best-fit", "how containers get onto servers")
    limit: Literal["all", "nomad"] = parameter(
        "all", "best-fit: look at all servers, or at max(2, log2 of their number) drawn ones"
    )
    samples: int = parameter(500, "mips: roll-outs before each decision", at_least(1))
    exploration: float = parameter(sqrt(2.0), "mips: weight of what was tried seldom, omega", NOT_NEGATIVE)
    mode: Literal["corrected", "paper"] = parameter(
        "corrected", "mips: the search with its errata repaired, or as printed"
    )


@dataclass(frozen=True)
class Entry:
    """Where a stage is, and whether it looks at traffic."""

    address: str
    """`module:function` within this package."""
    needs_rates: bool


FIRST_STAGES = {
    "exact": Entry("exact_stages:first_stage", needs_rates=True),
    "ffd": Entry("heuristics:first_fit", needs_rates=False),
    "mips": Entry("mips:first_stage", needs_rates=True),
    "r-heron": Entry("heuristics:nearest", needs_rates=True),
    "t-heron": Entry("heuristics:least_traffic", needs_rates=True),
}
SECOND_STAGES = {
    "best-fit": Entry("filling:best_fit", needs_rates=False),
    "exact": Entry("exact_stages:second_stage", needs_rates=True),
    "mips": Entry("mips:second_stage", needs_rates=True),
}


def stage_of(entry: Entry) -> Any:
    """The function of a stage: a `FirstStage` or a `SecondStage`."""
    module, function = entry.address.split(":")
    return getattr(import_module(f"berth.policies.two_stage.{module}"), function)
