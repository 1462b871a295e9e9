"""Goals: what a plan is worth in an objective's terms, and the best values of goals in order."""

import math
from collections.abc import Mapping
from typing import Any

from .enumerate import feasible_situations
from .metrics import METRIC_OF_OBJECTIVE, metric
from .situation import Situation

Goal = dict[str, float]
Bounds = Mapping[str, tuple[float, float]]

NEAR_ENOUGH = 1e-6
DUST = 1e-9  # sums of the same numbers in another order
LEAST_AVAILABILITY = 1e-12


def goals(problem: dict[str, Any]) -> list[Goal]:
    """Return the goals in their order: "`objective` may be a list"; "absent: response_time"."""
    objective = problem.get("objective", {"response_time": 1.0})
    entries = objective if isinstance(objective, list) else [objective]
    return [{key: weight for key, weight in entry.items() if weight} for entry in entries]


def is_normalised(problem: dict[str, Any], goal: Goal) -> bool:
    """Contract: "With several weights, unless `raw`"."""
    return len(goal) > 1 and problem.get("objective_scale", "normalised") == "normalised"


def is_maximised(goal: Goal) -> bool:
    """Contract: "a single weight means the metric itself [...] (availability: maximised)"."""
    return list(goal) == ["availability"]


def worth(situation: Situation, goal: Goal, bounds: Bounds | None) -> float:
    """Return a plan's objective: a metric, a raw sum, or with bounds a normalised one.

    "`raw` sums take availability with a minus"; otherwise "the sum of w (x - best) / (worst - best), with the
    logarithm of availability"; "a metric whose range is zero is a constant".
    """
    values = {key: metric(situation, METRIC_OF_OBJECTIVE[key]) for key in goal}
    numbers = {key: value for key, value in values.items() if value is not None}
    if len(numbers) < len(goal):
        raise ValueError(f"{goal} can't be computed")
    if len(goal) == 1:
        return next(iter(numbers.values()))
    if bounds is None:
        return math.fsum(
            weight * (-numbers[key] if key == "availability" else numbers[key])
            for key, weight in goal.items()
        )
    return math.fsum(weight * normalised(key, numbers[key], bounds[key]) for key, weight in goal.items())


def normalised(key: str, value: float, bounds: tuple[float, float]) -> float:
    """Return where a value lies between the best, 0, and the worst, 1."""
    best, worst = bounds
    if key == "availability":
        value, best, worst = (math.log(max(each, LEAST_AVAILABILITY)) for each in (value, best, worst))
    return 0.0 if worst == best else (value - best) / (worst - best)


def best_levels(problem: dict[str, Any], bounds: list[Bounds] | None = None) -> list[float] | None:
    """Return the best value of each goal among the plans that the goals before it admit; None: no plan.

    "The first entry is minimised; among the plans that are near enough to its best value, the second, and so
    on." Normalised sums need the bounds of every level.
    """
    admitted = list(feasible_situations(problem))
    if not admitted:
        return None
    found = []
    for level, goal in enumerate(goals(problem)):
        scale = None
        if is_normalised(problem, goal):
            assert bounds is not None, "normalised sums need bounds"
            scale = bounds[level]
        values = [worth(situation, goal, scale) for situation in admitted]
        best = max(values) if is_maximised(goal) else min(values)
        found.append(best)
        admitted = [
            situation
            for situation, value in zip(admitted, values, strict=True)
            if is_near(problem, level, value, best)
        ]
    return found


def is_near(problem: dict[str, Any], level: int, value: float, best: float) -> bool:
    """Tell whether a value is near enough to a level's best one.

    "a relative 1e-6, or the level's entry of `objective_within` [...] where that is larger (one number a
    level; for normalised sums the tolerance is absolute [...])".
    """
    within = problem.get("objective_within", [])
    allowed = max(NEAR_ENOUGH, within[level] if level < len(within) else 0.0)
    unit = 1.0 if is_normalised(problem, goals(problem)[level]) else abs(best)
    return abs(value - best) <= allowed * unit + DUST * abs(best)
