"""The applications that have their place while others come and go, and what they leave for these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from berth.evaluation import Occupied, Setting, Situation
from berth.evaluation.limits import Capacity, Processor, keeps_up, place_limits
from berth.evaluation.residual import network_left
from berth.evaluation.violations import violations
from berth.model import Application, Download, InstanceGraph, Network, Plan, Problem

PROCESSOR = "processor time"
"""A resource that requests see beside their own: seconds of work a second."""


@dataclass(frozen=True, eq=False)
class Standing:
    """Some applications of a problem with their places, as one plan."""

    problem: Problem
    """With all its applications, those that have no place among them."""
    applications: frozenset[str] = frozenset()
    plan: Plan = field(default_factory=Plan)

    @staticmethod
    def of(problem: Problem, previous: Plan) -> Standing:
        """What a plan has placed of a problem.

        An application stays where all of it has a place on nodes that there are, and whatever it takes from
        others, too.
        """
        graph, nodes = problem.instances, problem.network.index
        dropped = {*previous.reuse, *previous.skipped}
        missing = {
            _owner(name)
            for item in graph.operators
            if item.name not in dropped
            for name in (graph.names[number] for number in item.instances)
            if previous.assignment.get(name) not in nodes
        }
        kept = {application.name for application in problem.applications} - missing
        while lost := {
            _owner(taker)
            for taker, giver in previous.reuse.items()
            if _owner(taker) in kept and (_owner(giver) not in kept or giver not in graph.operator_index)
        }:
            kept -= lost
        downloads = tuple(
            item
            for item in previous.downloads
            if item.object in problem.object_bytes and item.source in nodes and item.target in nodes
        )
        known = {*graph.index, *graph.operator_index}
        return Standing(
            problem, frozenset(kept), _part(replace(previous, downloads=downloads), kept, known)
        )._tidy()

    def arrived(self, application: str, plan: Plan) -> Standing:
        """With one more application, by a plan of its own."""
        served = {(item.object, item.target) for item in self.plan.downloads}
        more = tuple(item for item in plan.downloads if (item.object, item.target) not in served)
        joined = Plan(
            assignment={**self.plan.assignment, **plan.assignment},
            containers={**self.plan.containers, **plan.containers},
            downloads=(*self.plan.downloads, *more),
            reuse={**self.plan.reuse, **plan.reuse},
            skipped=(*self.plan.skipped, *plan.skipped),
        )
        return Standing(self.problem, self.applications | {application}, joined)

    def left(self, application: str) -> Standing:
        """Without an application, which must be there and whose results no other one takes."""
        rest = self.applications - {application}
        return Standing(self.problem, rest, _part(self.plan, rest))._tidy()

    def takers(self, application: str) -> list[str]:
        """Operators of other applications that take an application's results."""
        return [
            taker
            for taker, giver in self.plan.reuse.items()
            if _owner(giver) == application and _owner(taker) != application
        ]

    def _tidy(self) -> Standing:
        """Without downloads that nobody needs any more."""
        if not self.plan.downloads:
            return self
        needed: dict[tuple[str, str], Download] = {}
        if self.applications:
            nodes = self.problem.network.nodes
            wanted = {(name, nodes[node].name) for name, node in self.situation.object_rates}
            for item in self.plan.downloads:
                if (item.object, item.target) in wanted:
                    needed.setdefault((item.object, item.target), item)
        return replace(self, plan=replace(self.plan, downloads=tuple(needed.values())))

    @cached_property
    def part(self) -> Problem:
        """The problem of these applications alone, in the order of the file."""
        there = (item for item in self.problem.applications if item.name in self.applications)
        return replace(self.problem, applications=tuple(there))

    @cached_property
    def situation(self) -> Situation:
        """What all of it means; only where there is an application."""
        return Situation(Setting(self.part), self.plan)

    @cached_property
    def broken(self) -> tuple[str, ...]:
        """The constraints that it breaks."""
        if not self.applications:
            return ()
        with np.errstate(over="ignore", invalid="ignore"):
            return tuple(violations(self.situation))

    @property
    def in_use(self) -> dict[str, float]:
        """The share of each resource of all nodes that host, less the headroom, that is taken."""
        network = self.problem.network
        hosting = network.hosting
        names = sorted({name for number in hosting.tolist() for name in network.nodes[number].capacity})
        total = {name: float(network.capacity(name)[hosting].sum()) for name in names}
        used = dict.fromkeys(names, 0.0)
        for limit in place_limits(self.situation.setting) if self.applications else ():
            if isinstance(limit, Capacity) and limit.resource in used:
                used[limit.resource] = float(limit.used(self.situation).sum())
        return {name: used[name] / total[name] for name in names if total[name] > 0}

    def request(self, application: Application) -> tuple[Problem, Occupied | None]:
        """An application alone on what is left, for any policy.

        What is left is in the network itself, so that every policy heeds it. Processor load is not a field of
        a node, so it becomes an extra resource.
        """
        alone = replace(self.problem, applications=(application,))
        if not self.applications:
            return alone, None
        network = network_left(self.situation)
        busy = self._busy_processors()
        if keeps_up(alone) and application.containers is None and busy.any():
            name = PROCESSOR
            while any(name in item.demand for item in application.operators):
                name += "'"
            network = _with_processors(network, name, Setting(self.problem).processors - busy)
            application = _with_work(application, name, alone.instances)
            busy = np.zeros(len(busy))
        occupied = Occupied({}, busy, self._operators_with_a_choice())
        request = replace(alone, network=network, applications=(application,))
        # its plan becomes part of a plan of the whole, and what is left changes with every request
        vars(request)["fingerprint"] = self.problem.fingerprint
        return request, occupied

    def _busy_processors(self) -> np.ndarray:
        """The reference processors that are busy on every node."""
        for limit in place_limits(self.situation.setting):
            if isinstance(limit, Processor):
                return limit.used(self.situation)
        return np.zeros(len(self.problem.network.nodes))

    def _operators_with_a_choice(self) -> np.ndarray:
        situation = self.situation
        candidates = [item.operator.candidates for item in situation.graph.operators]
        chosen = np.array([names is None or len(names) > 1 for names in candidates])
        running = situation.running[chosen[situation.graph.operator_of[situation.running]]]
        counts = np.bincount(situation.node_of[running], minlength=len(situation.network.nodes))
        return counts.astype(np.float64)


def _owner(name: str) -> str:
    """The application of an instance, an operator or a container."""
    return name.partition("/")[0]


def _part(plan: Plan, applications: Iterable[str], known: Iterable[str] | None = None) -> Plan:
    """What a plan says of some applications; with `known` only of these instances and operators."""
    owners = frozenset(applications)
    names = None if known is None else frozenset(known)

    def concerned(name: str) -> bool:
        return _owner(name) in owners and (names is None or name in names)

    return Plan(
        assignment={name: node for name, node in plan.assignment.items() if concerned(name)},
        containers={name: container for name, container in plan.containers.items() if concerned(name)},
        downloads=plan.downloads,
        reuse={taker: giver for taker, giver in plan.reuse.items() if concerned(taker)},
        skipped=tuple(name for name in plan.skipped if concerned(name)),
    )


def _with_processors(network: Network, name: str, free: np.ndarray) -> Network:
    """The network with what is left of processors as a resource; its links are what they were."""
    room = np.maximum(free, 0.0) / (1.0 - network.headroom)
    nodes = tuple(
        replace(node, capacity={**node.capacity, name: float(room[number])})
        for number, node in enumerate(network.nodes)
    )
    more = replace(network, nodes=nodes)
    vars(more)["table"] = network.table
    return more


def _with_work(application: Application, name: str, graph: InstanceGraph) -> Application:
    """An application whose operators demand processor time, each instance as much as the busiest of them."""
    operators = tuple(
        replace(item.operator, demand={**item.operator.demand, name: float(graph.load[item.instances].max())})
        for item in graph.operators
    )
    return replace(application, operators=operators)
