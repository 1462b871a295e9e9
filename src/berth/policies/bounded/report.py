"""What the judge finds of a placement: bounds kept, or by how much they are missed; and what it took."""

from __future__ import annotations

from typing import Any

import numpy as np

from berth.evaluation.goal import Goal
from berth.policies.bounded.bounds import Bound, in_short, judged_latencies, missed
from berth.policies.bounded.candidates import MESSAGES_PER_CONTACT
from berth.policies.bounded.satisfaction import Satisfaction
from berth.policies.bounded.start import Start
from berth.policies.downloads import choose_downloads
from berth.policies.latency_space import known_space
from berth.policies.latency_space.adaptation import record
from berth.policies.policy import Answer, Task

GOAL = Goal({"network_usage": 1.0})


def answer(task: Task, satisfaction: Satisfaction, began: Start, bounds: list[Bound | None]) -> Answer:
    """What the judge finds of it: the bounds kept, or by how much they are missed."""
    nodes, first = satisfaction.state.nodes, began.first[began.graph.unit_of]
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
    space = known_space(task.problem.network, task.seed)
    trace |= record(task.setting, state.graph, space, state.places, state.hosts.node)
    if first_latencies is not None:
        trace["start_latency_ms"] = dict(zip(names, first_latencies, strict=True))
    if latencies is not None:
        trace["latency_ms"] = dict(zip(names, latencies, strict=True))
    if task.setting.previous is not None:
        everything = np.arange(len(task.setting.graph))
        trace["migrations"] = int(task.setting.moved(everything, state.nodes).sum())
    return trace
