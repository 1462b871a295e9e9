"""An explanation as JSON: keys that stay."""

from __future__ import annotations

from typing import Any

from berth.explanation.alternatives import Alternative, Explained
from berth.explanation.binding import Growth, Room, SlowestPath
from berth.explanation.explain import Explanation
from berth.explanation.mending import Mending
from berth.explanation.shared_results import Sharing
from berth.explanation.survival import Survival
from berth.explanation.what_if import Outcome, WhatIfs

FORMAT = "berth-explanation/v1"


def document(explanation: Explanation) -> dict[str, Any]:
    """All that an explanation says; what can't be known is null."""
    plan, goal = explanation.situation.plan, explanation.goal
    return {
        "format": FORMAT,
        "problem": explanation.situation.problem.name,
        "policy": plan.policy or None,
        "goal": None if goal is None else dict(goal.weights),
        "maximise": goal is not None and goal.maximise,
        "objective": explanation.objective,
        "violations": list(explanation.violations),
        "warnings": list(explanation.warnings),
        "operators": [_operator(item) for item in explanation.operators],
        "explained": len(explanation.operators),
        "units": explanation.units,
        "limits": [use.document() for use in explanation.limits],
        "binding": [row.document() for row in explanation.bounds],
        "critical_path": _path(explanation.path),
        "sharing": None if explanation.sharing is None else _sharing(explanation.sharing),
        "growth": [_growth(item) for item in explanation.growth],
        "mending": None if explanation.mending is None else _mending(explanation.mending),
        "survival": None if explanation.survival is None else _survival(explanation.survival),
        "what_if": None if explanation.what_if is None else _what_if(explanation.what_if),
    }


def _operator(item: Explained) -> dict[str, Any]:
    return {
        "instances": list(item.instances),
        "node": item.node,
        "fixed": item.fixed,
        "best": None if item.best is None else _alternative(item.best),
        "forbidden": [_alternative(other) for other in item.forbidden],
        "obstacles": dict(item.obstacles),
        "refused": [_alternative(other) for other in item.refused],
        "searched": item.searched,
    }


def _alternative(item: Alternative) -> dict[str, Any]:
    return {
        "node": item.node,
        "objective": item.objective,
        "change": item.change,
        "better": item.better,
        "breaks": list(item.breaks),
        "mends": list(item.mends),
    }


def _path(path: SlowestPath) -> dict[str, Any] | None:
    if not path.steps:
        return None
    return {
        "total_ms": path.total_ms,
        "work_ms": path.work_ms,
        "delay_ms": path.delay_ms,
        "work_share": path.share(path.work_ms),
        "delay_share": path.share(path.delay_ms),
        "steps": [
            {"instance": step.instance, "node": step.node, "work_ms": step.work_ms, "delay_ms": step.delay_ms}
            for step in path.steps
        ],
    }


def _sharing(item: Sharing) -> dict[str, Any]:
    return {
        "reuse": [
            {"taker": use.taker, "provider": use.provider, "nodes": list(use.nodes), "busy_saved": use.busy}
            for use in item.reused
        ],
        "once": [{"node": once.node, "instances": list(once.instances)} for once in item.once],
        "skipped": list(item.skipped),
        "saved": dict(item.saved),
        "alone": {"metrics": item.alone.metrics, "violations": list(item.alone.violations)},
    }


def _growth(item: Growth) -> dict[str, Any]:
    return {
        "application": item.shared.application,
        "shared": _room(item.shared),
        "alone": _room(item.shared if item.alone is None else item.alone),
    }


def _room(item: Room) -> dict[str, Any]:
    limit = None if item.limit is None else item.limit.document()
    return {"copies": item.copies, "limit": limit, "added": item.added if limit is not None else None}


def _survival(item: Survival) -> dict[str, Any]:
    return {
        "losses": [
            {
                "loss": loss.name,
                "moved": [
                    {"instance": name, "from": source, "to": target}
                    for name, (source, target) in loss.moved.items()
                ],
                "lost": list(loss.lost),
                "response_time_ms": loss.response_time_ms,
                "violations": list(loss.violations),
                "fullest": None if loss.fullest is None else loss.fullest.document(),
            }
            for loss in item.losses
        ],
        "count": item.count,
        "goal": None if item.goal is None else dict(item.goal.weights),
        "objective": item.objective,
        "without": None if item.without is None else _outcome(item.without),
        "cost": item.cost,
        "failover": None
        if item.failover is None
        else {name: dict(moves) for name, moves in item.failover.items()},
        "helpless": list(item.helpless),
    }


def _mending(item: Mending) -> dict[str, Any]:
    moves = [
        {
            "instances": list(move.instances),
            "from": move.source,
            "to": move.target,
            "mends": list(move.mends),
            "left": move.left,
        }
        for move in item.moves
    ]
    return {"moves": moves, "left": list(item.left)}


def _what_if(item: WhatIfs) -> dict[str, Any]:
    changes = [
        {
            "kind": change.kind,
            "change": change.words,
            **_outcome(change.outcome),
            "gain": change.gain,
            "gain_proved": change.proved,
        }
        for change in item.changes
    ]
    return {"policy": item.policy, "unchanged": _outcome(item.unchanged), "changes": changes}


def _outcome(item: Outcome) -> dict[str, Any]:
    return {
        "objective": item.objective,
        "proved": item.proved,
        "same_plan": item.kept,
        "utilisation_max_ratio": item.utilisation,
        "reason": item.reason,
    }
