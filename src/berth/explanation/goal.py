"""What a plan is measured by: its own goal, or the problem's objective."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting
from berth.evaluation.goal import Goal
from berth.exact.normalise import objective_bounds
from berth.model import Plan


def goal_of(setting: Setting, plan: Plan, budget: Budget) -> Goal | None:
    """The plan's goal; bounds of a normalised sum are those in its trace, or are found in the time given.

    None: no plan keeps the constraints, so that a normalised sum has no scale.
    """
    problem = setting.problem
    own = bool(plan.goal) and all(name in METRIC_BY_NAME for name in plan.goal)
    goal = Goal(dict(plan.goal if own else problem.objective), problem.objective_scale)
    if goal.single is not None or goal.scale == "raw":
        return goal
    told = _told_bounds(goal, plan.trace.get("objective_bounds"))
    if told is not None:
        return replace(goal, bounds=told)
    asked = replace(setting, problem=replace(problem, objective=goal.weights))
    bounds = objective_bounds(asked, budget, plan.seed)
    return None if bounds is None else replace(goal, bounds=bounds)


def _told_bounds(goal: Goal, told: Any) -> dict[str, tuple[float, float]] | None:
    """The bounds that a plan's trace tells; None unless it tells all of them."""
    if not isinstance(told, Mapping):
        return None
    pairs = {name: told.get(name) for name in goal.weights}
    if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs.values()):
        return None
    if not all(_is_number(value) for pair in pairs.values() for value in pair or ()):
        return None
    return {name: (float(pair[0]), float(pair[1])) for name, pair in pairs.items() if pair is not None}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
