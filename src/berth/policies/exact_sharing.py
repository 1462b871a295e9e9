"""What the exact policies of paper 004 share: one goal over all plans, with equal operators computed once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from berth.evaluation import Setting
from berth.evaluation.goal import Goal, goal_mistakes
from berth.model import BadInput, Plan, Problem
from berth.policies.policy import Answer, Task

HOLDS = "all but containers; reuse and downloads are decided, too"
PAPER = "004: Benoit et al., Resource allocation for multiple in-network stream-processing applications"


@dataclass(frozen=True)
class SharingParameters:
    """What users may set."""

    reuse: bool = field(
        default=True,
        metadata={"help": "take results of equal operators elsewhere; false: every operator is computed"},
    )
    gap: float = field(default=0.0, metadata={"help": "stop when the gap is at most this"})

    def __post_init__(self) -> None:
        if not 0 <= self.gap < 1:
            raise ValueError(f"gap: {self.gap} is not from 0 to below 1")


def solve_for_metric(task: Task, goal: Goal, policy: str) -> Answer:
    """The best plan for a policy's own goal.

    Raises:
        BadInput: the goal can't be known from the problem.
    """
    mistakes = list(goal_mistakes(replace(task.problem, objective=goal.weights)))
    for name in goal.weights:
        mistakes = [line.replace(f"objective.{name}", f"--policy {policy}", 1) for line in mistakes]
    if mistakes:
        raise BadInput(mistakes)
    parameters: SharingParameters = task.parameters
    return solve_shared(task, goal, parameters.reuse, parameters.gap)


def solve_shared(task: Task, goal: Goal, reuse: bool, gap: float) -> Answer:
    """The best plan for a goal whose metrics the model with sharing covers, and what is proved about it."""
    from berth.exact.sharing.solve import LARGEST_MODEL, minimise_shared  # loads the solver

    doubt = _unmodelled(task.problem)
    setting = task.setting if doubt is None else _without_containers(task.setting)
    solution = minimise_shared(setting, goal, reuse, task.budget, task.seed, gap, task.progress)
    trace = dict(solution.trace)
    if doubt is not None:
        trace["no_proof"] = doubt
    if solution.status == "infeasible" and doubt is None:
        return _infeasible(task, goal, reuse)
    if solution.plan is None:
        why = doubt or task.budget.reason
        if trace.get("too_large"):
            size = trace["combinations"]
            why = f"too large for an exact model ({size} combinations, at most {LARGEST_MODEL})"
        return Answer("unknown", goal=goal, reason=f"no plan found: {why}", trace=trace)
    reason = f"not proved: {doubt}" if doubt is not None else None
    if reason is None and solution.status != "optimal":
        reason = task.budget.reason if task.budget.over else f"stopped at a gap of at most {gap}"
    return Answer(
        status=solution.status if doubt is None else "feasible",
        nodes=_nodes(task.problem, solution.plan),
        goal=goal,
        bound=solution.bound if doubt is None else None,
        reason=reason,
        trace=trace,
        downloads=solution.plan.downloads,
        reuse=solution.plan.reuse,
        skipped=solution.plan.skipped,
    )


def _unmodelled(problem: Problem) -> str | None:
    packs = any(application.containers is not None for application in problem.applications)
    return "containers are not packed" if packs else None


def _without_containers(setting: Setting) -> Setting:
    """What is solved where containers are asked for: the judge then lists that nothing is in any."""
    applications = tuple(replace(each, containers=None) for each in setting.problem.applications)
    return replace(setting, problem=replace(setting.problem, applications=applications))


def _nodes(problem: Problem, plan: Plan) -> np.ndarray:
    nodes = np.full(len(problem.instances), -1, dtype=np.intp)
    for name, node in plan.assignment.items():
        nodes[problem.instances.index[name]] = problem.network.index[node]
    return nodes


def _infeasible(task: Task, goal: Goal, reuse: bool) -> Answer:
    """No plan keeps all constraints: which of them clash."""
    from berth.exact.conflict import least_conflict
    from berth.exact.sharing.model import SharingModel
    from berth.exact.sharing.shared import Shared

    model = SharingModel(Shared(task.setting, reuse), relaxable=True)
    lines = least_conflict(model, task.budget.part(0.5, most=20.0))
    reason = "; ".join(lines) or "the constraints can't hold together"
    return Answer("infeasible", goal=goal, reason=reason, trace={"conflict": lines})
