"""The general method: works for every graph, every metric and every constraint; proves by CP-SAT."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.metrics import AVAILABILITY
from berth.exact.costs import Costs, add_metric, least_costs, with_chord
from berth.exact.cpsat.limits import OutOfTime
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
    if any("availability" in costs.factors for costs in (task.costs, *(costs for costs, _ in task.kept))):
        return _with_products(task, threats)
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
    try:
        model, objective = _model(task, ceiling, losses)
    except OutOfTime:
        return best
    objective.minimise()
    if np.isfinite(task.least):
        objective.at_least(task.least)
    counting = _counting(task)
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
    model = CpSatModel(task.placement, budget=task.budget)
    model.survive(losses)
    for costs, most in task.kept:
        Objective(model, costs, most if most > 0 else np.inf).keep_within(most)
    for known in task.placement.setting.unlike:
        add_unlike(model, known)
    return model, Objective(model, task.costs, ceiling)


def _counting(task: ExactTask) -> list[Costs]:
    """All costs by which blocks and nodes may differ."""
    return [task.costs, *(costs for costs, _ in task.kept)]


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
    try:
        model, objective = _model(task, ceiling, losses)
    except OutOfTime:
        return best.nodes
    if task.ties == "first":
        model.order_interchangeable(_counting(task))
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


def _with_products(task: ExactTask, threats: Threats) -> Found:
    """Raw sums with an availability A in them, minimised or kept, by branch and bound over U = -log A.

    With a chord over an interval of U in place of -A all sums are linear. Inside the interval the chord is no
    larger: the minimum bounds its plans, and whoever keeps a limit in truth keeps it here. Outside it is no
    smaller: what is found there holds. So only a plan inside can be worth less than it seems, or break what
    it seems to keep: there the interval is split, because chords are exact at their ends.
    """
    factor = max(-task.costs.factors.get("availability", 0.0), 0.0)
    silent = replace(task, progress=lambda objective, bound: None, ties="any", least=-np.inf)
    unavailability = _unavailability(task)
    best, value = task.start, task.costs_at(task.start)
    least = least_costs(task.goal, task.placement)
    waiting = [(least, 0.0, unavailability.largest + 1e-6)]
    for attempt in range(1, MOST_INTERVALS + 1):
        known, low, high = heapq.heappop(waiting)
        costs, constant = with_chord(task.costs, low, high)
        part = replace(silent, other_costs=costs, interval=(low, high), start=best)
        # What costs more than the best plan need not be told apart: that makes the units fine.
        found = _solved(part, max(value - constant, 0.0) or np.inf, threats)
        if found.outcome != "infeasible":
            bound, reached = max(known, found.bound + constant), task.costs_at(found.nodes)
            if reached < value:
                best, value = found.nodes, reached
            split = -1.0 if found.nodes is None else unavailability.at(found.nodes)
            if found.outcome == "optimal" and low < split < high:
                heapq.heappush(waiting, (bound, low, split))
                heapq.heappush(waiting, (bound, split, high))
            else:
                heapq.heappush(waiting, (bound, low, high))
        elif not waiting and best is None:
            return replace(found, solves=attempt)
        least = min(waiting[0][0], value) if waiting else value
        objective = None if best is None else task.goal.from_costs(value)
        task.progress(objective, task.goal.from_costs(least))
        # The value may be 0 by chance; what is added up in it is not.
        if value - least <= max(FINE_ENOUGH / 100 * max(abs(value), factor), task.gap * abs(value)):
            return Found("optimal", best, least, attempt)
        stuck = found.outcome == "optimal" and not low < split < high and np.isinf(reached)
        if found.outcome not in ("optimal", "infeasible") or stuck or task.budget.over:
            break
    return Found("unknown" if best is None else "feasible", best, least, attempt)


def _unavailability(task: ExactTask) -> Costs:
    """U = -log A as costs."""
    costs = Costs.none(task.placement)
    add_metric(costs, AVAILABILITY, -1.0)
    return costs
