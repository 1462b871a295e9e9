"""A whole placement problem: applications, machines, data objects and what is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from berth.model.application import Application, Together
from berth.model.arrays import IndexArray
from berth.model.fingerprint import fingerprint_of
from berth.model.instances import InstanceGraph
from berth.model.network import Link, Network, Node
from berth.model.sharing import SharingKeys

if TYPE_CHECKING:
    from berth.model.losses import Loss

NOT_CONTENT = frozenset(
    {"name", "objective", "then", "objective_within", "objective_scale", "objective_bounds"}
)
"""Fields of a problem that change the worth of no plan: its name, and what is sought among plans."""


@dataclass(frozen=True)
class DataObject:
    """Something that operators read and that may be held at several nodes."""

    name: str
    bytes: float


class TogetherInstances(NamedTuple):
    """A `together` rule and what it binds."""

    application: str
    rule: Together
    instances: list[int]


@dataclass(frozen=True)
class Survive:
    """The losses that a plan survives: of any node or, with a label, of all nodes with one value of it."""

    label: str | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """What is placed, where it may go, and what counts."""

    name: str
    network: Network
    applications: tuple[Application, ...]
    objects: tuple[DataObject, ...] = ()
    sharing: bool = True
    objective: Mapping[str, float] = field(default_factory=lambda: {"response_time": 1.0})
    """Weights by objective key; all above zero."""
    then: tuple[Mapping[str, float], ...] | None = None
    """What is minimised next, in this order, among plans near enough to the best so far; None: no list."""
    objective_within: tuple[float, ...] = ()
    """By level, how far from its best value the plans that later levels choose from may be."""
    objective_scale: Literal["normalised", "raw"] = "normalised"
    objective_bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """[best, worst] of a metric for the normalisation, where the user gives them."""
    survive: Survive | None = None

    @property
    def objectives(self) -> tuple[Mapping[str, float], ...]:
        """What is minimised, level by level."""
        return self.objective, *(self.then or ())

    @property
    def sought(self) -> dict[str, float] | list[dict[str, float]]:
        """What is minimised, as files have it: weights, or a list of them where goals are in order."""
        goals = [dict(weights) for weights in self.objectives]
        return goals[0] if self.then is None else goals

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """Every loss that a plan has to survive."""
        from berth.model.losses import Loss  # which are made from problems

        if self.survive is None:
            return ()
        lost: dict[str, list[int]] = {}
        for number, node in enumerate(self.network.nodes):
            if self.survive.label is None:
                if node.hosts:
                    lost[node.name] = [number]
            elif self.survive.label in node.labels:
                lost.setdefault(node.labels[self.survive.label], []).append(number)
        return tuple(Loss(name, np.array(nodes, dtype=np.intp), self) for name, nodes in lost.items())

    @cached_property
    def fingerprint(self) -> str:
        """What tells this version of the problem from others."""
        return fingerprint_of(self, NOT_CONTENT)

    @cached_property
    def instances(self) -> InstanceGraph:
        """The instances that are placed, numbered, with the streams between them."""
        return InstanceGraph(self.applications, self.network)

    @cached_property
    def sharing_keys(self) -> SharingKeys:
        """What computes the same as what."""
        return SharingKeys(self.instances, self.sharing)

    @cached_property
    def object_bytes(self) -> dict[str, float]:
        """The size of every object by name."""
        return {item.name: item.bytes for item in self.objects}

    @cached_property
    def together(self) -> list[TogetherInstances]:
        """Every `together` rule with the instances that it binds."""
        graph = self.instances

        def instances_of(application: Application, rule: Together) -> list[int]:
            names = (f"{application.name}/{name}" for name in dict.fromkeys(rule.operators))
            items = (graph.operators[graph.operator_index[name]] for name in names)
            return [number for item in items for number in item.instances]

        return [
            TogetherInstances(application.name, rule, instances_of(application, rule))
            for application in self.applications
            for rule in application.rules
            if isinstance(rule, Together)
        ]

    @cached_property
    def block_of(self) -> IndexArray:
        """The block of every instance: what rules bind together is one. Numbered by their first instances."""
        first = np.arange(len(self.instances))
        for bound in self.together:
            joined = np.isin(first, first[bound.instances])
            first[joined] = first[joined].min()
        return np.asarray(np.unique(first, return_inverse=True)[1], dtype=np.intp).reshape(-1)

    def for_goal(self, weights: Mapping[str, float], *then: Mapping[str, float]) -> Problem:
        """The problem with another goal, or goals in order; all that doesn't depend on goals is the same."""
        other = replace(self, objective=weights, then=then or None, objective_within=())
        for name in ("instances", "sharing_keys", "together", "block_of", "losses", "fingerprint"):
            if name in vars(self):
                vars(other)[name] = vars(self)[name]
        return other

    def with_node(self, number: int, node: Node) -> Problem:
        """The problem with another node in place of one."""
        nodes = tuple(node if k == number else item for k, item in enumerate(self.network.nodes))
        return replace(self, network=replace(self.network, nodes=nodes))

    def with_link(self, sender: int, receiver: int, field: str, value: float) -> Problem:
        """The problem with another value of a link; both ways where the network is symmetric."""
        network = self.network
        names = network.nodes[sender].name, network.nodes[receiver].name
        directions = {names, names[::-1]} if network.symmetric else {names}
        kept, changed = [], []
        for link in network.links:
            if (link.sender, link.receiver) in directions:
                changed.append(replace(link, **{field: value}))  # type: ignore[arg-type]
            else:
                kept.append(link)
        given = {(link.sender, link.receiver) for link in changed}
        known = given | ({ends[::-1] for ends in given} if network.symmetric else set())
        for ends in sorted(directions - known):
            changed.append(replace(Link(*ends), **{field: value}))  # type: ignore[arg-type]
        return replace(self, network=replace(network, links=(*kept, *changed)))
