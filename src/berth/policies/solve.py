"""From a problem and a policy's name to a plan: the one way that library, command and service share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Occupied, Setting, Situation
from berth.evaluation.evaluate import evaluation_of
from berth.evaluation.goal import OPTIMAL_GAP, Goal, gap_between, goal_mistakes
from berth.evaluation.warnings import problem_warnings
from berth.exact.normalise import objective_bounds
from berth.model import BadInput, Plan, Problem
from berth.model.pair_fields import AllPairsError
from berth.model.plan import Status
from berth.policies.failover import answer_of
from berth.policies.levels import TIE_SHARE, break_ties, solve_in_order
from berth.policies.policy import (
    Answer,
    Level,
    Policy,
    Progress,
    Task,
    parameters_from,
    plan_of,
    problem_goal,
)
from berth.policies.registry import DEFAULT, find_policy

DEFAULT_TIME_LIMIT = 60.0
_OUT_OF_REACH = "can't place on so many nodes"


def solve(
    problem: Problem,
    policy: str | Policy = DEFAULT,
    *,
    time_limit: float | None = DEFAULT_TIME_LIMIT,
    seed: int = 0,
    previous: Plan | None = None,
    occupied: Occupied | None = None,
    progress: Callable[[Progress], None] = lambda progress: None,
    budget: Budget | None = None,
    **parameters: Any,
) -> Plan:
    """Find a plan for a problem.

    Args:
        problem: what to place, from `berth.load`.
        policy: a policy's name (`berth policies` lists them) or a policy itself.
        time_limit: seconds after which the best plan so far is returned; None: no limit.
        seed: the same seed gives the same plan, unless the time limit cut it short.
        previous: the plan before, for the objectives `moved_instances` and `moved_state`.
        occupied: what others have taken of the nodes; policies that hold capacities leave it alone.
        progress: is called with a `Progress` whenever something better is known.
        budget: instead of `time_limit`; `budget.stop(reason)` ends the search from another thread.
        parameters: the policy's own.

    Returns:
        A plan with its status, bound, gap, metrics, violations and trace.

    Raises:
        BadInput: an unknown policy or parameter, or an objective that can't be computed.
    """
    chosen = find_policy(policy) if isinstance(policy, str) else policy
    setting = Setting(problem, previous, occupied)
    return solve_task(task_for(setting, chosen, time_limit, seed, progress, budget, parameters), chosen)


def task_for(
    setting: Setting,
    policy: Policy,
    time_limit: float | None,
    seed: int,
    progress: Callable[[Progress], None],
    budget: Budget | None,
    parameters: Mapping[str, Any],
) -> Task:
    """What a policy is asked, with everything that a user gave checked.

    Raises:
        BadInput: an unknown parameter, or an objective that can't be computed.
    """
    if time_limit is not None and not time_limit > 0:
        raise BadInput([f"--time-limit: {time_limit} is not above 0"])
    check_objective(setting)
    chosen = parameters_from(policy.parameters, parameters, policy.about.name)
    return Task(setting, chosen, seed, budget or Budget(time_limit), progress)


def solve_task(task: Task, policy: Policy) -> Plan:
    """The plan that a policy finds, judged in its setting."""
    name = policy.about.name
    try:
        return _plan(task, name, _answer(task, policy))
    except AllPairsError as error:
        reason = f"{name} {_OUT_OF_REACH}: {error}; try --policy mopa"
        return _plan(task, name, Answer("unknown", reason=reason))


def check_objective(setting: Setting) -> None:
    """Refuse an objective that can't be computed.

    Raises:
        BadInput: a line for each metric that is not known of this problem.
    """
    problem = setting.problem
    mistakes = list(goal_mistakes(problem))
    for name in dict.fromkeys(name for weights in problem.objectives for name in weights):
        metric = METRIC_BY_NAME[name]
        if metric.needs_previous and setting.previous is None:
            mistakes.append(f"objective.{name}: needs a previous plan (--previous PLAN)")
    if mistakes:
        raise BadInput(mistakes)


def _answer(task: Task, policy: Policy) -> Answer:
    """What a policy finds; those that can keep goals in order, and break ties."""
    if not getattr(policy, "keeps_order", False):
        return answer_of(policy, task)
    picks = getattr(task.parameters, "ties", "better") != "better"
    if task.problem.then is not None:
        return solve_in_order(task, policy, breaks_ties=not picks)
    if picks or getattr(task.parameters, "candidate_fraction", 1.0) < 1.0:
        return policy.solve(task)
    limited = math.isfinite(task.budget.remaining)
    first = replace(task, budget=task.budget.part(1.0 - TIE_SHARE)) if limited else task
    answer = policy.solve(first)
    return break_ties(task, answer)


def on_one_scale(setting: Setting, budget: Budget, seed: int) -> Problem:
    """The problem with the bounds of its normalised sum in it: whoever solves it measures plans alike."""
    problem = setting.problem
    goal = Goal(problem.objective, problem.objective_scale)
    if goal.single is not None or goal.scale == "raw":
        return problem
    try:
        bounds = objective_bounds(setting, budget, seed)
    except AllPairsError:
        return problem
    return problem if bounds is None else replace(problem, objective_bounds=bounds)


def _plan(task: Task, policy: str, answer: Answer) -> Plan:
    """The answer judged: metrics, violations, objective and gap."""
    problem, goal = task.problem, answer.goal
    if goal is None and answer.nodes is not None:
        goal = problem_goal(task)
    trace = dict(answer.trace)
    if goal is not None and goal.bounds:
        trace["objective_bounds"] = {name: list(pair) for name, pair in goal.bounds.items()}
    plan = replace(
        Plan() if answer.nodes is None else plan_of(problem, answer),
        problem=problem.name,
        problem_fingerprint=problem.fingerprint,
        policy=answer.policy or policy,
        seed=task.seed,
        goal=_goal_of(problem, goal),
        status=answer.status,
        reason=answer.reason,
        seconds=round(task.budget.elapsed, 6),
        trace=trace,
    )
    if answer.nodes is None:
        # a label that no node has may be all that is in the way
        return replace(plan, bound=answer.bound, warnings=problem_warnings(problem))
    evaluation = evaluation_of(Situation(task.setting, plan))
    objective = goal.value(evaluation.metrics) if goal is not None else None
    levels = answer.levels or _levels_of(problem, plan, goal)
    plan = replace(
        plan,
        metrics=evaluation.metrics,
        violations=evaluation.violations,
        warnings=evaluation.warnings,
        objective=objective,
        levels=tuple(level.document(evaluation.metrics) for level in levels),
    )
    return _with_proof(plan, answer)


def _goal_of(problem: Problem, goal: Goal | None) -> Mapping[str, float] | tuple[Mapping[str, float], ...]:
    """What was minimised: a policy's own goal, or all of the problem's."""
    if goal is not None and dict(goal.weights) != dict(problem.objective):
        return dict(goal.weights)
    levels = tuple(dict(weights) for weights in problem.objectives)
    return levels if problem.then is not None else levels[0]


def _levels_of(problem: Problem, plan: Plan, goal: Goal | None) -> tuple[Level, ...]:
    """The problem's goals, of which a policy heeds the first at most: nothing is proved."""
    if isinstance(plan.goal, Mapping):
        return ()
    scale = problem.objective_scale
    later = (Goal(weights, scale) for weights in problem.then or ())
    first = Goal(problem.objective, scale) if goal is None else goal
    known = (item for item in (first, *later) if item.single is not None or scale == "raw" or item.bounds)
    return tuple(Level(item, None, 0.0) for item in known)


def _with_proof(plan: Plan, answer: Answer) -> Plan:
    """Bound, gap and a status that says no more than what holds."""
    if plan.violations:
        reason = answer.reason or f"the plan breaks {len(plan.violations)} constraint(s)"
        return replace(plan, status="unknown", reason=reason)
    if answer.status == "unknown":
        # The best that was found: it doesn't keep what the policy was asked for, as its reason says.
        return plan
    if answer.bound is None or plan.objective is None:
        return replace(plan, status="feasible")
    gap = gap_between(plan.objective, answer.bound)
    proved = (
        all(level.proves(plan.metrics) for level in answer.levels) if answer.levels else gap <= OPTIMAL_GAP
    )
    status: Status = "optimal" if answer.status == "optimal" and proved else "feasible"
    return replace(plan, bound=answer.bound, gap=gap, status=status)
