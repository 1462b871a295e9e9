"""Plan files: reading any plan, writing ours."""

from __future__ import annotations

import json
import os
from typing import Any

from berth.files.check import mistakes_in
from berth.files.document import read_document, write_text
from berth.files.schema import PLAN_FORMAT, PLAN_SCHEMA
from berth.model import BadInput, Download, Plan


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan file; only its `assignment` is needed.

    Raises:
        BadInput: it can't be read or has fields of a wrong kind.
    """
    return plan_from(read_document(path))


def plan_from(document: Any) -> Plan:
    """The plan in the data of a plan file; keys that berth doesn't know are left alone."""
    mistakes = list(mistakes_in(document, PLAN_SCHEMA))
    if mistakes:
        raise BadInput(mistakes)
    known = {key: document[key] for key in PLAN_SCHEMA["properties"] if key in document}
    known.pop("format", None)
    downloads = tuple(
        Download(item["object"], item["from"], item["to"]) for item in known.pop("downloads", ())
    )
    for key in ("skipped", "violations"):
        known[key] = tuple(known.get(key, ()))
    return Plan(downloads=downloads, **known)


def plan_document(plan: Plan) -> dict[str, Any]:
    """The data of a plan file, in the contract's order; what means nothing is left out."""
    document: dict[str, Any] = {
        "format": PLAN_FORMAT,
        "problem": plan.problem,
        "policy": plan.policy,
        "seed": plan.seed,
        "goal": dict(plan.goal),
        "status": plan.status,
        "reason": plan.reason,
        "objective": plan.objective,
        "bound": plan.bound,
        "gap": plan.gap,
        "seconds": plan.seconds,
        "assignment": dict(plan.assignment),
    }
    optional = {
        "containers": dict(plan.containers),
        "downloads": [{"object": d.object, "from": d.source, "to": d.target} for d in plan.downloads],
        "reuse": dict(plan.reuse),
        "skipped": list(plan.skipped),
    }
    document.update({key: value for key, value in optional.items() if value})
    document["metrics"] = dict(plan.metrics)
    document["violations"] = list(plan.violations)
    if plan.trace:
        document["trace"] = dict(plan.trace)
    return document


def plan_text(plan: Plan) -> str:
    """A plan file's text."""
    return json.dumps(plan_document(plan), indent=2, allow_nan=False) + "\n"


def save_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan file, whole or not at all."""
    write_text(path, plan_text(plan))
