"""From a goal to the best plan with sharing, and what is proved about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from ortools.sat.python import cp_model

from berth.budget import Budget
from berth.evaluation import Setting, Situation, evaluate
from berth.evaluation.goal import OPTIMAL_GAP, Goal, gap_between
from berth.exact.cpsat.run import SolverOptions, outcome_of, search
from berth.exact.sharing.cuts import add_cuts
from berth.exact.sharing.model import SharingModel
from berth.exact.sharing.objective import SharingObjective
from berth.exact.sharing.shared import Shared
from berth.exact.task import Tell
from berth.model import Download, Plan

LARGEST_MODEL = 300_000
"""Entries beyond which no model is built: it would not be solved."""
MOMENT, LONG = 0.1, 20.0
"""Limits in the solver's deterministic measure of work."""


@dataclass(frozen=True, eq=False)
class SharingSolution:
    """The best plan found and what is proved about it."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    plan: Plan | None = None
    bound: float | None = None
    trace: dict[str, Any] = field(default_factory=dict)


def minimise_shared(
    setting: Setting,
    goal: Goal,
    reuse: bool,
    budget: Budget,
    seed: int = 0,
    gap: float = 0.0,
    tell: Tell = lambda objective, bound: None,
) -> SharingSolution:
    """The plan that is best for a goal of covered metrics among those that keep every constraint."""
    shared = Shared(setting, reuse)
    trace: dict[str, Any] = {"method": "sharing", "combinations": shared.size}
    if shared.size > LARGEST_MODEL:
        return SharingSolution("unknown", trace={**trace, "too_large": True})
    model = SharingModel(shared)
    objective = SharingObjective(model, goal)
    if objective.over_nodes and shared.reuse:
        add_cuts(model)
    best, best_value, bound, outcome = None, np.inf, -np.inf, "unknown"
    for number, options in enumerate(_attempts(seed, gap), 1):
        trace["solves"] = number
        solver, status = search(model.cp, budget, options, _heard(goal, objective, tell))
        outcome = outcome_of(model.cp, status)
        if outcome != "unknown":
            bound = max(bound, objective.real(solver.best_objective_bound))
        if outcome in ("optimal", "feasible"):
            found = replace(_plan(model, solver), goal=goal.weights)
            value = _value(setting, goal, found)
            if value is None:
                trace["contradiction"] = "the solver's plan breaks constraints: its verdict does not count"
            elif value < best_value:
                best, best_value = found, value
                _hint(model, solver)
        if outcome in ("optimal", "infeasible") or budget.over:
            break
    if outcome == "infeasible" and best is None and "contradiction" not in trace:
        return SharingSolution("infeasible", trace=trace)
    if best is None:
        return SharingSolution("unknown", trace=trace)
    return _concluded(goal, best, best_value, bound, outcome == "optimal", trace)


def _attempts(seed: int, gap: float) -> list[SolverOptions]:
    """A moment without linear relaxations, long with them, then a portfolio: that proved most."""
    single = SolverOptions(seed, 1, gap)
    return [
        replace(single, linear=0, work=MOMENT),
        replace(single, linear=1, work=LONG),
        replace(single, workers=6, linear=1),
    ]


def _concluded(
    goal: Goal, best: Plan, value: float, bound: float, proved: bool, trace: dict[str, Any]
) -> SharingSolution:
    reached = goal.from_costs(bound) if np.isfinite(bound) else None
    if reached is not None and reached > value + 1e-9 * abs(value) + 1e-12:
        trace["contradiction"] = f"the solver's bound {reached} is beyond a plan: it does not count"
        reached = None
    elif reached is not None and (reached > value or (proved and gap_between(value, reached) <= OPTIMAL_GAP)):
        # What is left is rounding, far below what counts.
        reached = value
    closed = reached is not None and gap_between(value, reached) <= OPTIMAL_GAP
    return SharingSolution("optimal" if closed else "feasible", best, reached, trace)


def _heard(goal: Goal, objective: SharingObjective, tell: Tell) -> Callable[[float | None, float], None]:
    def heard(value: float | None, bound: float) -> None:
        real = None if value is None else goal.from_costs(value / objective.factor)
        tell(real, goal.from_costs(objective.real(bound)))

    return heard


def _value(setting: Setting, goal: Goal, plan: Plan) -> float | None:
    """The judge's objective; None where the plan breaks a constraint."""
    evaluation = evaluate(setting.problem, plan, setting.previous, setting.occupied)
    return None if evaluation.violations else goal.value(evaluation.metrics)


def _hint(model: SharingModel, solver: cp_model.CpSolver) -> None:
    """The best solution is where the next attempt starts."""
    model.cp.clear_hints()  # type: ignore[no-untyped-call]
    literals = [literal for places in model.x for literal in places.values()]
    literals += [literal for fates in model.fates.by for literal in fates.values()]
    literals += model.fetched.values()
    for literal in {literal.index: literal for literal in literals}.values():
        model.cp.add_hint(literal, solver.boolean_value(literal))


def _plan(model: SharingModel, solver: cp_model.CpSolver) -> Plan:
    shared, graph = model.shared, model.shared.graph
    reuse, skipped = {}, []
    for operator, fates in enumerate(model.fates.by):
        source = next((k for k, literal in fates.items() if solver.boolean_value(literal)), None)
        if source is None:
            skipped.append(shared.name(operator))
        elif source != operator:
            reuse[shared.name(operator)] = shared.name(source)
    assignment = {
        graph.names[number]: shared.node(node)
        for number, places in enumerate(model.x)
        for node, literal in places.items()
        if solver.boolean_value(literal)
    }
    plan = Plan(assignment, reuse=reuse, skipped=tuple(skipped))
    needed = Situation(shared.setting, plan).object_rates
    downloads = tuple(
        Download(name, shared.node(holder), shared.node(node))
        for (name, holder, node), literal in model.fetched.items()
        if solver.boolean_value(literal) and (name, node) in needed
    )
    return replace(plan, downloads=downloads)
