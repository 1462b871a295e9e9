"""One application after another through both stages, on what the ones before have left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from berth.evaluation import METRIC_BY_NAME, Setting, Situation
from berth.evaluation.goal import Goal, goal_mistakes
from berth.evaluation.situation import assignment_of
from berth.model import BadInput, Plan
from berth.model.randomness import generator_for
from berth.policies.downloads import choose_downloads
from berth.policies.policy import Answer, Task
from berth.policies.two_stage.both import Failed, both_stages
from berth.policies.two_stage.build import requests
from berth.policies.two_stage.cluster import Cluster
from berth.policies.two_stage.registry import FIRST_STAGES, SECOND_STAGES
from berth.policies.two_stage.stages import IndexArray

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
        cluster.take(found.stage, found.servers)
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
        for line in goal_mistakes(replace(task.problem, objective={"traffic": 1.0})):
            yield line.replace("objective.traffic", f"--policy {policy}", 1)


def _figures(setting: Setting, nodes: IndexArray, containers: dict[str, str]) -> dict[str, float]:
    """T, U and W by the judge; one that can't be known is left out."""
    plan = Plan(assignment_of(setting.problem, nodes), containers=containers)
    situation = Situation(setting, plan)
    values = {letter: METRIC_BY_NAME[name].value(situation) for letter, name in FIGURES.items()}
    return {letter: value for letter, value in values.items() if value is not None and np.isfinite(value)}
