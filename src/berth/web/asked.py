"""A problem as a job asks for it: another objective, other requirements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from berth.evaluation import METRIC_BY_NAME
from berth.evaluation.goal import goal_mistakes
from berth.model import Application, BadInput, Problem
from berth.model.errors import did_you_mean

REQUIREMENTS = ("max_response_time_ms", "min_availability", "throughput_per_s")


def asked(problem: Problem, request: Mapping[str, Any]) -> Problem:
    """The problem with what a request says instead.

    Raises:
        BadInput: it names what isn't there, or an objective that can't be computed.
    """
    objective = request.get("objective") or {}
    requirements = request.get("requirements") or {}
    names = [application.name for application in problem.applications]
    mistakes = [
        f"objective.{name}: no metric {did_you_mean(name, METRIC_BY_NAME)}"
        for name in objective
        if name not in METRIC_BY_NAME
    ]
    mistakes += [
        f"requirements.{name}: no application {did_you_mean(name, names)}"
        for name in requirements
        if name not in names
    ]
    if mistakes:
        raise BadInput(mistakes)
    changed = replace(
        problem,
        applications=tuple(_required(item, requirements.get(item.name, {})) for item in problem.applications),
        objective=objective or problem.objective,
        objective_scale=request.get("objective_scale") or problem.objective_scale,
        objective_bounds={} if objective else problem.objective_bounds,
    )
    unknown = list(goal_mistakes(changed))
    if unknown:
        raise BadInput(unknown)
    return changed


def _required(application: Application, wanted: Mapping[str, Any]) -> Application:
    return replace(application, **{name: wanted[name] for name in REQUIREMENTS if name in wanted})
