"""What an exact method is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.evaluation.goal import Goal
from berth.exact.costs import Costs
from berth.exact.placement import Placement

IndexArray = NDArray[np.intp]
Outcome = Literal["optimal", "feasible", "infeasible", "unknown"]
Tell = Callable[[float | None, float | None], None]
Ties = Literal["any", "first", "random"]


@dataclass(frozen=True)
class ExactTask:
    """What an exact method is given."""

    placement: Placement
    costs: Costs
    goal: Goal
    budget: Budget
    seed: int
    gap: float
    start: IndexArray | None
    """The node of each block in a plan that keeps every constraint, if one is known."""
    tell: Tell
    """Hears of objective and bound while they improve."""
    judge: Callable[[IndexArray], dict[str, float] | None]
    """The metrics of a plan by the nodes of its blocks; None if it breaks a constraint."""
    ties: Ties = "any"
    """Among equally good plans: whichever comes, the one on the first nodes, or one at random."""
    least: float = -np.inf
    """No plan has a smaller sum of costs, as was proved before."""

    def costs_at(self, nodes: IndexArray | None) -> float:
        """The sum of costs of a plan; infinite if there is none."""
        metrics = None if nodes is None else self.judge(nodes)
        return np.inf if metrics is None else self.goal.costs(metrics)


@dataclass(frozen=True)
class Found:
    """The outcome of a method: nodes of blocks, and a proved bound on the sum of costs."""

    outcome: Outcome
    nodes: IndexArray | None
    bound: float
    solves: int = 1
    trace: dict[str, Any] = field(default_factory=dict)
    """How it was found."""
