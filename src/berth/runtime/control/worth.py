"""What a plan is worth under a problem, and how much better one plan is than another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from berth.amounts import metric as metric_text
from berth.amounts import quantity
from berth.evaluation import METRIC_BY_NAME, evaluate
from berth.evaluation.goal import Goal
from berth.model import BadInput, Plan, Problem

MOVING = ("moved_instances", "moved_state")
"""Metrics that are no merit of a plan but the price of getting there."""


@dataclass(frozen=True)
class Worth:
    """A plan, judged."""

    metrics: Mapping[str, float]
    violations: tuple[str, ...]
    value: float | None
    """The objective, as far as it can be known."""


@dataclass(frozen=True)
class Yardstick:
    """The objective of a problem without the price of moving, the same for all plans and looks.

    A normalised sum is brought to one scale by bounds. These are learnt once, from the first plan that was
    solved for, and then kept: values of different looks can be compared.
    """

    goal: Goal

    @classmethod
    def of(cls, problem: Problem) -> Yardstick:
        """The objective that a problem asks for.

        Raises:
            BadInput: it is about moving alone, so that nothing would ever move.
        """
        weights = {name: weight for name, weight in problem.objective.items() if name not in MOVING}
        if not weights:
            raise BadInput(["objective: only the price of moving; name what a move should make better"])
        bounds = {name: pair for name, pair in problem.objective_bounds.items() if name in weights}
        return cls(Goal(weights, problem.objective_scale, bounds))

    def learnt(self, bounds: Mapping[str, tuple[float, float]]) -> Yardstick:
        """With the bounds that a solver used, where some are missing."""
        if not self._lacks_bounds or not bounds.keys() >= self.goal.weights.keys():
            return self
        return Yardstick(replace(self.goal, bounds={name: bounds[name] for name in self.goal.weights}))

    @property
    def _lacks_bounds(self) -> bool:
        scaled = self.goal.single is None and self.goal.scale == "normalised"
        return scaled and any(name not in self.goal.bounds for name in self.goal.weights)

    @property
    def name(self) -> str:
        """What the value is: `response time`, or `weighted sum`."""
        return "weighted sum" if self.goal.single is None else self.goal.single.replace("_", " ")

    @property
    def key(self) -> str | None:
        """The metric's key where the objective is a single one."""
        return None if self.goal.single is None else METRIC_BY_NAME[self.goal.single].key

    def text(self, value: float | None) -> str:
        """A value with its unit."""
        if value is None:
            return "unknown"
        return quantity(value) if self.key is None else metric_text(self.key, value)

    def judge(self, problem: Problem, plan: Plan) -> Worth:
        """What a plan is worth under a problem."""
        judged = evaluate(problem, plan)
        value = None if self._lacks_bounds else self.goal.value(judged.metrics)
        return Worth(judged.metrics, judged.violations, value)

    def gain(self, before: Worth, after: Worth) -> float:
        """How much better `after` is: 0.2 is a fifth, below 0 is worse.

        A single metric's change is taken relative to the larger of the two values. Of a normalised sum it is
        the mean of such changes by the weights; a raw sum's is relative to the size of what is added up.
        """
        goal = self.goal
        if goal.single is None and goal.scale == "raw":
            if before.value is None or after.value is None:
                return _known(before.value, after.value)
            size = max(goal.magnitude(before.metrics), goal.magnitude(after.metrics))
            return (before.value - after.value) / size if size else 0.0
        changes = (weight * _change(name, before, after) for name, weight in goal.weights.items())
        return sum(changes) / sum(goal.weights.values())


def _change(name: str, before: Worth, after: Worth) -> float:
    metric = METRIC_BY_NAME[name]
    old, new = before.metrics.get(metric.key), after.metrics.get(metric.key)
    if old is None or new is None:
        return _known(old, new)
    size = max(abs(old), abs(new))
    step = (old - new) / size if size else 0.0
    return -step if metric.maximise else step


def _known(old: float | None, new: float | None) -> float:
    """A value that can be computed is all the better than one that can't: a link may be missing."""
    return float(new is not None) - float(old is not None)
