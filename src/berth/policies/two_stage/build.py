"""From a problem to what the stages work on: one application, and the servers with what is left of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from berth.evaluation import Setting
from berth.evaluation.feasibility import TOLERANCE
from berth.model import Containers
from berth.policies.two_stage.stages import BoolArray, FloatArray, IndexArray, StageOne, StageTwo

SLACK = 1.0 + TOLERANCE / 2.0
"""Half of the judge's tolerance: sums in another order are not quite the same, and must not be above it."""


class Cluster:
    """The servers and what applications have taken of them so far."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.network = setting.problem.network
        self.servers: IndexArray = self.network.hosting
        self._taken: dict[str, FloatArray] = {}

    def capacity(self, resources: tuple[str, ...]) -> FloatArray:
        """[s, R] what every server has in all."""
        return self._columns([self.network.capacity(name)[self.servers] for name in resources])

    def room(self, resources: tuple[str, ...]) -> FloatArray:
        """[s, R] what is left of every server, with the tolerance."""
        left = [
            np.maximum(self._setting.capacity(name)[self.servers], 0.0) * SLACK - self._taken.get(name, 0.0)
            for name in resources
        ]
        return np.maximum(self._columns(left), 0.0)

    def take(self, stage: StageTwo, servers: IndexArray) -> None:
        """Containers are on servers now."""
        for column, name in enumerate(stage.resources):
            taken = self._taken.setdefault(name, np.zeros(len(self.servers)))
            np.add.at(taken, servers, stage.size[:, column])

    def _columns(self, columns: list[FloatArray]) -> FloatArray:
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.servers), 0))


class Request:
    """One application of a problem."""

    def __init__(self, setting: Setting, number: int, containers: Containers) -> None:
        self._graph = graph = setting.graph
        self.name = setting.problem.applications[number].name
        self._containers = containers
        # Instances, operators, streams and pairs are numbered application after application.
        self.instances = _slice(graph.application_of, number)
        self._operators = _slice(graph.operator_application, number)
        self._pairs = _slice(graph.application_of[graph.pair_sender], number)
        ends = graph.operator_application[graph.stream_ends[:, 0]]
        self._streams = graph.stream_ends[_slice(ends, number)] - self._operators.start
        demanded = (name for item in graph.operators[self._operators] for name in item.operator.demand)
        self.resources = tuple(dict.fromkeys([*containers.capacity, *demanded]))

    @property
    def _size(self) -> FloatArray:
        return np.array(
            [self._containers.capacity.get(name, 0.0) for name in self.resources], dtype=np.float64
        )

    @cached_property
    def _ends(self) -> tuple[IndexArray, IndexArray, FloatArray]:
        """Sender, receiver (numbered within the application) and rate of every pair."""
        graph, first = self._graph, self.instances.start
        rate = np.nan_to_num(graph.pair_rate[self._pairs])
        return graph.pair_sender[self._pairs] - first, graph.pair_receiver[self._pairs] - first, rate

    def _allowed(self, cluster: Cluster) -> tuple[IndexArray, BoolArray]:
        """The group of every instance, and the servers that each group may run on."""
        graph = self._graph
        found: dict[int, int] = {}
        allowed = graph.allowed_nodes[self._operators]
        groups = [found.setdefault(id(nodes), len(found)) for nodes in allowed]
        position = np.full(len(cluster.network.nodes), -1, dtype=np.intp)
        position[cluster.servers] = np.arange(len(cluster.servers))
        masks = np.zeros((len(found), len(cluster.servers)), dtype=bool)
        for group, nodes in zip(groups, allowed, strict=True):
            masks[group, position[nodes]] = True
        return np.array(groups)[self._component], masks

    @property
    def _component(self) -> IndexArray:
        return np.asarray(self._graph.operator_of[self.instances] - self._operators.start)

    def first(self, cluster: Cluster) -> StageOne:
        """Instances and containers."""
        graph = self._graph
        names = tuple(graph.names[self.instances])
        demands = [graph.demand(name)[self.instances].astype(np.float64) for name in self.resources]
        capacity = np.tile(self._size, (min(self._containers.count, len(names)), 1))
        sender, receiver, rate = self._ends
        this_end = np.concatenate([sender, receiver])
        order = np.argsort(this_end, kind="stable")
        group, masks = self._allowed(cluster)
        return StageOne(
            application=self.name,
            names=names,
            resources=self.resources,
            demand=np.stack(demands, axis=1) if demands else np.zeros((len(names), 0)),
            capacity=capacity,
            room=capacity * SLACK,
            count=self._containers.count,
            component=self._component,
            streams=self._streams,
            start=np.searchsorted(this_end[order], np.arange(len(names) + 1)),
            neighbour=np.concatenate([receiver, sender])[order],
            rate=np.concatenate([rate, rate])[order],
            group=group,
            group_servers=masks & (self._size <= cluster.room(self.resources)).all(axis=1),
        )

    def second(self, cluster: Cluster, used: IndexArray, container: IndexArray) -> StageTwo:
        """Containers and servers.

        Args:
            cluster: the servers.
            used: the numbers of the containers that are not empty, ascending.
            container: for every instance the position of its container in `used`.
        """
        sender, receiver, rate = self._ends
        count = len(used)
        between = np.bincount(container[sender] * count + container[receiver], rate, minlength=count**2)
        traffic = between.reshape(count, count).astype(np.float64)
        np.fill_diagonal(traffic, 0.0)
        group, masks = self._allowed(cluster)
        allowed = np.ones((count, len(cluster.servers)), dtype=bool)
        for each in range(len(masks)):
            allowed[np.unique(container[group == each])] &= masks[each]
        return StageTwo(
            application=self.name,
            names=tuple(f"{self.name}/c{number}" for number in used.tolist()),
            resources=self.resources,
            size=np.tile(self._size, (count, 1)),
            capacity=cluster.capacity(self.resources),
            room=cluster.room(self.resources),
            traffic=traffic,
            allowed=allowed,
            servers=cluster.servers,
            network=cluster.network,
        )


def _slice(ascending: IndexArray, number: int) -> slice:
    first, last = np.searchsorted(ascending, [number, number + 1]).tolist()
    return slice(first, last)
