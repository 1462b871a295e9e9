"""Planning for a running application: a first plan, and the next one with the price of moving in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from berth.amounts import shortened
from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, evaluate
from berth.evaluation.goal import Goal, goal_mistakes
from berth.model import BadInput, Plan, Problem
from berth.model.pair_fields import PairField
from berth.model.plan import Status
from berth.policies import solve
from berth.policies.registry import find_policy
from berth.runtime.control.offers import MOVING, Offer, Situation, Yardstick, places_of
from berth.runtime.control.options import GIGABYTE, WatchOptions
from berth.runtime.control.watched_problem import (
    computed_for_itself,
    homeless_operators,
    kept_operators,
    unmeasured_streams,
    waits_for_rates,
    with_operators_kept,
    without_nodes,
)

STEPS = (4.0, 16.0, 64.0, 256.0)
"""How many times the price of moving is raised where too much would move."""
FIRST_SHARE = 0.4
"""Of the time for a plan, that finding the best one at any price may take."""
MOST_NAMED = 3
_NOTHING_MOVED = {METRIC_BY_NAME[name].key: 0.0 for name in MOVING}


@dataclass(frozen=True)
class Replan:
    """A plan and the reason for it, or the reason why there is none."""

    plan: Plan | None
    reason: str = ""
    status: Status = "feasible"
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """What the metrics of a normalised sum were scaled by."""


def first_plan(problem: Problem, options: WatchOptions) -> Replan:
    """The plan that an application starts by.

    Where the objective needs rates that are not known yet, as in a first run, the plan is made for the part
    of it that needs none or, as S-ODP does (000, sections 6.2 and 7.2), for availability; where that is the
    same everywhere, for response time. The objective itself follows with the first rates that are measured.

    Raises:
        BadInput: the policy, its parameters or the objective make no sense.
    """
    problem = computed_for_itself(problem)
    parameters = dict(options.parameters)
    weights = {name: weight for name, weight in problem.objective.items() if name not in MOVING}
    reason = ""
    if waits_for_rates(problem):
        weights = _known_part(problem, weights) or _without_rates(problem)
        reason = (
            f"{_unmeasured(problem, 'no')}: a first plan for {_words(weights)} "
            f"(paper 000, section 6.2); {_words(problem.objective)} once rates are measured"
        )
        if any(item.name == "first_run" for item in fields(find_policy(options.policy).parameters)):
            parameters.setdefault("first_run", True)
    bounds = {name: pair for name, pair in problem.objective_bounds.items() if name in weights}
    ordered = problem if dict(weights) == dict(problem.objective) else problem.for_goal(weights)
    wanted = replace(ordered, objective_bounds=bounds)
    plan = solve(wanted, options.policy, time_limit=options.time_limit, seed=options.seed, **parameters)
    if not plan.found:
        return Replan(None, plan.reason or "no plan was found", plan.status)
    return Replan(plan, reason, plan.status, bounds=_bounds_of(plan))


def _known_part(problem: Problem, weights: Mapping[str, float]) -> dict[str, float]:
    """The weights on what can be computed without rates."""
    return {
        name: weight
        for name, weight in weights.items()
        if not any(goal_mistakes(problem.for_goal({name: weight})))
    }


def _without_rates(problem: Problem) -> dict[str, float]:
    network = problem.network
    links = network.table.availability
    # Without matrices there are nodes with themselves and many pairs without a link, all at 1.
    of_links = np.append(links.entries[2], 1.0) if isinstance(links, PairField) else links.ravel()
    availabilities = {*network.availability.tolist(), *of_links.tolist()}
    differ = len({value for value in availabilities if value == value}) > 1
    return {"availability": 1.0} if differ else {"response_time": 1.0}


def next_plan(
    problem: Problem,
    current: Plan,
    dead: Collection[str],
    options: WatchOptions,
    yardstick: Yardstick | None = None,
    application: str | None = None,
) -> Replan:
    """The plan to go to from the present one; the present one itself where nothing else is worth it.

    Args:
        problem: as it was measured.
        current: the plan that runs.
        dead: nodes that can't run anything.
        options: the price of moving, the most moves at once, what is frozen, the policy.
        yardstick: what counts; None: the problem's objective.
        application: the one that is watched; the others of the problem stay where they are.

    Raises:
        BadInput: the policy, its parameters or the names of frozen operators make no sense.
    """
    problem = computed_for_itself(problem)
    yardstick = Yardstick.of(problem) if yardstick is None else yardstick
    kept = kept_operators(problem, options.frozen, application)
    forced = frozenset(name for name, node in current.assignment.items() if node in dead)
    notes = _notes(kept, forced, current)
    alive = without_nodes(problem, dead)
    homeless = homeless_operators(alive)
    if homeless:
        return Replan(None, _why_homeless(homeless, dead), "infeasible")
    best: Offer | None = None
    if any(goal_mistakes(problem)):
        if not forced:
            return Replan(current, _unmeasured(problem, "still no"))
        # anywhere is better than on a dead node; for the others nothing is known to be better
        alive = replace(alive.for_goal(_without_rates(alive)), objective_bounds={})
        yardstick = Yardstick.of(alive)
        alone = kept | _unharmed(current, forced)
        situation = Situation(alive, current, options, yardstick, forced)
        found, best = _Search(situation, with_operators_kept(alive, current, alone), alone).run()
    if best is None:
        situation = Situation(alive, current, options, yardstick, forced)
        found, best = _Search(situation, with_operators_kept(alive, current, kept), kept).run()
    if best is None and problem.survive is not None:
        # better a plan that survives no further loss than none
        rest = replace(problem, survive=None)
        bare = next_plan(rest, replace(current, failover={}), dead, options, yardstick, application)
        why = f"no plan survives every further loss ({found.reason or 'none was found'})"
        return replace(bare, reason="; ".join(filter(None, (bare.reason, why))))
    if best is None:
        return Replan(None, found.reason or "no plan was found", found.status)
    plan = _judged(situation, best.plan)
    return Replan(plan, "; ".join(notes), plan.status, _bounds_of(found))


class _Search:
    """Asks the policy, first at any price, then with the price of moving in the objective."""

    def __init__(self, situation: Situation, problem: Problem, kept: frozenset[str]) -> None:
        self._situation = situation
        self._problem = problem
        self._kept = kept
        self._budget = Budget(situation.options.time_limit)

    def run(self) -> tuple[Plan, Offer | None]:
        """What the policy found at any price, and the best offer; None: there is no plan."""
        situation = self._situation
        found = self._solved(self._problem, self._budget.part(FIRST_SHARE))
        if not found.found:
            return found, None
        targets = [self._restored(found)]
        if set(situation.offer(targets[0]).moved) - situation.forced:
            targets += self._cheaper(found)
        different = {places_of(plan): plan for plan in reversed(targets)}
        offers = [situation.trimmed(plan, self._budget) for plan in different.values()]
        within = [offer for offer in offers if offer is not None]
        if not situation.forced:
            within.append(situation.offer(situation.current))
        # what runs on a dead node has to go somewhere, whatever the limit of moves
        return found, min(within or map(situation.offer, targets), key=lambda offer: offer.rank)

    def _cheaper(self, found: Plan) -> list[Plan]:
        """Plans for the objective with the price of moving; the price is raised until few enough move."""
        plans: list[Plan] = []
        for times in (1.0, *STEPS):
            priced = self._priced(found, times)
            if priced is None or self._budget.over:
                break
            try:
                plan = self._solved(priced, self._budget.part(0.5))
            except BadInput:
                # a policy that can't weigh moves: they are compared afterwards
                break
            if not plan.found:
                break
            plans.append(self._restored(plan))
            if self._situation.fits(self._situation.offer(plans[-1])):
                break
        return plans

    def _solved(self, problem: Problem, budget: Budget) -> Plan:
        options = self._situation.options
        previous = self._situation.current
        return solve(
            problem, options.policy, seed=options.seed, previous=previous, budget=budget, **options.parameters
        )

    def _priced(self, found: Plan, times: float) -> Problem | None:
        """The problem with so many times the price of moving in its objective; None: it can't be weighed."""
        problem, options = self._problem, self._situation.options
        single = len(problem.objective) == 1
        scale: Literal["normalised", "raw"] = "raw" if single else problem.objective_scale
        weights = dict.fromkeys(problem.objective, 1.0) if single else dict(problem.objective)
        bounds = _bounds_of(found) if scale == "normalised" else {}
        metrics = {**self._situation.judged.metrics, **_NOTHING_MOVED}
        if any(METRIC_BY_NAME[name].key not in metrics for name in weights):
            return None
        if scale == "normalised" and not bounds.keys() >= weights.keys():
            return None
        # what a relative gain of the whole is in terms of the objective
        whole = times * Goal(weights, scale, bounds).magnitude(metrics)
        prices = {"moved_instances": options.move_price, "moved_state": options.state_price / GIGABYTE}
        for name, price in prices.items():
            if price * whole > 0:
                best, worst = bounds.setdefault(name, (0.0, 1.0))
                weights[name] = weights.get(name, 0.0) + price * whole * (worst - best)
        return replace(problem, objective=weights, objective_scale=scale, objective_bounds=bounds)

    def _restored(self, plan: Plan) -> Plan:
        """What is kept exactly where it is: instances of one operator may have changed places."""
        home = self._situation.current.assignment
        stays = {
            name: home[name]
            for name in plan.assignment
            if name.partition("#")[0] in self._kept and name in home and name not in self._situation.forced
        }
        return replace(plan, assignment={**plan.assignment, **stays})


def _judged(situation: Situation, plan: Plan) -> Plan:
    """A plan with the metrics and violations that it has under the problem itself."""
    judged = evaluate(situation.problem, plan, situation.current)
    return replace(
        plan,
        problem_fingerprint=situation.problem.fingerprint,
        goal=dict(situation.problem.objective),
        objective=situation.yardstick.judge(situation.problem, plan).value,
        bound=None,
        gap=None,
        status="unknown" if judged.violations else "feasible",
        reason=f"the plan breaks {len(judged.violations)} constraint(s)" if judged.violations else None,
        metrics=judged.metrics,
        violations=judged.violations,
        warnings=judged.warnings,
    )


def _bounds_of(plan: Plan) -> dict[str, tuple[float, float]]:
    told: Mapping[str, Any] = plan.trace.get("objective_bounds", {})
    return {name: (float(pair[0]), float(pair[1])) for name, pair in told.items()}


def _notes(kept: frozenset[str], forced: frozenset[str], current: Plan) -> list[str]:
    return [
        f"{name} should stay where it is, but {current.assignment[name]} is dead"
        for name in sorted(forced)
        if name.partition("#")[0] in kept
    ]


def _unharmed(current: Plan, forced: frozenset[str]) -> frozenset[str]:
    """The operators that have no instance on a dead node."""
    harmed = {name.partition("#")[0] for name in forced}
    return frozenset(name.partition("#")[0] for name in current.assignment) - harmed


def _why_homeless(homeless: Mapping[str, tuple[str, ...] | None], dead: Collection[str]) -> str:
    lines = []
    for name, candidates in homeless.items():
        if candidates is None:
            lines.append(f"{name} has no node to run on")
        elif len(candidates) == 1:
            lines.append(f"{name} is pinned to {candidates[0]}")
        else:
            lines.append(f"{name} may only run on {', '.join(candidates)}")
    if dead:
        lines.append(f"dead: {', '.join(sorted(dead))}; nothing runs until a node is back")
    return "; ".join(lines)


def _unmeasured(problem: Problem, no: str) -> str:
    """Which streams the objective waits for, and what of them."""
    what = "rate" if np.isnan(problem.instances.stream_rate).any() else "size of tuples"
    return f"{no} {what} is known of {shortened(unmeasured_streams(problem), MOST_NAMED)}"


def _words(weights: Mapping[str, float]) -> str:
    return " and ".join(name.replace("_", " ") for name in weights)
