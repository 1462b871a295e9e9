"""The judge: metrics and violations of any plan."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from berth.evaluation.metrics import METRICS
from berth.evaluation.situation import Occupied, Setting, Situation
from berth.evaluation.violations import violations
from berth.model import Plan, Problem


@dataclass(frozen=True)
class Evaluation:
    """What a plan is worth and what it breaks."""

    metrics: dict[str, float]
    violations: tuple[str, ...]


def evaluate(
    problem: Problem, plan: Plan, previous: Plan | None = None, occupied: Occupied | None = None
) -> Evaluation:
    """Compute every metric of a plan and list every constraint that it breaks.

    Metrics that can't be computed (an unknown rate, a missing link, an instance without a node) or are
    beyond all numbers are left out. `previous` is the plan before, for what has moved; `occupied` what others
    have taken of the nodes.

    Raises:
        BadInput: the plan names instances, operators, nodes or objects that the problem doesn't have.
    """
    situation = Situation(Setting(problem, previous, occupied), plan)
    with np.errstate(over="ignore", invalid="ignore"):
        values = {metric.key: metric.value(situation) for metric in METRICS}
        broken = tuple(violations(situation))
    metrics = {key: value for key, value in values.items() if value is not None and math.isfinite(value)}
    return Evaluation(metrics, broken)
