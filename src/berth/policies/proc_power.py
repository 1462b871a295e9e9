"""PROC-POWER of paper 004: the least processing power enrolled, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from berth.evaluation.goal import Goal
from berth.policies.exact_sharing import HOLDS, PAPER, SharingParameters, solve_for_metric
from berth.policies.policy import About, Answer, Task


@dataclass(frozen=True)
class PowerParameters(SharingParameters):
    """What users may set."""

    alpha: float = field(default=1.0, metadata={"help": "the price of a node's speed"})
    beta: float = field(default=0.0, metadata={"help": "the price of its network card, for each byte/s"})
    variant: Literal["enrolled", "eq7"] = field(
        default="enrolled",
        metadata={"help": "enrolled: price of the nodes in use; eq7: busy processors (processing_power)"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            if not (value >= 0 and math.isfinite(value)):
                raise ValueError(f"{name}: {value} is not a number from 0 on")
        if self.alpha == self.beta == 0 and self.variant == "enrolled":
            raise ValueError("alpha: 0 beside beta=0 leaves nothing to minimise; set one of them above 0")
        if self.variant == "eq7" and (self.alpha, self.beta) != (1.0, 0.0):
            raise ValueError("variant: eq7 has no prices; leave alpha and beta out")

    @property
    def goal(self) -> Goal:
        """What these parameters ask for."""
        if self.variant == "eq7":
            return Goal({"processing_power": 1.0})
        prices = {"enrolled_speed": self.alpha, "enrolled_card": self.beta}
        weights = {name: price for name, price in prices.items() if price > 0}
        # A single metric counts as it is, whatever its price.
        return Goal(weights, "raw") if len(weights) > 1 else Goal(dict.fromkeys(weights, 1.0))


class ProcPower:
    """The least power of the nodes in use."""

    about = About(name="proc-power", paper=PAPER, optimises="enrolled_speed, exactly", holds=HOLDS)
    parameters = PowerParameters

    def solve(self, task: Task) -> Answer:
        """Minimise the price of the nodes in use."""
        parameters: PowerParameters = task.parameters
        return solve_for_metric(task, parameters.goal, self.about.name)
