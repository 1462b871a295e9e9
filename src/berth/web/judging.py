"""What a plan means for a problem, as the page shows it: metrics, loads, traffic, the slowest path."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from berth.drawing.usage import LinkUse, NodeUse, link_uses, node_uses
from berth.drawing.views import critical_links, instances_by_node
from berth.evaluation import Setting, Situation, evaluate
from berth.evaluation.goal import Goal
from berth.evaluation.limits import bottleneck_document
from berth.explanation.binding import slowest_path
from berth.model import Plan, Problem


def judged(problem: Problem, plan: Plan, previous: Plan | None = None) -> dict[str, Any]:
    """All that can be said of a plan at once.

    Raises:
        BadInput: it names what the problem doesn't have.
    """
    began = time.perf_counter()
    result = evaluate(problem, plan, previous)
    situation = Situation(Setting(problem, previous), plan)
    return {
        "metrics": result.metrics,
        "violations": list(result.violations),
        **bottleneck_document(situation),
        "complete": situation.complete,
        "objective": objective_of(problem, plan, result.metrics),
        "assignment": dict(plan.assignment),
        "nodes": _nodes(situation),
        "links": _links(situation),
        "critical_path": _path(situation),
        "seconds": round(time.perf_counter() - began, 6),
    }


def objective_of(problem: Problem, plan: Plan, metrics: Mapping[str, float]) -> float | None:
    """The objective's value; None where a metric or the scale of a normalised sum is not known."""
    weights = problem.objective
    bounds = {**problem.objective_bounds, **_recorded_bounds(plan)}
    goal = Goal(weights, problem.objective_scale, bounds)
    scaled = goal.single is None and goal.scale == "normalised"
    if scaled and any(name not in bounds for name in weights):
        return None
    return goal.value(metrics)


def _recorded_bounds(plan: Plan) -> dict[str, tuple[float, float]]:
    """The bounds that a plan's solver used, if it says so in a form that can be used."""
    recorded = plan.trace.get("objective_bounds")
    if not isinstance(recorded, Mapping):
        return {}
    return {
        str(name): (float(pair[0]), float(pair[1]))
        for name, pair in recorded.items()
        if isinstance(pair, list | tuple)
        and len(pair) == 2
        and all(isinstance(end, int | float) and math.isfinite(end) for end in pair)
    }


def _nodes(situation: Situation) -> list[dict[str, Any]]:
    runs, uses = instances_by_node(situation), node_uses(situation)
    names = situation.graph.names
    found = []
    for node in sorted(runs):
        parts = [_use(use, node) for use in uses if use.needed[node] > 0]
        shares = [part["share"] for part in parts]
        found.append(
            {
                "index": node,
                "instances": [names[number] for number in runs[node]],
                "share": None if None in shares else max(shares, default=0.0),
                "uses": parts,
            }
        )
    return found


def _use(use: NodeUse, node: int) -> dict[str, Any]:
    needed, there = float(use.needed[node]), float(use.there[node])
    return {
        "label": use.label,
        "used": needed,
        "limit": finite(there),
        "share": needed / there if there > 0 else None,
    }


def _links(situation: Situation) -> list[dict[str, Any]]:
    critical = critical_links(situation)
    return [_link(use, (use.sender, use.receiver) in critical) for use in link_uses(situation)]


def _link(use: LinkUse, critical: bool) -> dict[str, Any]:
    return {
        "from": use.sender,
        "to": use.receiver,
        "bytes_per_s": use.bytes_per_s,
        "known": use.complete,
        "bandwidth_bytes_per_s": finite(use.bandwidth),
        "share": finite(use.share),
        "delay_ms": finite(use.delay_ms),
        "both_ways": use.both_ways,
        "critical": critical,
    }


def _path(situation: Situation) -> dict[str, Any] | None:
    path = slowest_path(situation)
    if not path.steps:
        return None
    index = situation.network.index
    return {
        "total_ms": path.total_ms,
        "work_ms": path.work_ms,
        "delay_ms": path.delay_ms,
        "steps": [
            {
                "instance": step.instance,
                "node": step.node,
                "index": index[step.node],
                "work_ms": step.work_ms,
                "delay_ms": step.delay_ms,
            }
            for step in path.steps
        ],
    }


def finite(value: float) -> float | None:
    """A number, or None where it is none or beyond all bounds."""
    return float(value) if math.isfinite(value) else None
