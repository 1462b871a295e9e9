"""Placement under a latency bound (paper 002): from MOPA's mapping, as few detours as the bound asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from berth.evaluation import Setting, Situation
from berth.evaluation.goal import Goal
from berth.evaluation.limits import amount, exceeds
from berth.evaluation.situation import assignment_of
from berth.model import BadInput, Plan, Problem
from berth.model.arrays import IndexArray
from berth.model.parameters import NOT_NEGATIVE, Parameters, at_least, parameter
from berth.policies.downloads import choose_downloads
from berth.policies.latency_bound.candidates import MESSAGES_PER_CONTACT, Strategy
from berth.policies.latency_bound.deployment import Start, deploy
from berth.policies.latency_bound.satisfaction import Bound, Satisfaction
from berth.policies.latency_space import NoEndError, NoHostError
from berth.policies.latency_space.adaptation import record
from berth.policies.policy import About, Answer, Task, mistakes_for

GOAL = Goal({"network_usage": 1.0})
MOST_NAMED = 3
"""As many applications that miss their bound are told of in a reason."""


@dataclass(frozen=True)
class LatencyBoundParameters(Parameters):
    """What users may set."""

    bound_ms: float | None = parameter(
        None, "the bound R of every application; none: each one's max_response_time_ms", NOT_NEGATIVE
    )
    candidates: Strategy = parameter(
        "cknn", "hosts asked: all in the ellipse, the k nearest, k at random, the k nearest useful"
    )
    k: int = parameter(5, "size of a candidate set, but for el", at_least(1))
    stale: float = parameter(
        0.0, "placements of other applications for each host contacted that are not heard of", NOT_NEGATIVE
    )
    restarts: int = parameter(
        3, "how often a bound above 0 gets new candidates once these are used up", at_least(0)
    )
    rounds: int = parameter(
        3, "how often applications are looked at again that later ones slowed down", at_least(0)
    )
    refine: bool = parameter(True, "MOPA's mapping tries near nodes by measured delays first")
    neighbours: bool = parameter(
        True, "hosts of an operator's neighbours on the path are candidates without a contact"
    )
    mode: Literal["fixed", "paper"] = parameter(
        "fixed", "paper: candidates are judged once, when their list is made"
    )


class LatencyBound:
    """The least network usage first, then moves off the longest path until the bound holds."""

    about = About(
        name="latency-bound",
        paper="002: Rizou et al., Fulfilling End-to-End Latency Constraints (2011)",
        optimises="network usage under a bound on loaded_response_time",
        holds="candidates, hosts, capacities, processors and all rules; a bound or says so",
    )
    parameters = LatencyBoundParameters

    def solve(self, task: Task) -> Answer:
        """Start from a mapping, place application after application, move what is too slow."""
        bounds = bounds_of(task.problem, task.parameters.bound_ms)
        try:
            try:
                found = deploy(task, bounds, at_once=False)
            except NoHostError:
                # One after the other some find no room any more: all together might.
                found = deploy(task, bounds, at_once=True)
        except (NoHostError, NoEndError) as error:
            return Answer("unknown", goal=GOAL, reason=str(error))
        return answer(task, *found, bounds)


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
    mistakes = mistakes_for(problem, "loaded_response_time", "--policy latency-bound")
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


def answer(task: Task, satisfaction: Satisfaction, began: Start, bounds: list[Bound | None]) -> Answer:
    """What the judge finds of it: the bounds kept, or by how much they are missed."""
    nodes, first = satisfaction.state.nodes, began.first[began.hosts.graph.unit_of]
    latencies = judged_latencies(task.setting, nodes)
    unmoved = bool((nodes == first).all())
    first_latencies = latencies if unmoved else judged_latencies(task.setting, first)
    trace = _trace(task, satisfaction, began, bounds, latencies, first_latencies)
    downloads = choose_downloads(task.setting, nodes)
    if latencies is None:
        reason = "latencies are not known: streams go between nodes that have no link"
        return Answer("unknown", nodes, GOAL, reason=reason, trace=trace, downloads=downloads)
    lines = missed(task.problem, bounds, latencies)
    if lines:
        why = task.budget.reason if task.budget.over else "latency_minimum"
        reason = f"{why}: {in_short(lines)}"
        return Answer("unknown", nodes, GOAL, reason=reason, trace=trace, downloads=downloads)
    return Answer("feasible", nodes, GOAL, trace=trace, downloads=downloads)


def _trace(
    task: Task,
    satisfaction: Satisfaction,
    began: Start,
    bounds: list[Bound | None],
    latencies: list[float] | None,
    first_latencies: list[float] | None,
) -> dict[str, Any]:
    counters, state = satisfaction.counters, satisfaction.state
    asked = MESSAGES_PER_CONTACT * counters.contacts
    names = [application.name for application in task.problem.applications]
    trace: dict[str, Any] = {
        "messages": began.messages + asked,
        "candidate_messages": asked,
        "candidate_sets": counters.candidate_sets,
        "messages_per_candidate_set": asked / counters.candidate_sets if counters.candidate_sets else 0.0,
        "candidates_kept": counters.kept,
        "ellipse_sizes": counters.ellipses,
        "moves": counters.moves,
        "restarts": counters.restarts,
        "bound_ms": {name: bound.loaded_ms for name, bound in zip(names, bounds, strict=True) if bound},
    }
    trace |= record(state.hosts, state.places)
    if first_latencies is not None:
        trace["start_latency_ms"] = dict(zip(names, first_latencies, strict=True))
    if latencies is not None:
        trace["latency_ms"] = dict(zip(names, latencies, strict=True))
    if task.setting.previous is not None:
        everything = np.arange(len(task.setting.graph))
        trace["migrations"] = int(task.setting.moved(everything, state.nodes).sum())
    return trace
