"""The general method: works for every graph, every metric and every constraint; proves by CP-SAT."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.goal import on_scale
from berth.evaluation.metrics import AVAILABILITY
from berth.exact.costs import Costs, add_metric
from berth.exact.cpsat.model import CpSatModel
from berth.exact.cpsat.objective import PATH_METRICS, Objective
from berth.exact.cpsat.solver import Run, SolverOptions, run
from berth.exact.cpsat.unlike import add_unlike
from berth.exact.survival.threats import Threats
from berth.exact.symmetry import equal_nodes, interchangeable, least_of_equals
from berth.exact.task import ExactTask, Found
from berth.model import Loss
from berth.model.randomness import generator_for

IndexArray = NDArray[np.intp]

QUICK_WORK = 4.0
"""The work, in the solver's own deterministic measure, of an attempt with one strategy."""
FINE_ENOUGH = 1e-8
"""Between a proved plan's costs and its bound; more comes from units that are too coarse."""
MOST_INTERVALS = 500


def solve_general(task: ExactTask) -> Found:
    """Minimise the costs over all plans that keep every constraint."""
    threats = Threats(task)
    if "availability" in task.costs.factors:
        return _with_product(task, threats)
    least = 0.0 if task.costs.nonnegative else -np.inf
    known = task.costs_at(task.start)
    if known == least and task.ties == "any":
        return Found("optimal", task.start, least)
    found = _solved(task, known if known > 0 else np.inf, threats)
    found = replace(found, bound=max(found.bound, least))
    if found.outcome == "optimal" and not task.budget.over:
        reached = task.costs_at(found.nodes)
        if np.isfinite(reached) and reached - found.bound > max(FINE_ENOUGH, task.gap) * abs(reached):
            # The known plan makes the units finer: what costs more need not be told apart.
            again = _solved(replace(task, start=found.nodes), reached, threats)
            return replace(again, bound=max(found.bound, again.bound), solves=2)
    return found


def _solved(task: ExactTask, ceiling: float, threats: Threats) -> Found:
    """The best plan that survives all losses: those that a plan doesn't survive come into the model."""
    while True:
        found = _with_failovers(task, ceiling, threats.modelled)
        if found.outcome != "optimal" or not threats.more(found.nodes):
            return replace(found, trace=threats.trace)
        task = replace(task, least=max(task.least, found.bound))


def _with_failovers(task: ExactTask, ceiling: float, losses: list[Loss]) -> Found:
    """Quick deterministic attempts, one strategy each, then a portfolio from where they ended."""
    best = Found("unknown", task.start, -np.inf)
    model, objective = _model(task, ceiling, losses)
    objective.minimise()
    if np.isfinite(task.least):
        objective.at_least(task.least)
    counting = [task.costs, *task.kept]
    model.order_interchangeable(counting)
    nodes_alike = equal_nodes(task.placement, counting)
    model.order_equal_nodes(nodes_alike)
    hint = task.start
    if hint is not None and not task.placement.packings:
        hint = least_of_equals(hint, interchangeable(task.placement, counting), nodes_alike)
    for options in _attempts(task):
        attempt = run(model, task.budget, options, hint, _reporter(task, objective))
        hint = hint if attempt.nodes is None else attempt.nodes
        bound = max(best.bound, objective.real(attempt.bound))
        nodes = best.nodes if attempt.nodes is None else attempt.nodes
        if attempt.outcome == "optimal" and task.ties != "any":
            nodes = _preferred(task, ceiling, losses, attempt)
        best = Found(attempt.outcome, nodes, bound)
        if attempt.outcome in ("optimal", "infeasible") or task.budget.over:
            break
    return best


def _model(task: ExactTask, ceiling: float, losses: list[Loss]) -> tuple[CpSatModel, Objective]:
    """All plans that keep every constraint and survive some losses, and their costs up to a ceiling."""
    model = CpSatModel(task.placement)
    model.survive(losses)
    for kept, costs in zip(task.placement.setting.ceilings, task.kept, strict=True):
        # a product in a sum can't be said in linear terms: the judge sees to that one
        if "availability" not in costs.factors:
            Objective(model, costs, kept.costs if kept.costs > 0 else np.inf).keep_within(kept.costs)
    for known in task.placement.setting.unlike:
        add_unlike(model, known)
    return model, Objective(model, task.costs, ceiling)


def _attempts(task: ExactTask) -> list[SolverOptions]:
    paths = any(name in task.costs.factors for name in PATH_METRICS)
    # A bound that was proved before is not sharper than this.
    gap = max(task.gap, 2 * FINE_ENOUGH) if np.isfinite(task.least) else task.gap
    return attempts(task.seed, gap, paths)


def attempts(seed: int, gap: float = 0.0, paths: bool = False) -> list[SolverOptions]:
    """What was measured to work: propagation alone for paths, linear relaxations for sums.

    Linear relaxations of tiny models were seen to go in circles, so these are tried without first.
    """
    single = SolverOptions(seed, 1, gap)
    portfolio = replace(single, workers=6, linear=1)
    plain = replace(single, linear=0, work=QUICK_WORK)
    if paths:
        return [plain, portfolio]
    return [
        replace(plain, work=QUICK_WORK / 40),
        replace(single, linear=1, work=QUICK_WORK),
        plain,
        portfolio,
    ]


def _preferred(task: ExactTask, ceiling: float, losses: list[Loss], best: Run) -> IndexArray | None:
    """A second solve: the objective stays at its optimum, the preference among ties is minimised."""
    model, objective = _model(task, ceiling, losses)
    if task.ties == "first":
        model.order_interchangeable([task.costs, *task.kept])
        weights = [nodes.tolist() for nodes in task.placement.candidates]
    else:
        generator = generator_for(task.seed)
        weights = [generator.integers(1000, size=len(nodes)).tolist() for nodes in task.placement.candidates]
    objective.keep_at(round(best.objective), weights)
    second = run(model, task.budget, SolverOptions(task.seed, work=QUICK_WORK), best.nodes)
    return best.nodes if second.nodes is None else second.nodes


def _reporter(task: ExactTask, objective: Objective) -> Callable[[float | None, float], None]:
    """Passes on what the solver tells, in the goal's terms."""

    def report(value: float | None, bound: float) -> None:
        real = None if value is None else task.goal.from_costs(value / objective.factor)
        task.progress(real, task.goal.from_costs(objective.real(bound)))

    return report


def _with_product(task: ExactTask, threats: Threats) -> Found:
    """A raw sum with an availability A in it, by branch and bound over the range of U = -log A.

    -A = -exp(-U) is concave in U: a chord over an interval lies below it inside and above it outside.
    With the chord in its place the sum is linear; its minimum bounds the plans of the interval, and if
    the plan found lies outside, none inside is better. Otherwise the interval is split at that plan.
    """
    factor = -task.costs.factors["availability"]
    silent = replace(task, progress=lambda objective, bound: None, ties="any", least=-np.inf)
    best, value = task.start, task.costs_at(task.start)
    waiting = [(-np.inf, 0.0, _most_unavailable(task))]
    for attempt in range(1, MOST_INTERVALS + 1):
        _, low, high = heapq.heappop(waiting)
        costs, constant = _chord(task, factor, low, high)
        found = _solved(replace(silent, other_costs=costs, start=best), np.inf, threats)
        if found.outcome == "infeasible":
            return replace(found, solves=attempt)
        bound = found.bound + constant
        reached = task.costs_at(found.nodes)
        if reached < value:
            best, value = found.nodes, reached
        split = _unavailability(task, found.nodes)
        if found.outcome == "optimal" and low < split < high:
            heapq.heappush(waiting, (bound, low, split))
            heapq.heappush(waiting, (bound, split, high))
        else:
            heapq.heappush(waiting, (bound, low, high))
        least = min(waiting[0][0], value)
        objective = None if best is None else task.goal.from_costs(value)
        task.progress(objective, task.goal.from_costs(least))
        # The value may be 0 by chance; what is added up in it is not.
        if value - least <= max(FINE_ENOUGH / 100 * max(abs(value), factor), task.gap * abs(value)):
            return Found("optimal", best, least, attempt)
        if found.outcome != "optimal" or task.budget.over:
            break
    return Found("unknown" if best is None else "feasible", best, least, attempt)


def _chord(task: ExactTask, factor: float, low: float, high: float) -> tuple[Costs, float]:
    """The costs with a chord of -factor * exp(-U) in place of the availability, and the constant left."""
    slope = factor * (np.exp(-low) - np.exp(-high)) / (high - low)
    costs = task.costs.copy()
    del costs.factors["availability"]
    add_metric(costs, AVAILABILITY, -slope)
    return costs, -factor * float(np.exp(-low)) - slope * low


def _most_unavailable(task: ExactTask) -> float:
    costs = Costs.none(task.placement)
    add_metric(costs, AVAILABILITY, -1.0)
    return costs.largest + 1e-6


def _unavailability(task: ExactTask, nodes: IndexArray | None) -> float:
    metrics = None if nodes is None else task.judge(nodes)
    return -1.0 if metrics is None else -on_scale("availability", metrics["availability"])
