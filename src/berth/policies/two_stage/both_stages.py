"""One application after another through both stages, on what the ones before have left.

Where the second stage is stuck, it tries again with fewer or other containers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from berth.budget import Budget
from berth.evaluation import METRIC_BY_NAME, Setting, Situation
from berth.evaluation.goal import Goal
from berth.evaluation.situation import assignment_of
from berth.model import BadInput, Plan
from berth.model.arrays import IndexArray
from berth.model.randomness import generator_for
from berth.policies.downloads import choose_downloads
from berth.policies.policy import Answer, Task, mistakes_for
from berth.policies.two_stage.heuristics import FfdParameters, few_servers_first
from berth.policies.two_stage.stage_inputs import Cluster, Request, requests
from berth.policies.two_stage.stages import (
    FIRST_STAGES,
    SECOND_STAGES,
    Assigned,
    FirstStage,
    StageTwo,
    Stuck,
    stage_of,
)

FIGURES = {"T": "container_traffic", "U": "containers_used", "W": "communication_cost"}
"""The paper's letters for what the two stages minimise, and the judge's metrics."""


def two_stages(task: Task, policy: str, first: str, goal: Goal) -> Answer:
    """Place every application in two stages.

    Args:
        task: its parameters say which second stage.
        policy: the policy's name, for what it tells users.
        first: the first stage's name.
        goal: what the policy minimises.

    Raises:
        BadInput: an application has no containers, or a rate is unknown that a stage needs.
    """
    parameters = task.parameters
    mistakes = list(_mistakes(task, policy, first))
    if mistakes:
        raise BadInput(mistakes)
    cluster = Cluster(task.setting)
    generator = generator_for(task.seed)
    nodes = np.full(len(task.setting.graph), -1, dtype=np.intp)
    containers: dict[str, str] = {}
    traces: dict[str, Any] = {}
    waiting = requests(task.setting)
    for number, request in enumerate(waiting):
        task.progress(None, None, request.name)
        budget = task.budget.part(1.0 / (len(waiting) - number))
        found = both_stages(request, cluster, first, generator, parameters, budget)
        if found.trace:
            traces[request.name] = found.trace
        if isinstance(found, Failed):
            told = {"applications": traces} if traces else {}
            return Answer("unknown", goal=goal, reason=found.reason, trace=told)
        cluster.take(found.stage, found.servers, request.instances, found.container)
        nodes[request.instances] = cluster.servers[found.servers][found.container]
        names = (found.stage.names[number] for number in found.container.tolist())
        containers |= zip(task.setting.graph.names[request.instances], names, strict=True)
    trace = {
        "first_stage": first,
        "second_stage": parameters.second_stage,
        **_figures(task.setting, nodes, containers),
    }
    if traces:
        trace["applications"] = traces
    downloads = choose_downloads(task.setting, nodes)
    return Answer("feasible", nodes, goal, trace=trace, containers=containers, downloads=downloads)


def _mistakes(task: Task, policy: str, first: str) -> Iterator[str]:
    for number, application in enumerate(task.problem.applications):
        if application.containers is None:
            yield (
                f"applications[{number}].containers: {application.name} has none, and --policy {policy} "
                "packs instances into containers; give it {count, capacity}, or place it with --policy odp"
            )
    if FIRST_STAGES[first].needs_rates or SECOND_STAGES[task.parameters.second_stage].needs_rates:
        yield from mistakes_for(task.problem, "traffic", f"--policy {policy}")


def _figures(setting: Setting, nodes: IndexArray, containers: dict[str, str]) -> dict[str, float]:
    """T, U and W by the judge; one that can't be known is left out."""
    plan = Plan(assignment_of(setting.problem, nodes), containers=containers)
    situation = Situation(setting, plan)
    values = {letter: METRIC_BY_NAME[name].value(situation) for letter, name in FIGURES.items()}
    return {letter: value for letter, value in values.items() if value is not None and np.isfinite(value)}


@dataclass(frozen=True, eq=False)
class Mapped:
    """An application's instances in containers, and these on servers."""

    stage: StageTwo
    container: IndexArray
    """For every instance the position of its container in the second stage."""
    servers: IndexArray
    """The position of every container's server."""
    trace: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Failed:
    """Why there is no way through both stages, and what else was tried."""

    reason: str
    trace: dict[str, Any]


def both_stages(
    request: Request,
    cluster: Cluster,
    first: str,
    generator: np.random.Generator,
    parameters: Any,
    budget: Budget,
) -> Mapped | Failed:
    """Pack an application's instances, and place the containers.

    Servers can be too full for as many containers as a first stage that saves traffic has used. So, where
    the second stage is stuck, first stages that fill containers come next, and the second stage tries again
    with what they find: fewer containers, or as many with other contents.
    """
    stage_one, onto = request.first(cluster), stage_of(SECOND_STAGES[parameters.second_stage])
    reason: str | None = None
    tried: list[dict[str, Any]] = []
    packings: list[IndexArray] = []
    for pack, its_parameters, told in _packings(first, parameters):
        if reason is not None and budget.over:
            break
        packed = pack(stage_one, generator, its_parameters, budget)
        if isinstance(packed, Stuck):
            if reason is None:
                return Failed(f"first stage, {first}: {packed.reason}", {})
            tried.append({**told, "stuck": f"first stage: {packed.reason}"})
            continue
        used, container = np.unique(packed.bins, return_inverse=True)
        if not _worth_it(container, packings):
            continue
        packings.append(container)
        stage_two = request.second(cluster, used, container)
        placed = onto(stage_two, generator, parameters, budget)
        if isinstance(placed, Assigned):
            own = {**packed.trace, **told} if tried else dict(packed.trace)
            trace = {"first": own, "second": dict(placed.trace), "stuck_before": tried}
            return Mapped(
                stage_two, container, placed.bins, {key: value for key, value in trace.items() if value}
            )
        reason = reason or f"second stage, {parameters.second_stage}: {placed.reason}"
        tried.append({**told, "containers": len(used), "stuck": placed.reason})
    assert reason is not None
    return Failed(reason, {"stuck_before": tried} if len(tried) > 1 else {})


def _packings(first: str, parameters: Any) -> Iterator[tuple[FirstStage, Any, dict[str, Any]]]:
    """First stages with their parameters and what the trace calls them: the one that is asked for first."""
    pack = stage_of(FIRST_STAGES[first])
    yield pack, parameters, {"first_stage": first}
    if parameters.mode == "paper":
        return
    if first in ("exact", "mips") and parameters.alpha > 0:
        yield (
            stage_of(FIRST_STAGES[first]),
            replace(parameters, alpha=0.0),
            {"first_stage": first, "alpha": 0.0},
        )
    fullest = FfdParameters(variant="heron", instances_per_container=None)
    told = {"first_stage": "ffd", "variant": "heron"}
    yield stage_of(FIRST_STAGES["ffd"]), fullest, told
    yield few_servers_first, fullest, {**told, "order": "few servers first"}


def _worth_it(container: IndexArray, before: list[IndexArray]) -> bool:
    """Whether a packing has fewer containers than those before, or as many with other contents."""
    count = container.max(initial=-1)
    fewest = min((other.max(initial=-1) for other in before), default=count)
    known = (_by_first(container) == _by_first(other) for other in before)
    return bool(count <= fewest) and not any(known)


def _by_first(container: IndexArray) -> tuple[int, ...]:
    """A packing whatever its containers' numbers: for every instance the first one that is with it."""
    _, first, group = np.unique(container, return_index=True, return_inverse=True)
    return tuple(first[group].tolist())
