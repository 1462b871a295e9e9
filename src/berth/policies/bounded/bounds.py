"""Which bound each application has, and whether the judge finds it kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting, Situation
from berth.evaluation.goal import goal_mistakes
from berth.evaluation.limits import amount, exceeds
from berth.evaluation.situation import assignment_of
from berth.model import BadInput, Plan, Problem

IndexArray = NDArray[np.intp]

MOST_NAMED = 3
"""As many applications that miss their bound are told of in a reason."""


@dataclass(frozen=True)
class Bound:
    """What an application asks for."""

    loaded_ms: float
    """The most that 002's model may come to."""
    plain_ms: float | None = None
    """The most that `response_time_ms` may come to: the judge's requirement."""


def bounds_of(problem: Problem, bound_ms: float | None) -> list[Bound | None]:
    """The bound of each application: the parameter, else its own requirement; None: it has none.

    Raises:
        BadInput: nobody has a bound, or latencies can't be known.
    """
    asked = [application.max_response_time_ms for application in problem.applications]
    if bound_ms is None and all(latest is None for latest in asked):
        raise BadInput(
            [
                "--policy latency-bound: no bound to keep; give an application max_response_time_ms, "
                "or set one for all: --set bound_ms=120"
            ]
        )
    sizes = goal_mistakes(replace(problem, objective={"loaded_response_time": 1.0}))
    mistakes = [line.replace("objective.loaded_response_time", "--policy latency-bound", 1) for line in sizes]
    if mistakes:
        raise BadInput(mistakes)
    if bound_ms is not None:
        return [Bound(bound_ms, latest) for latest in asked]
    return [None if latest is None else Bound(latest, latest) for latest in asked]


def judged_latencies(setting: Setting, nodes: IndexArray) -> list[float] | None:
    """What the judge finds for every application, by 002's model; None: a link is missing."""
    graph = setting.graph
    finish = Situation(setting, Plan(assignment_of(setting.problem, nodes))).loaded_finish_ms
    if finish is None:
        return None
    latest = np.zeros(len(setting.problem.applications))
    np.maximum.at(latest, graph.application_of, finish)
    latencies: list[float] = latest.tolist()
    return latencies


def missed(problem: Problem, bounds: list[Bound | None], latencies: list[float]) -> list[str]:
    """A line for each application that is slower than its bound."""
    return [
        f"application {application.name}: L = {amount(latency)} ms, bound {amount(bound.loaded_ms)} ms"
        for application, bound, latency in zip(problem.applications, bounds, latencies, strict=True)
        if bound is not None and exceeds(latency, bound.loaded_ms)
    ]


def in_short(lines: list[str]) -> str:
    """The first few of some lines."""
    more = len(lines) - MOST_NAMED
    return "; ".join(lines[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
