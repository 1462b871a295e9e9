"""First fit decreasing (card 1.13, erratum E1.13): as paper 001 describes it, and as Heron does it.

The paper's text takes instances as they come and, of the containers in use, the one with the most free
resources that has room: worst fit. Heron sorts components by memory, then processor, the largest first, and
takes the first container in use that has room. Both open a new container only where none has room.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from berth.budget import Budget
from berth.model.arrays import FloatArray, IndexArray
from berth.model.parameters import Values, at_least, setting
from berth.policies.two_stage.filling import Filling
from berth.policies.two_stage.stages import Assigned, StageOne, Stuck, TwoStageParameters

FIRST_BY = ({"memory", "mem", "ram"}, {"cpu", "cpus", "cores"}, {"disk"})
"""Heron's order of resources; others follow in the order of the problem."""


@dataclass(frozen=True)
class FfdParameters(TwoStageParameters):
    """What users may set, beside the second stage's own."""

    variant: Literal["paper", "heron"] = setting(
        "paper", "paper: instances in order, container with most free; heron: largest first, first fit"
    )
    padding: float = setting(
        0.0,
        "heron: share of every container's capacity that instances leave free",
        Values(lambda share: 0 <= share < 1, "is not from 0 up to below 1"),
    )
    instances_per_container: int | None = setting(
        10, "heron: at most so many instances in a container; none: any number", at_least(1)
    )


def first_fit(
    stage: StageOne, _generator: np.random.Generator, parameters: FfdParameters, _budget: Budget
) -> Assigned | Stuck:
    """Instances into the first container in use that has room, in the order of the variant."""
    heron = parameters.variant == "heron"
    limits = (parameters.padding, parameters.instances_per_container) if heron else (0.0, None)
    order = _by_size(stage) if heron else range(len(stage.names))
    return _filled(stage, Filling(stage, *limits), order, heron)


def few_servers_first(
    stage: StageOne, _generator: np.random.Generator, _parameters: Any, _budget: Budget
) -> Assigned | Stuck:
    """As Heron, but whoever may run on few servers comes first: these fill containers among themselves."""
    servers = stage.group_servers.sum(axis=1)[stage.group]
    order = sorted(_by_size(stage), key=lambda instance: int(servers[instance]))
    return _filled(stage, Filling(stage), order, True)


def _filled(stage: StageOne, filling: Filling, order: Iterable[int], heron: bool) -> Assigned | Stuck:
    """Instances in this order, each into a container in use that has room, or else into an empty one."""
    for instance in order:
        fits = filling.fits(instance)
        active = fits & (filling.held > 0)
        if active.any():
            # Sorted by what is free, the most first, or by number: the first that fits.
            score = np.zeros(len(active)) if heron else -filling.free_share.sum(axis=1)
            container = filling.least(active, score, len(stage.resources))
        elif fits.any():
            container = int(np.argmax(fits))
        else:
            return filling.stuck(instance)
        filling.put(instance, container)
    return Assigned(filling.bins)


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
