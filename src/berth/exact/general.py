"""The general method: works for every graph, every metric and every constraint; proves by CP-SAT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from berth.exact.cpsat.model import CpSatModel
from berth.exact.cpsat.objective import PATH_METRICS, Objective
from berth.exact.cpsat.run import Run, SolverOptions, run
from berth.exact.task import Found, Task

IndexArray = NDArray[np.intp]

QUICK_WORK = 4.0
"""The work, in the solver's own deterministic measure, of the first attempt with one strategy."""
FINE_ENOUGH = 1e-8
"""Between a proved plan's costs and its bound; more comes from units that are too coarse."""
MOST_REFINEMENTS = 40


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
        if attempt.outcome == "optimal" and task.ties != "any":
            nodes = _preferred(task, breakpoints, ceiling, attempt)
        best = Found(attempt.outcome, nodes, bound)
        if attempt.outcome in ("optimal", "infeasible") or task.budget.over:
            break
    return best


def _preferred(task: Task, breakpoints: list[float], ceiling: float, best: Run) -> IndexArray | None:
    """A second solve: the objective stays at its optimum, the preference among ties is minimised."""
    model = CpSatModel(task.placement)
    objective = Objective(model, task.costs, breakpoints, ceiling)
    if task.ties == "first":
        model.order_interchangeable(task.costs)
        weights = [nodes.tolist() for nodes in task.placement.candidates]
    else:
        generator = np.random.default_rng(task.seed)
        weights = [generator.integers(1000, size=len(nodes)).tolist() for nodes in task.placement.candidates]
    objective.keep_at(round(best.objective), weights)
    second = run(model, task.budget, SolverOptions(task.seed, work=QUICK_WORK), best.nodes)
    return best.nodes if second.nodes is None else second.nodes


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
