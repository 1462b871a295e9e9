"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from berth.evaluation import METRIC_BY_NAME
from berth.model import BadInput, Problem
from berth.model.suggest import did_you_mean

ProblemFile = Annotated[
    Path, typer.Argument(help="Problem file, YAML or JSON (berth/v1).", metavar="PROBLEM")
]
PlanFile = Annotated[Path, typer.Argument(help="Plan file, JSON (berth-plan/v1).", metavar="PLAN")]
PlanFiles = Annotated[
    list[Path],
    typer.Argument(
        help="Plan file, JSON (berth-plan/v1); or what 'berth export' writes: files, or a folder of them.",
        metavar="PLAN",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on standard output.")]
Previous = Annotated[
    Path | None, typer.Option(help="The plan before: what has moved counts against it.", metavar="PLAN")
]
TimeLimit = Annotated[
    float, typer.Option(help="Seconds after which the best plan so far is taken; inf: none.", metavar="S")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same plan.", metavar="N")]
Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        help="Instead of the problem's objective: NAME or NAME=WEIGHT. Can be repeated.",
        metavar="NAME[=WEIGHT]",
    ),
]


def with_objective(problem: Problem, given: list[str] | None) -> Problem:
    """The problem with the objective of the command line, if it names one."""
    weights = objective_from(given)
    return replace(problem, objective=weights) if weights else problem


def objective_from(given: list[str] | None) -> dict[str, float]:
    """The weights that the command line names; none where it names no objective."""
    weights = {}
    for item in given or []:
        name, _, weight = item.partition("=")
        if name not in METRIC_BY_NAME:
            raise BadInput([f"--objective: no metric {did_you_mean(name, METRIC_BY_NAME)}"])
        weights[name] = _weight(item, weight or "1")
    return weights


def _weight(item: str, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 < weight < float("inf"):
        raise BadInput([f"--objective {item}: the weight must be a number above 0"])
    return weight


def settings_from(items: list[str] | None) -> dict[str, str]:
    """`key=value` options as a mapping."""
    settings = {}
    for item in items or []:
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise BadInput([f"--set {item}: expected key=value"])
        settings[key.replace("-", "_")] = value
    return settings


def time_limit_from(seconds: float) -> float | None:
    """The time limit; None where it is infinite."""
    if not seconds > 0:
        raise BadInput([f"--time-limit: {seconds} is not above 0"])
    return None if seconds == float("inf") else seconds
