"""One graph on the nodes that all share: what runs in the executors' Python, without Spark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Occupied, Setting, evaluate
from berth.evaluation.limits import Processor
from berth.files import problem_on
from berth.model import BadInput, Network, Plan, Problem
from berth.pipeline.many.solver import Row, Terms, error_text, failed, solved
from berth.policies import find_policy, solve
from berth.policies.policy import parameters_from
from berth.space import space_of

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Part:
    """What one operator takes of one node."""

    operator: str
    chosen: bool
    """Whether it could go elsewhere, too."""
    single: bool
    """Whether all its instances are on this node."""
    node: int
    amounts: FloatArray
    """A number for each column of room."""


@dataclass(frozen=True, eq=False)
class SharedRoom:
    """What is taken of every node, in columns: resources, processor, places for operators with a choice."""

    resources: tuple[str, ...]
    taken: FloatArray
    """[nodes, columns]"""
    most: float
    """How many operators a node may have."""

    @staticmethod
    def of(network: Network, most: float) -> SharedRoom:
        """All of a network's nodes, with nothing taken."""
        names = tuple(sorted({name for node in network.nodes for name in node.capacity}))
        return SharedRoom(names, np.zeros((len(network.nodes), len(names) + 2)), most)

    def occupied(self) -> Occupied:
        """As policies and the judge want it."""
        amounts = {name: self.taken[:, number] for number, name in enumerate(self.resources)}
        return Occupied(amounts, busy=self.taken[:, -2], operators=self.taken[:, -1])

    def left(self, network: Network, nodes: IndexArray) -> FloatArray:
        """What some nodes have left [nodes, columns]."""
        there = [network.capacity(name)[nodes] for name in self.resources]
        there += [network.usable_processors[nodes], np.full(len(nodes), self.most)]
        return np.maximum(np.stack(there, axis=1) - self.taken[nodes], 0.0)

    def take(self, parts: Sequence[Part]) -> None:
        """Take what operators need."""
        for part in parts:
            self.taken[part.node] += part.amounts

    @contextmanager
    def lent(self, parts: Sequence[Part]) -> Iterator[None]:
        """For a while without what a graph holds itself: policies count again what is pinned.

        But for the places of operators: those that are pinned need none.
        """
        before = [self.taken[part.node].copy() for part in parts]
        for part in parts:
            self.taken[part.node, :-1] -= part.amounts[:-1]
        try:
            yield
        finally:
            for part, row in zip(reversed(parts), reversed(before), strict=True):
                self.taken[part.node] = row

    def parts_of(self, problem: Problem, assignment: Mapping[str, str]) -> list[Part]:
        """What each operator takes of each of its nodes; those that have none are left out."""
        graph, network = problem.instances, problem.network
        demands = [graph.demand(name) for name in self.resources]
        work = Processor(Setting(problem)).needed
        parts = []
        for item in graph.operators:
            names = [graph.names[number] for number in item.instances]
            if not all(name in assignment for name in names):
                continue
            home = np.array([network.index[assignment[name]] for name in names])
            chosen = item.operator.candidates is None or len(item.operator.candidates) > 1
            for node in np.unique(home).tolist():
                here = np.array(item.instances)[home == node]
                amounts = [float(demand[here].sum()) for demand in demands]
                amounts += [float(work[here].sum()), float(len(here) if chosen else 0)]
                single = bool((home == node).all())
                parts.append(Part(item.operator.name, chosen, single, node, np.array(amounts)))
        return parts

    def without(self, crowded: Sequence[tuple[int, int]], network: Network, seed: int) -> SharedRoom:
        """The same without the nodes with room nearest to crowded ones, as many as others will fill first."""
        space = space_of(network, seed)
        places = space.coordinates.positions
        taken = self.taken.copy()
        for node, ahead in crowded:
            near, _ = space.index.nearest(places[node], min(2 * ahead + 16, len(places)))
            open_ones = near[(self.left(network, near) > 0.0).all(axis=1)]
            taken[open_ones[:ahead]] = np.inf
        return SharedRoom(self.resources, taken, self.most)


POLICIES = ("mopa", "sbon")
"""The policies that graphs are placed together by; they also heed how many operators a node has."""


@dataclass(frozen=True)
class Method:
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


def propose(row: Row, network: Network, room: SharedRoom, method: Method) -> Proposal:
    """Place one graph on the room that is left; its operators that are `fixed` stay and hold room already."""
    terms = Terms(method.time_limit)
    request = {"name": row["application"], "source": row["source"], "digest": None}
    held: list[Part] = []
    try:
        if row["content"] is None:
            raise BadInput([row["mistake"]])
        problem = problem_on(network, json.loads(row["content"]))
        fixed = dict(row["fixed"] or {})
        held = room.parts_of(problem, _assigned(problem, fixed))
        with room.lent(held):
            plan = _solve(_pinned(problem, fixed), room, method, row["contested"] or [])
    except Exception as error:  # a graph that makes no sense costs its row, nothing else
        return Proposal(failed(request, method.variant, terms, error_text(error), 0.0), None, held)
    answer = solved(request, method.variant, terms, plan)
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


def _solve(problem: Problem, room: SharedRoom, method: Method, contested: Sequence[Row]) -> Plan:
    """Away from crowded nodes, if that leaves a place; else wherever there is one."""
    crowded = [(each["node"], each["ahead"]) for each in contested if each["ahead"] > 0]
    if crowded:
        apart = _solve_on(problem, room.without(crowded, problem.network, method.seed), method)
        if apart.assignment:
            # what is pinned to a crowded node stays there: it is judged by the room that there really is
            judged = evaluate(problem, apart, occupied=room.occupied())
            if not judged.violations:
                return replace(apart, violations=(), status="feasible", reason=None)
    return _solve_on(problem, room, method)


def _solve_on(problem: Problem, room: SharedRoom, method: Method) -> Plan:
    parameters: Row = dict(method.parameters)
    return solve(
        problem,
        method.policy,
        time_limit=method.time_limit,
        seed=method.seed,
        occupied=room.occupied(),
        **parameters,
    )
