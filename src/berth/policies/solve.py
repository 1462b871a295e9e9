"""From a problem and a policy's name to a plan: the one way that library, command and service share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Occupied, Setting, evaluate
from berth.evaluation.goal import OPTIMAL_GAP, Goal, gap_between, goal_mistakes
from berth.exact.normalise import objective_bounds
from berth.model import BadInput, Plan, Problem
from berth.model.pair_fields import AllPairsError
from berth.model.plan import Status
from berth.policies.policy import Answer, Policy, Progress, Task, parameters_from, plan_of
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
    if time_limit is not None and not time_limit > 0:
        raise BadInput([f"--time-limit: {time_limit} is not above 0"])
    budget = budget or Budget(time_limit)
    setting = Setting(problem, previous, occupied)
    check_objective(setting)
    task = Task(
        setting, parameters_from(chosen.parameters, parameters, chosen.about.name), seed, budget, progress
    )
    try:
        return _plan(task, chosen.about.name, chosen.solve(task))
    except AllPairsError as error:
        reason = f"{chosen.about.name} {_OUT_OF_REACH}: {error}; try --policy mopa"
        return _plan(task, chosen.about.name, Answer("unknown", reason=reason))


def check_objective(setting: Setting) -> None:
    """Refuse an objective that can't be computed.

    Raises:
        BadInput: a line for each metric that is not known of this problem.
    """
    problem = setting.problem
    mistakes = list(goal_mistakes(problem))
    for name in problem.objective:
        metric = METRIC_BY_NAME[name]
        if metric.needs_previous and setting.previous is None:
            mistakes.append(f"objective.{name}: needs a previous plan (--previous PLAN)")
    if mistakes:
        raise BadInput(mistakes)


def problem_goal(task: Task) -> Goal | None:
    """The problem's objective as a goal, with bounds where it needs them; None if no plan exists."""
    problem = task.problem
    goal = Goal(problem.objective, problem.objective_scale)
    if goal.single is not None or problem.objective_scale == "raw":
        return goal
    task.progress(None, None, "bounds of each metric")
    bounds = objective_bounds(task.setting, task.budget, task.seed)
    return None if bounds is None else replace(goal, bounds=bounds)


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
        goal=dict(goal.weights if goal is not None else problem.objective),
        status=answer.status,
        reason=answer.reason,
        seconds=round(task.budget.elapsed, 6),
        trace=trace,
    )
    if answer.nodes is None:
        return plan
    evaluation = evaluate(problem, plan, task.setting.previous, task.setting.occupied)
    objective = goal.value(evaluation.metrics) if goal is not None else None
    plan = replace(
        plan,
        metrics=evaluation.metrics,
        violations=evaluation.violations,
        warnings=evaluation.warnings,
        objective=objective,
    )
    return _with_proof(plan, answer)


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
    status: Status = "optimal" if answer.status == "optimal" and gap <= OPTIMAL_GAP else "feasible"
    return replace(plan, bound=answer.bound, gap=gap, status=status)
