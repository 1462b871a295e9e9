"""The judge: metrics and violations of any plan, and what is different between two plans."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from berth.amounts import counted
from berth.evaluation.goal import Goal
from berth.evaluation.losses import loss_violations
from berth.evaluation.metrics import METRIC_BY_NAME, METRICS
from berth.evaluation.situation import Occupied, Setting, Situation
from berth.evaluation.warnings import warnings
from berth.model import Plan, Problem


@dataclass(frozen=True)
class Evaluation:
    """What a plan is worth and what it breaks."""

    metrics: dict[str, float]
    violations: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    """What breaks nothing and is worth knowing."""


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
        broken = (*situation.broken, *loss_violations(situation))
        worth_knowing = tuple(warnings(situation))
    metrics = {key: value for key, value in values.items() if value is not None and math.isfinite(value)}
    above = (f"{item.words} asked" for item in situation.setting.ceilings if not item.keeps(metrics))
    return Evaluation(metrics, (*broken, *above, *_too_like(situation)), worth_knowing)


def _too_like(situation: Situation) -> Iterator[str]:
    """The plans that a plan should differ from in more operators."""
    for other in situation.setting.unlike:
        count = int(other.elsewhere(situation.graph, situation.node_of).sum())
        if count < other.least:
            yield f"differs from a known plan in {counted(count, 'operator')}, {other.least} asked"


SAME = 1e-6
"""The relative difference up to which a metric that a file records is what the judge finds."""


def with_verdict(problem: Problem, plan: Plan, verdict: Evaluation) -> Plan:
    """A plan as it is under a problem, whatever its file says.

    What was proved of it holds for the version of the problem that it was made for, and for the assignment
    whose metrics are in the file: of any other one it is dropped.
    """
    told = not plan.is_of_another_version(problem.fingerprint) and _agree(plan.metrics, verdict.metrics)
    if told and plan.status == "infeasible" and not plan.found:
        return plan
    judged = replace(plan, metrics=verdict.metrics, violations=verdict.violations, warnings=verdict.warnings)
    broken = len(verdict.violations)
    if told and not broken:
        return judged
    return replace(
        judged,
        status="unknown" if broken else "feasible",
        reason=f"the plan breaks {broken} constraint(s)" if broken else None,
        objective=_own_objective(plan, verdict.metrics),
        bound=None,
        gap=None,
        levels=(),
    )


def _agree(recorded: Mapping[str, float], judged: Mapping[str, float]) -> bool:
    both = recorded.keys() & judged.keys()
    return all(math.isclose(recorded[key], judged[key], rel_tol=SAME, abs_tol=1e-12) for key in both)


def _own_objective(plan: Plan, metrics: Mapping[str, float]) -> float | None:
    """The plan's own goal where that is a metric; nobody knows the scale of a sum under another problem."""
    goal = Goal(plan.first_goal)
    return goal.value(metrics) if goal.single in METRIC_BY_NAME else None


def judge_document(problem: Problem) -> dict[str, str]:
    """Which version of which problem plans were judged by, as plain data."""
    return {"problem": problem.name, "fingerprint": problem.fingerprint}


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
    failover: dict[str, dict[str, tuple[str | None, str | None]]]
    """By loss, the instances that go elsewhere then, and where; None: they have no entry."""

    def document(self) -> dict[str, Any]:
        """The change as plain data."""
        return {
            "moved": {name: {"from": old, "to": new} for name, (old, new) in self.moved.items()},
            "added": self.added,
            "removed": self.removed,
            "kept": self.kept,
            "metrics": {
                key: {
                    "before": old,
                    "after": new,
                    "change": None if old is None or new is None else new - old,
                }
                for key, (old, new) in self.metrics.items()
            },
            "healed": list(self.healed),
            "broken": list(self.broken),
            "failover": {
                loss: {name: {"from": old, "to": new} for name, (old, new) in moves.items()}
                for loss, moves in self.failover.items()
            },
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
        failover=_failover_change(before, after),
    )


def _failover_change(before: Plan, after: Plan) -> dict[str, dict[str, tuple[str | None, str | None]]]:
    """What goes elsewhere after a loss."""
    found = {}
    for loss in dict.fromkeys([*before.failover, *after.failover]):
        old, new = before.failover.get(loss, {}), after.failover.get(loss, {})
        names = dict.fromkeys([*old, *new])
        moves = {name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)}
        if moves:
            found[loss] = moves
    return found
