"""What an exact method is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.evaluation.goal import OPTIMAL_GAP, Goal, gap_between
from berth.exact.costs import Costs, costs_of, with_chord
from berth.exact.placement import Placement
from berth.exact.survival.failovers import Failovers

IndexArray = NDArray[np.intp]
Outcome = Literal["optimal", "feasible", "infeasible", "unknown"]
Progress = Callable[[float | None, float | None], None]
"""Hears of objective and bound while they improve."""
Judge = Callable[[IndexArray], dict[str, float] | None]
"""The metrics of a plan by the nodes of its blocks; None if it breaks a constraint."""
Ties = Literal["any", "first", "random"]


@dataclass(frozen=True)
class ExactTask:
    """What an exact method is given."""

    placement: Placement
    goal: Goal
    budget: Budget
    judge: Judge
    seed: int = 0
    gap: float = 0.0
    progress: Progress = lambda objective, bound: None
    ties: Ties = "any"
    """Among equally good plans: whichever comes, the one on the first nodes, or one at random."""
    start: IndexArray | None = None
    """The node of each block in a plan that keeps every constraint, if one is known."""
    least: float = -np.inf
    """No plan has a smaller sum of costs, as was proved before."""
    other_costs: Costs | None = None
    """What is minimised instead of the goal's costs, if anything."""
    interval: tuple[float, float] | None = None
    """Of minus the logarithm of the availability: a chord stands for the product in sums that are kept."""
    failovers: Failovers | None = None
    """How plans go on after losses, where they have to survive any."""

    @cached_property
    def costs(self) -> Costs:
        """What is minimised, by block, pair of blocks and node."""
        return costs_of(self.goal, self.placement) if self.other_costs is None else self.other_costs

    @cached_property
    def kept(self) -> list[tuple[Costs, float]]:
        """The costs of the goals that must not get worse than a value, and what they may come to."""
        found = []
        for ceiling in self.placement.setting.ceilings:
            costs, constant = costs_of(ceiling.goal, self.placement), 0.0
            if self.interval is not None:
                costs, constant = with_chord(costs, *self.interval)
            found.append((costs, ceiling.costs - constant))
        return found

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


def concluded(
    goal: Goal, objective: float, bound: float | None, noise: float, proved: bool, trace: dict[str, Any]
) -> tuple[Literal["optimal", "feasible"], float | None]:
    """What is proved about a plan: a status, and the bound; None where that contradicts the plan.

    What differs by no more than the noise is the same.
    """
    if bound is not None:
        beyond = (bound - objective) * (-1.0 if goal.maximise else 1.0)
        if beyond > noise:
            trace["contradiction"] = f"the solver's bound {bound} is beyond a plan: it does not count"
            bound = None
        elif beyond > 0 or (proved and (gap_between(objective, bound) <= OPTIMAL_GAP or -beyond <= noise)):
            # What is left is rounding, far below what counts.
            bound = objective
    closed = bound is not None and gap_between(objective, bound) <= OPTIMAL_GAP
    return "optimal" if closed else "feasible", bound
