"""The problem of a watch: its objective may need rates that nobody knows before the application runs."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from berth.files import problem_from
from berth.files.document import read_document
from berth.model import BadInput, Problem

_OBJECTIVE = ("objective", "objective_scale", "objective_bounds")


@dataclass(frozen=True)
class Wanted:
    """A problem, and its document without the objective: one that can be loaded while rates are unknown."""

    problem: Problem
    document: dict[str, Any]


def load_wanted(path: Path) -> Wanted:
    """Read a problem file whose objective may have to wait for rates.

    Raises:
        BadInput: what measuring would not cure.
    """
    document = read_document(path)
    try:
        problem = problem_from(document)
    except BadInput as error:
        problem = _without_rates(document, error)
    return Wanted(problem, {key: value for key, value in document.items() if key not in _OBJECTIVE})


def _without_rates(document: Any, error: BadInput) -> Problem:
    """The problem, if all that is wrong with it is that rates are not known yet."""
    try:
        plain = problem_from({key: value for key, value in document.items() if key not in _OBJECTIVE})
        measured = problem_from(_with_rates(document))
    except (BadInput, AttributeError):
        raise error from None
    return with_objective_of(measured, plain)


def _with_rates(document: dict[str, Any]) -> dict[str, Any]:
    filled = copy.deepcopy(document)
    for application in filled["applications"]:
        for stream in application.get("streams", ()):
            stream.setdefault("bytes_per_s", 1.0)
    return filled


def with_objective_of(wanted: Problem, problem: Problem) -> Problem:
    """A problem with what another one asks for."""
    return replace(
        problem,
        objective=wanted.objective,
        objective_scale=wanted.objective_scale,
        objective_bounds=wanted.objective_bounds,
    )
