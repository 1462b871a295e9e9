"""First stages that look at every instance once (card 1.13): FFD, R-Heron and T-Heron.

FFD (erratum E1.13) as paper 001 describes it, and as Heron does it: the paper's text takes instances as they
come and, of the containers in use, the one with the most free resources that has room: worst fit. Heron sorts
components by memory, then processor, the largest first, and takes the first container in use that has room.
Both open a new container only where none has room.

R-Heron (erratum E1.12): components breadth first from the sources, instances into the nearest container. Near
is a container that exchanges little with the others once the instance is in it, and whose free resources are
close to what the instance demands. The paper adds both in their own units; here traffic is a share of all
traffic and resources are shares of the container's capacity.

T-Heron: instances by descending traffic, each where it adds least between containers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from berth.budget import Budget
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.model.parameters import Values, at_least, parameter
from berth.policies.two_stage.filling import Filling
from berth.policies.two_stage.stages import Assigned, StageOne, Stuck, TwoStageParameters

FIRST_BY = ({"memory", "mem", "ram"}, {"cpu", "cpus", "cores"}, {"disk"})
"""Heron's order of resources; others follow in the order of the problem."""


@dataclass(frozen=True)
class FfdParameters(TwoStageParameters):
    """What users may set, beside the second stage's own."""

    variant: Literal["paper", "heron"] = parameter(
        "paper", "paper: instances in order, container with most free; heron: largest first, first fit"
    )
    padding: float = parameter(
        0.0,
        "heron: share of every container's capacity that instances leave free",
        Values(lambda share: 0 <= share < 1, "is not from 0 up to below 1"),
    )
    instances_per_container: int | None = parameter(
        10, "heron: at most so many instances in a container; none: any number", at_least(1)
    )


@dataclass(frozen=True)
class THeronParameters(TwoStageParameters):
    """What users may set, beside the second stage's own."""

    ties: Literal["used", "empty"] = parameter(
        "used", "where an instance goes that adds the same anywhere: a container in use, or an empty one"
    )


def _filled(
    filling: Filling, order: Iterable[int], choose: Callable[[int, BoolArray], int]
) -> Assigned | Stuck:
    """Instances in this order, each into the container that is chosen among those that it fits."""
    for instance in order:
        fits = filling.fits(instance)
        if not fits.any():
            return filling.stuck(instance)
        filling.put(instance, choose(instance, fits))
    return Assigned(filling.bins)


def first_fit(
    stage: StageOne, _generator: np.random.Generator, parameters: FfdParameters, _budget: Budget
) -> Assigned | Stuck:
    """FFD: instances into the first container in use that has room, in the order of the variant."""
    if parameters.variant == "heron":
        filling = Filling(stage, parameters.padding, parameters.instances_per_container)
        return _filled(filling, _by_size(stage), _first_in_use(filling))
    filling = Filling(stage)

    def with_most_free(_instance: int, fits: BoolArray) -> int:
        active = fits & (filling.held > 0)
        if not active.any():
            return int(np.argmax(fits))
        return filling.least(active, -filling.free_share.sum(axis=1), len(stage.resources))

    return _filled(filling, range(len(stage.names)), with_most_free)


def few_servers_first(
    stage: StageOne, _generator: np.random.Generator, _parameters: Any, _budget: Budget
) -> Assigned | Stuck:
    """As Heron, but whoever may run on few servers comes first: these fill containers among themselves."""
    servers = stage.group_servers.sum(axis=1)[stage.group]
    order = sorted(_by_size(stage), key=lambda instance: int(servers[instance]))
    filling = Filling(stage)
    return _filled(filling, order, _first_in_use(filling))


def _first_in_use(filling: Filling) -> Callable[[int, BoolArray], int]:
    """The first container in use that has room, or else the first one that is empty."""
    return lambda _instance, fits: int(np.argmax(fits * (1 + (filling.held > 0))))


def _by_size(stage: StageOne) -> list[int]:
    """Instances by what they demand, the most first: component after component."""
    columns: list[FloatArray] = [-stage.demand[:, column] for column in _columns(stage.resources)]
    keys: list[FloatArray | IndexArray] = [*columns, stage.component]
    order: list[int] = np.lexsort(keys[::-1]).tolist()
    return order


def _columns(resources: tuple[str, ...]) -> list[int]:
    """The resources in Heron's order."""

    def place(column: int) -> int:
        name = resources[column].lower()
        return next((k for k, names in enumerate(FIRST_BY) if name in names), len(FIRST_BY))

    return sorted(range(len(resources)), key=place)


def nearest(
    stage: StageOne, _generator: np.random.Generator, _parameters: TwoStageParameters, _budget: Budget
) -> Assigned | Stuck:
    """R-Heron: component after component, each instance to where it is nearest."""
    filling = Filling(stage)
    demand, capacity = stage.demand[:, : len(stage.resources)], stage.capacity[0]
    demand = np.divide(demand, capacity, out=np.zeros_like(demand), where=capacity > 0)
    # what each container exchanges with the others
    crossing = np.zeros(len(stage.room))
    scale = stage.total_traffic or 1.0
    largest = 1.0 + len(stage.resources)

    def near(instance: int, fits: BoolArray) -> int:
        kept = filling.traffic_with(instance)
        added = kept.sum() - kept
        distance = np.linalg.norm(demand[instance] - filling.free_share, axis=1)
        container = filling.least(fits, (crossing + added) / scale + distance, largest)
        np.add(crossing, kept, out=crossing)
        crossing[container] += added[container] - kept[container]
        return container

    return _filled(filling, breadth_first(stage), near)


def breadth_first(stage: StageOne) -> list[int]:
    """Instances by component: the sources first, then whom they send to, and so on."""
    count = int(stage.component.max(initial=-1)) + 1
    receivers: list[list[int]] = [[] for _ in range(count)]
    for sender, receiver in stage.streams.tolist():
        receivers[sender].append(receiver)
    receiving = set(stage.streams[:, 1].tolist())
    queue = deque(component for component in range(count) if component not in receiving)
    seen, place = set(queue), np.zeros(count, dtype=np.intp)
    for turn in range(count):
        component = queue.popleft()
        place[component] = turn
        following = [each for each in sorted(receivers[component]) if each not in seen]
        seen.update(following)
        queue.extend(following)
    order: list[int] = np.argsort(place[stage.component], kind="stable").tolist()
    return order


def least_traffic(
    stage: StageOne, _generator: np.random.Generator, parameters: THeronParameters, _budget: Budget
) -> Assigned | Stuck:
    """T-Heron: whoever exchanges most comes first."""
    filling = Filling(stage)

    def keeping_most(instance: int, fits: BoolArray) -> int:
        # What stays in a container doesn't cross: the most kept is the least added.
        kept, largest = filling.traffic_with(instance), float(stage.traffic_of[instance])
        return filling.least(fits, -kept, largest, empty_first=parameters.ties == "empty")

    return _filled(filling, by_traffic(stage), keeping_most)


def by_traffic(stage: StageOne) -> list[int]:
    """Instances by what they send plus receive, the most first; sums that differ by rounding are equal."""
    largest = float(stage.traffic_of.max(initial=0.0))
    steps = np.round(stage.traffic_of / largest, 9) if largest > 0 else stage.traffic_of
    order: list[int] = np.argsort(-steps, kind="stable").tolist()
    return order
