"""The judge: metrics and violations of any plan, and what is different between two plans."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

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
    return evaluation_of(Situation(Setting(problem, previous, occupied), plan))


def evaluation_of(situation: Situation) -> Evaluation:
    """The same of a plan in its setting."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = {metric.key: metric.value(situation) for metric in METRICS}
        broken = tuple(violations(situation))
    metrics = {key: value for key, value in values.items() if value is not None and math.isfinite(value)}
    return Evaluation(metrics, broken)


@dataclass(frozen=True)
class Change:
    """Moves and metrics, before and after."""

    moved: dict[str, tuple[str, str]]
    added: dict[str, str]
    removed: dict[str, str]
    kept: int
    metrics: dict[str, tuple[float | None, float | None]]
    healed: tuple[str, ...]
    """Constraints that only the plan before breaks."""
    broken: tuple[str, ...]
    """Constraints that only the plan after breaks."""

    def document(self) -> dict[str, Any]:
        """The change as plain data."""
        return {
            "moved": {name: {"from": old, "to": new} for name, (old, new) in self.moved.items()},
            "added": self.added,
            "removed": self.removed,
            "kept": self.kept,
            "metrics": {key: {"before": old, "after": new} for key, (old, new) in self.metrics.items()},
            "healed": list(self.healed),
            "broken": list(self.broken),
        }


def change_between(before: Plan, after: Plan) -> Change:
    """Compare two plans instance by instance and metric by metric."""
    old, new = before.assignment, after.assignment
    both = [name for name in old if name in new]
    keys = dict.fromkeys([*before.metrics, *after.metrics])
    return Change(
        moved={name: (old[name], new[name]) for name in both if old[name] != new[name]},
        added={name: node for name, node in new.items() if name not in old},
        removed={name: node for name, node in old.items() if name not in new},
        kept=sum(old[name] == new[name] for name in both),
        metrics={key: (before.metrics.get(key), after.metrics.get(key)) for key in keys},
        healed=tuple(line for line in before.violations if line not in after.violations),
        broken=tuple(line for line in after.violations if line not in before.violations),
    )
