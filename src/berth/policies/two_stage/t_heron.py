"""T-Heron (card 1.13): instances by descending traffic, each where it adds least between containers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from berth.budget import Budget
from berth.model.parameters import setting
from berth.policies.two_stage.filling import Filling
from berth.policies.two_stage.stages import Assigned, StageOne, Stuck, TwoStageParameters


@dataclass(frozen=True)
class THeronParameters(TwoStageParameters):
    """What users may set, beside the second stage's own."""

    ties: Literal["used", "empty"] = setting(
        "used", "where an instance goes that adds the same anywhere: a container in use, or an empty one"
    )


def least_traffic(
    stage: StageOne, _generator: np.random.Generator, parameters: THeronParameters, _budget: Budget
) -> Assigned | Stuck:
    """Whoever exchanges most comes first."""
    filling = Filling(stage)
    empty_first = parameters.ties == "empty"
    for instance in by_traffic(stage):
        fits = filling.fits(instance)
        if not fits.any():
            return filling.stuck(instance)
        # What stays in a container doesn't cross: the most kept is the least added.
        kept = filling.traffic_with(instance)
        container = filling.least(fits, -kept, float(stage.traffic_of[instance]), empty_first)
        filling.put(instance, container)
    return Assigned(filling.bins)


def by_traffic(stage: StageOne) -> list[int]:
    """Instances by what they send plus receive, the most first; sums that differ by rounding are equal."""
    largest = float(stage.traffic_of.max(initial=0.0))
    steps = np.round(stage.traffic_of / largest, 9) if largest > 0 else stage.traffic_of
    order: list[int] = np.argsort(-steps, kind="stable").tolist()
    return order
