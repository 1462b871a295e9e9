"""One graph on the nodes that all share: what runs in the executors' Python, without Spark."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from berth.evaluation import evaluate
from berth.files import problem_on
from berth.model import BadInput, Network, Plan, Problem
from berth.pipeline.many.solver import Terms, failed, solved, told
from berth.pipeline.together.room import Part, SharedRoom
from berth.policies import find_policy, solve
from berth.policies.parameters import parameters_from

Row = dict[str, Any]

POLICIES = ("mopa", "sbon")
"""The policies that heed what others have taken."""


@dataclass(frozen=True)
class Way:
    """How every graph is placed."""

    policy: str = "mopa"
    seed: int = 0
    parameters: Mapping[str, str] = field(default_factory=dict)
    time_limit: float | None = None

    @property
    def variant(self) -> Row:
        """As the table of plans has it."""
        return {
            "key": None,
            "policy": self.policy,
            "seed": self.seed,
            "parameters": dict(self.parameters),
        }

    @property
    def most(self) -> float:
        """How many operators with a choice a node may have."""
        chosen = parameters_from(find_policy(self.policy).parameters, self.parameters, self.policy)
        return getattr(chosen, "max_operators_per_host", None) or np.inf


@dataclass(frozen=True)
class Proposal:
    """What a graph would take, or gives back because there is no place for all of it."""

    row: Row
    """Of the plans' table."""
    parts: list[Part] | None
    """What it would take more than it has; None: there is no place."""
    returned: list[Part] = field(default_factory=list)


def propose(row: Row, network: Network, room: SharedRoom, way: Way) -> Proposal:
    """Place one graph on the room that is left; its operators that are `fixed` stay and hold room already."""
    terms = Terms(way.time_limit)
    request = {"name": row["application"], "source": row["source"], "digest": None}
    held: list[Part] = []
    try:
        if row["content"] is None:
            raise BadInput([row["mistake"]])
        problem = problem_on(network, json.loads(row["content"]))
        fixed = dict(row["fixed"] or {})
        held = room.parts_of(problem, _assigned(problem, fixed))
        with room.lent(held):
            plan = _solve(_pinned(problem, fixed), room, way, row["contested"] or [])
    except Exception as error:  # a graph that makes no sense costs its row, nothing else
        return Proposal(failed(request, way.variant, terms, told(error), 0.0), None, held)
    answer = solved(request, way.variant, terms, plan)
    if len(plan.assignment) < len(problem.instances) or plan.violations:
        return Proposal(answer, None, held)
    new = [part for part in room.parts_of(problem, plan.assignment) if part.operator not in fixed]
    return Proposal(answer, new)


def _assigned(problem: Problem, fixed: Mapping[str, int]) -> dict[str, str]:
    graph, nodes = problem.instances, problem.network.nodes
    return {
        graph.names[number]: nodes[fixed[item.operator.name]].name
        for item in graph.operators
        if item.operator.name in fixed
        for number in item.instances
    }


def _pinned(problem: Problem, fixed: Mapping[str, int]) -> Problem:
    """The problem, its fixed operators pinned to their nodes."""
    if not fixed:
        return problem
    (application,) = problem.applications
    nodes = problem.network.nodes
    operators = tuple(
        replace(each, candidates=(nodes[fixed[each.name]].name,)) if each.name in fixed else each
        for each in application.operators
    )
    return replace(problem, applications=(replace(application, operators=operators),))


def _solve(problem: Problem, room: SharedRoom, way: Way, contested: Sequence[Row]) -> Plan:
    """Away from crowded nodes, if that leaves a place; else wherever there is one."""
    crowded = [(each["node"], each["ahead"]) for each in contested if each["ahead"] > 0]
    if crowded:
        apart = _solve_on(problem, room.without(crowded, problem.network, way.seed), way)
        if apart.assignment:
            # what is pinned to a crowded node stays there: it is judged by the room that there really is
            judged = evaluate(problem, apart, occupied=room.occupied())
            if not judged.violations:
                return replace(apart, violations=(), status="feasible", reason=None)
    return _solve_on(problem, room, way)


def _solve_on(problem: Problem, room: SharedRoom, way: Way) -> Plan:
    parameters: Row = dict(way.parameters)
    return solve(
        problem,
        way.policy,
        time_limit=way.time_limit,
        seed=way.seed,
        occupied=room.occupied(),
        **parameters,
    )
