"""What a policy is: one method, from a task to an answer; and its parameters from what a user typed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import Ceiling, Goal, gap_between, goal_mistakes
from berth.evaluation.situation import assignment_of
from berth.exact.normalise import objective_bounds
from berth.model import Download, Plan, Problem, parameters
from berth.model.plan import Status


@dataclass(frozen=True)
class About:
    """What people should know about a policy before they choose it."""

    name: str
    paper: str
    optimises: str
    holds: str
    """The constraints that its plans are sure to keep."""


@dataclass(frozen=True)
class Progress:
    """How far a policy is: the best objective so far and the bound, in the goal's terms."""

    seconds: float
    objective: float | None = None
    bound: float | None = None
    stage: str = ""


@dataclass(frozen=True)
class Task:
    """What a policy is given."""

    setting: Setting
    parameters: Any
    seed: int
    budget: Budget
    report: Callable[[Progress], None] = lambda progress: None
    start: NDArray[np.intp] | None = None
    """The node of each instance in a plan that is known already, for policies that improve plans."""

    @property
    def problem(self) -> Problem:
        """The problem to solve."""
        return self.setting.problem

    def staged(self, stage: str) -> Callable[[Progress], None]:
        """A report for a part of the task: it says at which stage that is, and then what it says itself."""
        return lambda told: self.report(replace(told, stage=": ".join(filter(None, (stage, told.stage)))))

    def progress(self, objective: float | None, bound: float | None, stage: str = "") -> None:
        """Tell how far it is."""
        self.report(Progress(self.budget.elapsed, objective, bound, stage))


def problem_goal(task: Task) -> Goal | None:
    """The problem's objective as a goal, with bounds where it needs them; None if no plan exists."""
    problem = task.problem
    goal = Goal(problem.objective, problem.objective_scale)
    if goal.single is not None or problem.objective_scale == "raw":
        return goal
    task.progress(None, None, "bounds of each metric")
    # the scale is that of this goal alone, whatever those before it leave
    alone = replace(task.setting, ceilings=(), unlike=())
    bounds = objective_bounds(alone, task.budget, task.seed)
    if bounds is None:
        return None
    # a best value that users give may be wrong
    told = goal.weights.keys() & problem.objective_bounds.keys()
    return replace(goal, bounds=bounds, floor=-math.inf if told else 0.0)


@dataclass(frozen=True)
class Level:
    """One of several goals in order, and what is proved about it."""

    goal: Goal
    bound: float | None
    """It holds among the plans that the goals before admit; None: nothing is proved."""
    within: float
    """How near to its best value a plan has to be."""

    def proves(self, metrics: Mapping[str, float]) -> bool:
        """Whether a plan with these metrics is proved to be near enough."""
        return self.bound is not None and Ceiling.near(self.goal, self.bound, self.within).keeps(metrics)

    def document(self, metrics: Mapping[str, float]) -> dict[str, Any]:
        """What it came to in a plan with these metrics."""
        value = self.goal.value(metrics)
        gap = None if value is None or self.bound is None else gap_between(value, self.bound)
        return {"goal": dict(self.goal.weights), "objective": value, "bound": self.bound, "gap": gap}


@dataclass(frozen=True, eq=False)
class Answer:
    """What a policy found. Metrics and violations are not its business: the judge computes them."""

    status: Status
    nodes: NDArray[np.intp] | None = None
    """The node of each instance, in the order of the problem's instances; -1: not placed."""
    goal: Goal | None = None
    """What was minimised; None: the problem's objective."""
    bound: float | None = None
    reason: str | None = None
    trace: Mapping[str, Any] = field(default_factory=dict)
    containers: Mapping[str, str] = field(default_factory=dict)
    downloads: tuple[Download, ...] = ()
    reuse: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    failover: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For each loss that has to be survived, the new nodes of what moves."""
    levels: tuple[Level, ...] = ()
    """What came of goals in order."""
    policy: str | None = None
    """Who found it, where that is another policy than the one that was asked."""


@dataclass(frozen=True)
class NoParameters:
    """For policies that have nothing to set."""


def plan_of(problem: Problem, answer: Answer) -> Plan:
    """What an answer places, and nothing else of a plan."""
    assert answer.nodes is not None
    return Plan(
        assignment_of(problem, answer.nodes),
        containers=answer.containers,
        downloads=answer.downloads,
        reuse=answer.reuse,
        skipped=answer.skipped,
        failover=answer.failover,
    )


class Policy(Protocol):
    """A way to place operators. A class with these two attributes and this method is one."""

    @property
    def about(self) -> About:
        """What people should know about it."""
        ...

    @property
    def parameters(self) -> type:
        """A frozen dataclass: its fields are what users may set, with defaults and types."""
        ...

    def solve(self, task: Task) -> Answer:
        """Find a plan."""
        ...


def parameters_from(kind: type, given: Mapping[str, Any], policy: str) -> Any:
    """An instance of a policy's parameter class.

    Raises:
        BadInput: an unknown parameter, or a value of the wrong kind or out of range.
    """
    return parameters.parameters_from(kind, given, f"policy {policy}")


def mistakes_for(problem: Problem, metric: str, owner: str) -> list[str]:
    """What a metric that a policy looks at, whatever the objective is, doesn't find in a problem.

    Args:
        problem: with an objective of its own.
        metric: what the policy minimises or bounds.
        owner: what lines begin with instead of the objective.
    """
    lines = goal_mistakes(replace(problem, objective={metric: 1.0}, then=None))
    return [line.replace(f"objective.{metric}", owner, 1) for line in lines]
