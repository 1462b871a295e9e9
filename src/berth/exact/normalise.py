"""The best and the worst of every metric in a weighted sum, to bring them to one scale (card 1.9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting
from berth.evaluation.goal import Goal, on_scale
from berth.evaluation.metrics import AdditiveMetric
from berth.exact.minimise import Solution, minimise
from berth.exact.packing import PACKING_METRICS
from berth.exact.paths import PathTimes
from berth.exact.placement import Placement, modelled, most_utilised

SHARE = 1 / 3
"""The share of the time that is left which all of these bounds together may take."""


@dataclass(frozen=True)
class WorstGoal(Goal):
    """The opposite of a single metric's goal: how bad can it get?"""

    @property
    def maximise(self) -> bool:
        """The other way round."""
        return not super().maximise

    def coefficient(self, name: str) -> float:
        """The other sign."""
        return -super().coefficient(name)

    def from_costs(self, total: float) -> float:
        """The metric from the sum of costs."""
        return super().from_costs(-total)

    def costs(self, metrics: Mapping[str, float]) -> float:
        """The sum of costs from the metric."""
        return -super().costs(metrics)


def objective_bounds(
    setting: Setting, budget: Budget, seed: int = 0
) -> dict[str, tuple[float, float]] | None:
    """[best, worst] of each metric in the problem's objective; None if no plan keeps the constraints.

    The user's own bounds come first. Best is the proved optimum of the metric alone, or its bound.
    Worst is the longest path over the worst nodes and links for response times, and the proved
    maximum over all plans, or its bound, for the others.
    """
    problem = setting.problem
    setting = modelled(setting)
    bounds = {}
    budget, solves = budget.part(SHARE), 2 * len(problem.objective)
    for number, name in enumerate(problem.objective):
        if name in problem.objective_bounds:
            bounds[name] = problem.objective_bounds[name]
            continue
        part = budget.part(1 / (solves - 2 * number))
        solution = minimise(setting, Goal({name: 1.0}), part, seed)
        if solution.status == "infeasible":
            return None
        best = _proved(name, solution)
        worst = _worst(setting, name, budget.part(1 / (solves - 2 * number - 1)), seed)
        bounds[name] = _ordered(name, best, best if worst is None else worst)
    return bounds


def _proved(name: str, solution: Solution) -> float:
    """The optimum where it is proved, else the bound; no metric is below 0, and no availability above 1."""
    if solution.bound is not None:
        return solution.bound
    return 1.0 if METRIC_BY_NAME[name].maximise else 0.0


def _worst(setting: Setting, name: str, budget: Budget, seed: int) -> float | None:
    if name in ("response_time", "loaded_response_time"):
        return PathTimes(Placement(setting), loaded=name.startswith("loaded")).horizon
    if name == "failover_response_time":
        left = [loss.left for loss in setting.problem.losses if len(loss.kept)]
        return max((PathTimes(Placement(Setting(item))).horizon for item in left), default=0.0)
    if name == "response_time_sum":
        return PathTimes(Placement(setting)).horizons_added
    if name == "utilisation_max":
        return most_utilised(Placement(setting))
    if name == "bandwidth_max":
        return 1.0
    if not isinstance(METRIC_BY_NAME[name], AdditiveMetric) and name not in PACKING_METRICS:
        return None
    solution = minimise(setting, WorstGoal({name: 1.0}), budget, seed)
    return solution.bound if solution.bound is not None else solution.objective


def _ordered(name: str, best: float, worst: float) -> tuple[float, float]:
    """Best never behind worst; a difference that is only rounding is none."""
    high, low = on_scale(name, best), on_scale(name, worst)
    if abs(high - low) <= 1e-9 * max(abs(high), abs(low)):
        return best, best
    return best, worst
