"""The general method: works for every graph, every metric and every constraint; proves by CP-SAT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.goal import Goal
from berth.exact.budget import Budget
from berth.exact.costs import Costs
from berth.exact.cpsat.model import CpSatModel
from berth.exact.cpsat.objective import PATH_METRICS, Objective
from berth.exact.cpsat.run import Outcome, SolverOptions, run
from berth.exact.placement import Placement

IndexArray = NDArray[np.intp]
Tell = Callable[[float | None, float | None], None]

QUICK_WORK = 4.0
"""The work, in the solver's own deterministic measure, of the first attempt with one strategy."""
FINE_ENOUGH = 1e-8
"""Between a proved plan's costs and its bound; more comes from units that are too coarse."""
MOST_REFINEMENTS = 40


@dataclass(frozen=True)
class Task:
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


def solve_general(task: Task) -> Found:
    """Minimise the costs over all plans that keep every constraint."""
    if "availability" in task.costs.factors:
        return _with_product(task)
    found = _solved(task, [], task.costs_at(task.start))
    if found.outcome == "optimal" and not task.budget.over:
        reached = task.costs_at(found.nodes)
        if np.isfinite(reached) and reached - found.bound > FINE_ENOUGH * abs(reached):
            # The known plan makes the units finer: what costs more need not be told apart.
            again = _solved(replace(task, start=found.nodes), [], reached)
            return replace(again, bound=max(found.bound, again.bound), solves=2)
    return found


def _solved(task: Task, breakpoints: list[float], ceiling: float) -> Found:
    """One quick deterministic attempt, then a portfolio of strategies from where it ended."""
    paths = any(name in task.costs.factors for name in PATH_METRICS)
    best = Found("unknown", task.start, -np.inf)
    for options in (
        SolverOptions(task.seed, 1, task.gap, linear=0 if paths else 1, work=QUICK_WORK),
        SolverOptions(task.seed, 6, task.gap, linear=1),
    ):
        model = CpSatModel(task.placement)
        objective = Objective(model, task.costs, breakpoints, ceiling)
        model.order_interchangeable(task.costs)
        attempt = run(model, task.budget, options, best.nodes, _heard(task, objective))
        bound = max(best.bound, objective.real(attempt.bound))
        nodes = best.nodes if attempt.nodes is None else attempt.nodes
        best = Found(attempt.outcome, nodes, bound)
        if attempt.outcome in ("optimal", "infeasible") or task.budget.over:
            break
    return best


def _heard(task: Task, objective: Objective) -> Callable[[float | None, float], None]:
    """Passes on what the solver tells, in the goal's terms."""

    def heard(value: float | None, bound: float) -> None:
        real = None if value is None else task.goal.from_costs(value / objective.factor)
        task.tell(real, task.goal.from_costs(objective.real(bound)))

    return heard


def _with_product(task: Task) -> Found:
    """A raw sum with an availability in it: chords above the exponential, refined where plans lie."""
    breakpoints: list[float] = []
    best = Found("unknown", task.start, -np.inf)
    for attempt in range(MOST_REFINEMENTS):
        found = _solved(replace(task, start=best.nodes), breakpoints, np.inf)
        cheaper = task.costs_at(found.nodes) < task.costs_at(best.nodes)
        nodes = found.nodes if best.nodes is None or cheaper else best.nodes
        best = Found(found.outcome, nodes, max(best.bound, found.bound), attempt + 1)
        metrics = None if found.nodes is None else task.judge(found.nodes)
        if metrics is None or found.outcome != "optimal" or task.budget.over:
            break
        point = -float(np.log(max(metrics["availability"], 1e-13)))
        if task.costs_at(best.nodes) - best.bound <= FINE_ENOUGH or point in breakpoints:
            break
        breakpoints.append(point)
    return best
