"""The exact policies of paper 004: `proc-nb`, `proc-power`, `bw-sum` and `bw-max`.

Each minimises one goal over all plans, where equal operators may be computed once. `odp` solves problems with
equal operators in the same way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from berth.evaluation import Setting
from berth.evaluation.goal import Goal, goal_mistakes
from berth.model import BadInput, Plan, Problem
from berth.policies.policy import About, Answer, Task

_HOLDS = "all but containers; reuse and downloads are decided, too"
_PAPER = "004: Benoit et al., Resource allocation for multiple in-network stream-processing applications"


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


@dataclass(frozen=True)
class PowerParameters(SharingParameters):
    """What users may set."""

    alpha: float = field(default=1.0, metadata={"help": "the price of a node's speed"})
    beta: float = field(default=0.0, metadata={"help": "the price of its network card, for each byte/s"})
    variant: Literal["enrolled", "eq7"] = field(
        default="enrolled",
        metadata={"help": "enrolled: price of the nodes in use; eq7: busy processors (processing_power)"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("alpha", "beta"):
            value = getattr(self, name)
            if not (value >= 0 and math.isfinite(value)):
                raise ValueError(f"{name}: {value} is not a number from 0 on")
        if self.alpha == self.beta == 0 and self.variant == "enrolled":
            raise ValueError("alpha: 0 beside beta=0 leaves nothing to minimise; set one of them above 0")
        if self.variant == "eq7" and (self.alpha, self.beta) != (1.0, 0.0):
            raise ValueError("variant: eq7 has no prices; leave alpha and beta out")

    @property
    def goal(self) -> Goal:
        """What these parameters ask for."""
        if self.variant == "eq7":
            return Goal({"processing_power": 1.0})
        prices = {"enrolled_speed": self.alpha, "enrolled_card": self.beta}
        weights = {name: price for name, price in prices.items() if price > 0}
        # A single metric counts as it is, whatever its price.
        return Goal(weights, "raw") if len(weights) > 1 else Goal(dict.fromkeys(weights, 1.0))


@dataclass(frozen=True)
class ExactPolicy:
    """The best plan for a goal of its own."""

    name: str
    metric: str
    parameters: type = SharingParameters

    @property
    def about(self) -> About:
        """What people should know."""
        return About(self.name, _PAPER, f"{self.metric}, exactly", _HOLDS)

    def goal(self, parameters: SharingParameters) -> Goal:
        """What is minimised."""
        return parameters.goal if isinstance(parameters, PowerParameters) else Goal({self.metric: 1.0})

    def solve(self, task: Task) -> Answer:
        """Minimise the goal.

        Raises:
            BadInput: the goal can't be known from the problem.
        """
        parameters: SharingParameters = task.parameters
        goal = self.goal(parameters)
        mistakes = list(goal_mistakes(task.problem.for_goal(goal.weights)))
        for name in goal.weights:
            mistakes = [line.replace(f"objective.{name}", f"--policy {self.name}", 1) for line in mistakes]
        if mistakes:
            raise BadInput(mistakes)
        return solve_shared(task, goal, parameters.reuse, parameters.gap)


PROC_NB = ExactPolicy("proc-nb", "nodes_used")
"""The fewest nodes that host anything."""
PROC_POWER = ExactPolicy("proc-power", "enrolled_speed", PowerParameters)
"""The least power of the nodes in use."""
BW_SUM = ExactPolicy("bw-sum", "bandwidth_sum")
"""The least sum of streams and downloads, each flow counted once."""
BW_MAX = ExactPolicy("bw-max", "bandwidth_max")
"""The lowest share of the link that is used most."""


def solve_shared(task: Task, goal: Goal, reuse: bool, gap: float) -> Answer:
    """The best plan for a goal whose metrics the model with sharing covers, and what is proved about it."""
    from berth.exact.sharing.minimise_shared import LARGEST_MODEL, minimise_shared  # loads the solver

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
