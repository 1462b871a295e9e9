"""Losses: some nodes gone at once, and what is left of a problem then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from berth.model.application import Application
from berth.model.arrays import BoolArray, IndexArray
from berth.model.instances import InstanceGraph
from berth.model.network import Network
from berth.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Loss:
    """Some nodes gone at once."""

    name: str
    """The lost node, or the lost value of the label."""
    nodes: IndexArray
    of: Problem

    @cached_property
    def lost(self) -> BoolArray:
        """The instances that could run on these nodes alone: nothing is asked of them any more."""
        graph = self.of.instances
        few = len(self.nodes)
        gone = [0 < len(nodes) <= few and np.isin(nodes, self.nodes).all() for nodes in graph.allowed_nodes]
        return np.asarray(np.array(gone, dtype=bool)[graph.operator_of])

    @cached_property
    def problem(self) -> Problem:
        """The problem without these nodes; they keep their numbers, and so do all instances."""
        return self._problem(self.of.applications, self.of.instances.on(self._network))

    @cached_property
    def left(self) -> Problem:
        """The problem without the lost instances, too: a problem of its own, whose plans are failovers.

        Rates and loads are those of the whole problem.
        """
        if not self.lost.any():
            return self.problem
        graph = self.of.instances
        rates = iter(np.nan_to_num(graph.stream_rate).tolist())
        lost = {graph.operators[number].name for number in graph.operator_of[self.lost].tolist()}
        applications = tuple(_left_of(item, lost, rates) for item in self.of.applications)
        return self._problem(applications, InstanceGraph(applications, self._network, graph.load[self.kept]))

    @cached_property
    def kept(self) -> IndexArray:
        """The numbers that the instances of `left` have in the whole problem."""
        return np.flatnonzero(~self.lost)

    def moving(self, nodes: IndexArray) -> BoolArray:
        """By instance, whether it has to move, where these are on such nodes."""
        return np.asarray(np.isin(nodes, self.nodes) & ~self.lost)

    def touches(self, nodes: IndexArray) -> bool:
        """Whether anything changes for instances on these nodes: one of them is lost, or a route may be."""
        return self.of.network.routing == "shortest_path" or bool(np.isin(nodes, self.nodes).any())

    @cached_property
    def _network(self) -> Network:
        return self.of.network.without(self.nodes)

    def _problem(self, applications: tuple[Application, ...], graph: InstanceGraph) -> Problem:
        values: dict[str, Any] = {field.name: getattr(self.of, field.name) for field in fields(Problem)}
        changed = {"applications": applications, "network": self._network, "survive": None}
        return _ProblemAfter(**{**values, **changed}, graph=graph)


@dataclass(frozen=True, eq=False, kw_only=True)
class _ProblemAfter(Problem):
    """A problem after a loss."""

    graph: InstanceGraph
    """The instances with what they have of the whole problem."""

    @property
    def instances(self) -> InstanceGraph:
        """The instances that are placed."""
        return self.graph


def _left_of(application: Application, lost: set[str], rates: Iterator[float]) -> Application:
    """An application without what is lost; its streams have the rates that they had.

    An unknown rate binds nothing and stays so: it is 0.
    """

    def is_left(name: str) -> bool:
        return f"{application.name}/{name}" not in lost

    streams = [replace(stream, bytes_per_s=next(rates)) for stream in application.streams]
    rules = [
        replace(rule, operators=tuple(name for name in rule.operators if is_left(name)))
        for rule in application.rules
    ]
    return replace(
        application,
        operators=tuple(item for item in application.operators if is_left(item.name)),
        streams=tuple(item for item in streams if is_left(item.sender) and is_left(item.receiver)),
        rules=tuple(rule for rule in rules if rule.operators),
    )
