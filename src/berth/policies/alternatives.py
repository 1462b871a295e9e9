"""Several good plans that differ, for people who have reasons that the model doesn't know.

The best plan first; then, again and again, the best one of those that are nearly as good and differ enough
from all that are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from berth.amounts import counted, percentage
from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import OPTIMAL_GAP, Ceiling, Goal, common_goal, gap_between
from berth.evaluation.situation import Unlike, assigned_nodes
from berth.model import BadInput, Plan, Problem
from berth.model.plan import Status
from berth.policies.front import check_keeps
from berth.policies.policy import Policy, Progress, Task
from berth.policies.registry import DEFAULT, find_policy
from berth.policies.solve import DEFAULT_TIME_LIMIT, solve_task, task_for

DEFAULT_WITHIN = 0.02
OPERATORS_PER_DIFFERENCE = 10
"""One of so many operators that have a choice is elsewhere, unless said otherwise."""
FIRST_SHARE = 0.5
"""The share of the time that the best plan takes at most."""


@dataclass(frozen=True)
class Alternatives:
    """Plans that are nearly as good as the best one, which comes first, and differ from each other."""

    plans: tuple[Plan, ...]
    elsewhere: tuple[tuple[str, ...], ...]
    """For each plan, the operators that are elsewhere than in the best one."""
    within: float
    """How far from the best objective they may be, as a share."""
    differ: int
    """In how many operators any two of them differ, at least."""
    exhausted: bool
    """Whether it is proved that no other plan is good enough and differs enough from all of these."""
    reason: str | None
    """Why there are fewer than were asked for."""


def alternatives(
    problem: Problem,
    count: int,
    within: float = DEFAULT_WITHIN,
    differ: int | None = None,
    policy: str | Policy = DEFAULT,
    *,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: int = 0,
    previous: Plan | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
    budget: Budget | None = None,
    **parameters: Any,
) -> Alternatives:
    """Find several plans, each nearly as good as the best and different from every other.

    Args:
        problem: what to place, from `berth.load`.
        count: how many plans, the best one included.
        within: how far from the best objective they may be, as a share of it; for normalised sums absolute.
        differ: in how many operators any two of them differ, at least. An operator differs if any of its
            instances is elsewhere; instances that swap places don't count. Default: a tenth of the operators
            that have a choice, and at least one.
        policy: `auto`, `odp` or `search`, or another one that can keep one goal while it seeks the next.
        time_limit: seconds for all of them; None: no limit.
        seed: the same seed gives the same plans, unless the time limit cut it short.
        previous: the plan before, for the objectives `moved_instances` and `moved_state`.
        progress: is called with a `Progress` whenever something better is known.
        budget: instead of `time_limit`; `budget.stop(reason)` ends the search from another thread.
        parameters: the policy's own.

    Raises:
        BadInput: as for `solve`, or an argument that makes no sense.
    """
    chosen = find_policy(policy) if isinstance(policy, str) else policy
    check_keeps(chosen)
    least = _least(problem, count, within, differ)
    task = task_for(Setting(problem, previous), chosen, time_limit, seed, progress, budget, parameters)
    return _Search(task, chosen, count, within, least).alternatives()


def _least(problem: Problem, count: int, within: float, differ: int | None) -> int:
    """In how many operators plans have to differ."""
    choosing = sum(len(nodes) > 1 for nodes in problem.instances.allowed_nodes)
    if count < 1:
        raise BadInput(f"--alternatives: {count} is below 1")
    if not 0 <= within < float("inf"):
        raise BadInput(f"--within: {within} is no share of at least 0")
    if differ is None:
        return max(1, choosing // OPERATORS_PER_DIFFERENCE)
    if differ < 1:
        raise BadInput(f"--differ: {differ} is below 1")
    if differ > choosing:
        there = counted(choosing, "operator")
        raise BadInput(f"--differ: {differ} is too much; {there} may run on more than one node")
    return differ


class _Search:
    """Plans that are found one after the other, the best one first."""

    def __init__(self, task: Task, policy: Policy, count: int, within: float, least: int) -> None:
        self._task, self._policy = task, policy
        self._count, self._within, self._least = count, within, least
        self._first = Plan()
        """The best plan among all, as far as was found at first, with what is proved of it."""
        self._plans: list[Plan] = []

    def alternatives(self) -> Alternatives:
        """All that are found in time."""
        self._first = best = self._solved(self._task.setting, FIRST_SHARE)
        self._plans.append(best)
        goal = common_goal(self._task.problem, [best]) if best.found and not best.violations else None
        if goal is None:
            return self._concluded(False, best.reason)
        setting = self._task.setting
        if goal.bounds:
            # No plan is measured on another scale.
            setting = replace(setting, problem=replace(setting.problem, objective_bounds=goal.bounds))
        while len(self._plans) < self._count:
            if self._task.budget.over:
                return self._concluded(False, self._task.budget.reason)
            plan = self._next(setting, goal)
            if plan.status == "infeasible":
                return self._concluded(True, f"no other plan is {self._asked}")
            if plan.violations or not plan.found:
                return self._concluded(False, f"no other plan was found that is {self._asked}")
            self._plans.append(plan)
            self._sort(goal)
        return self._concluded(False, None)

    @property
    def _asked(self) -> str:
        near, operators = percentage(self._within), counted(self._least, "operator")
        return f"within {near} of the best and differs from each of these in at least {operators}"

    def _next(self, setting: Setting, goal: Goal) -> Plan:
        """The best of the plans that differ enough from all that are known."""
        known = tuple(Unlike(assigned_nodes(setting.problem, plan), self._least) for plan in self._plans)
        share = 1.0 / (self._count - len(self._plans))
        return self._solved(replace(setting, ceilings=(self._limit(goal),), unlike=known), share)

    def _limit(self, goal: Goal) -> Ceiling:
        best = goal.value(self._plans[0].metrics)
        assert best is not None
        return Ceiling.near(goal, best, self._within)

    def _solved(self, setting: Setting, share: float) -> Plan:
        """A plan that is found within a share of the time."""
        part = replace(
            self._task,
            setting=setting,
            budget=self._task.budget.part(share),
            report=self._task.staged(f"plan {len(self._plans) + 1} of {self._count}"),
        )
        return solve_task(part, self._policy)

    def _sort(self, goal: Goal) -> None:
        """Best first: a search may find a better plan later, and others are too far from that one then."""
        sign = -1.0 if goal.maximise else 1.0
        self._plans.sort(key=lambda plan: sign * (goal.value(plan.metrics) or 0.0))
        limit = self._limit(goal)
        self._plans = [plan for plan in self._plans if limit.keeps(plan.metrics)]

    def _concluded(self, exhausted: bool, reason: str | None) -> Alternatives:
        problem, graph = self._task.problem, self._task.problem.instances
        best = Unlike(assigned_nodes(problem, self._plans[0]), 0)
        elsewhere = []
        for plan in self._plans:
            numbers = np.flatnonzero(best.elsewhere(graph, assigned_nodes(problem, plan))).tolist()
            elsewhere.append(tuple(graph.operators[number].name for number in numbers))
        told = enumerate(zip(self._plans, elsewhere, strict=True), start=1)
        plans = tuple(self._told(plan, number, names) for number, (plan, names) in told)
        return Alternatives(plans, tuple(elsewhere), self._within, self._least, exhausted, reason)

    def _told(self, plan: Plan, number: int, elsewhere: tuple[str, ...]) -> Plan:
        """A plan with the bound of the first one: it holds for all plans, not only for those that differ."""
        place = {"number": number, "differs": len(elsewhere), "elsewhere": list(elsewhere)}
        told = replace(plan, trace={**plan.trace, "alternative": place})
        if plan is self._first or plan.objective is None:
            return told
        bound = self._first.bound
        gap = None if bound is None else gap_between(plan.objective, bound)
        levels = [{**level, "bound": None, "gap": None} for level in plan.levels]
        if levels:
            levels[0] |= {"bound": bound, "gap": gap}
        proved = gap is not None and gap <= OPTIMAL_GAP and not levels
        status: Status = "optimal" if proved else "feasible"
        return replace(told, status=status, bound=bound, gap=gap, levels=tuple(levels))
