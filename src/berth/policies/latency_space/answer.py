"""From a placement in the latency space to a policy's answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from berth.evaluation import Setting
from berth.evaluation.goal import Goal
from berth.policies.downloads import choose_downloads
from berth.policies.latency_space.hosts import NoHostError
from berth.policies.latency_space.network import known_space
from berth.policies.latency_space.placing import Placed
from berth.policies.latency_space.virtual import NoEndError
from berth.policies.policy import Answer, Task
from berth.space.network_space import Space

_ABOUT: WeakKeyDictionary[Space, dict[str, Any]] = WeakKeyDictionary()


def _about(space: Space) -> dict[str, Any]:
    """What a trace says about coordinates: the same for all plans in a space."""
    trace = _ABOUT.get(space)
    if trace is None:
        trace = _ABOUT[space] = {"coordinates": "computed" if space.computed else "given"}
        if space.coordinates.errors is not None:
            trace["coordinate_errors"] = space.coordinates.errors.as_trace()
    return trace


def answer_by(mapping: Callable[[Setting, Space, Any, int], Placed], goal: Goal, task: Task) -> Answer:
    """The answer of a policy that places in the latency space; a failure is its reason."""
    space = known_space(task.problem.network, task.seed)
    trace = _about(space)
    try:
        placed = mapping(task.setting, space, task.parameters, task.seed)
    except (NoHostError, NoEndError) as error:
        return Answer("unknown", goal=goal, reason=str(error), trace=trace)
    downloads = choose_downloads(task.setting, placed.nodes)
    return Answer("feasible", placed.nodes, goal=goal, trace=placed.counters | trace, downloads=downloads)
