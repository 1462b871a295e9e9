"""The few words above a drawing: whose plan it is and how good."""

from __future__ import annotations

from berth.amounts import counted, metric
from berth.evaluation import METRIC_BY_KEY, METRIC_BY_NAME, Situation
from berth.model import Problem

ALWAYS = ("response_time_ms", "availability")
"""Metrics that are told of every plan; what its policy minimised comes after them."""


def headline(problem: Problem, situation: Situation | None) -> list[str]:
    """Short phrases: the policy and status, the metrics that count, what is missing or broken."""
    if situation is None:
        return _sizes(problem)
    plan = situation.plan
    phrases = [f"policy {plan.policy}, {plan.status}"] if plan.policy else []
    keys = dict.fromkeys(
        [*ALWAYS, *(METRIC_BY_NAME[name].key for name in plan.goal if name in METRIC_BY_NAME)]
    )
    for key in keys:
        value = plan.metrics.get(key, METRIC_BY_KEY[key].value(situation))
        if value is not None:
            phrases.append(f"{_words(key)} {metric(key, value)}")
    missing = int(situation.computed.sum()) - len(situation.running)
    if missing:
        phrases.append(f"{missing} of {counted(int(situation.computed.sum()), 'instance')} not placed")
    if plan.violations:
        phrases.append(f"breaks {counted(len(plan.violations), 'constraint')}")
    return phrases


def _sizes(problem: Problem) -> list[str]:
    return [
        counted(len(problem.applications), "application"),
        counted(len(problem.instances), "instance"),
        counted(len(problem.network.nodes), "node"),
    ]


def _words(key: str) -> str:
    return key.removesuffix("_ms").removesuffix("_bytes_per_s").removesuffix("_bytes").replace("_", " ")
