"""From a problem to what the stages work on, application by application."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from berth.evaluation import Setting
from berth.model import Containers
from berth.model.instances import InstanceGraph
from berth.policies.two_stage.cluster import SLACK, Cluster
from berth.policies.two_stage.stages import BoolArray, FloatArray, IndexArray, Most, StageOne, StageTwo


def requests(setting: Setting) -> list[Request]:
    """The applications that have containers, in the order of the file."""
    graph, applications = setting.graph, setting.problem.applications
    # Instances, operators, streams and pairs are numbered application after application.
    owners = (
        graph.application_of,
        graph.operator_application,
        graph.operator_application[graph.stream_ends[:, 0]],
        graph.application_of[graph.pair_sender],
    )
    ends = [np.searchsorted(each, np.arange(len(applications) + 1)).tolist() for each in owners]
    most = most_of(setting)
    return [
        Request(
            application.name,
            application.containers,
            graph,
            most,
            *(slice(first[number], first[number + 1]) for first in ends),
        )
        for number, application in enumerate(applications)
        if application.containers is not None
    ]


def most_of(setting: Setting) -> Most:
    """All traffic, and all containers that can be of use: no more than there are instances."""
    graph = setting.graph
    instances = np.bincount(graph.application_of, minlength=len(setting.problem.applications)).tolist()
    containers = sum(
        min(application.containers.count, instances[number])
        for number, application in enumerate(setting.problem.applications)
        if application.containers is not None
    )
    return Most(float(np.nansum(graph.pair_rate)), containers)


@dataclass(frozen=True, eq=False)
class Request:
    """One application of a problem, and which part of all numbers is its own."""

    name: str
    containers: Containers
    graph: InstanceGraph
    most: Most
    instances: slice
    operators: slice
    streams: slice
    pairs: slice

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """What containers have, then what else instances demand."""
        demanded = (name for item in self.graph.operators[self.operators] for name in item.operator.demand)
        return tuple(dict.fromkeys([*self.containers.capacity, *demanded]))

    @property
    def _size(self) -> FloatArray:
        return np.array(
            [self.containers.capacity.get(name, 0.0) for name in self.resources], dtype=np.float64
        )

    @property
    def _demand(self) -> FloatArray:
        """What an instance of each operator demands of each resource."""
        demands = [item.operator.demand for item in self.graph.operators[self.operators]]
        rows = [[demand.get(name, 0.0) for name in self.resources] for demand in demands]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.resources))

    @cached_property
    def _ends(self) -> tuple[IndexArray, IndexArray, FloatArray]:
        """Sender, receiver (numbered within the application) and rate of every pair."""
        graph, first = self.graph, self.instances.start
        rate = np.nan_to_num(graph.pair_rate[self.pairs])
        return graph.pair_sender[self.pairs] - first, graph.pair_receiver[self.pairs] - first, rate

    def _allowed(self, cluster: Cluster) -> tuple[IndexArray, BoolArray]:
        """The group of every instance, and the servers that each group may run on."""
        graph = self.graph
        found: dict[int, int] = {}
        allowed = graph.allowed_nodes[self.operators]
        groups = [found.setdefault(id(nodes), len(found)) for nodes in allowed]
        position = np.full(len(cluster.network.nodes), -1, dtype=np.intp)
        position[cluster.servers] = np.arange(len(cluster.servers))
        masks = np.zeros((len(found), len(cluster.servers)), dtype=bool)
        for group, nodes in zip(groups, allowed, strict=True):
            masks[group, position[nodes]] = True
        return np.array(groups)[self._component], masks

    @property
    def _component(self) -> IndexArray:
        return np.asarray(self.graph.operator_of[self.instances] - self.operators.start)

    def first(self, cluster: Cluster) -> StageOne:
        """Instances and containers."""
        graph = self.graph
        names = tuple(graph.names[self.instances])
        capacity = np.tile(self._size, (min(self.containers.count, len(names)), 1))
        sender, receiver, rate = self._ends
        this_end = np.concatenate([sender, receiver])
        order = np.argsort(this_end, kind="stable")
        group, masks = self._allowed(cluster)
        return StageOne(
            application=self.name,
            names=names,
            resources=self.resources,
            demand=self._demand[self._component],
            capacity=capacity,
            room=capacity * SLACK,
            count=self.containers.count,
            component=self._component,
            streams=graph.stream_ends[self.streams] - self.operators.start,
            start=np.searchsorted(this_end[order], np.arange(len(names) + 1)),
            neighbour=np.concatenate([receiver, sender])[order],
            rate=np.concatenate([rate, rate])[order],
            group=group,
            group_servers=masks & (self._size <= cluster.room(self.resources)).all(axis=1),
            most=self.most,
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
        between = container[sender] * count + container[receiver]
        traffic = np.bincount(between, rate, minlength=count**2).reshape(count, count).astype(np.float64)
        sends = np.bincount(between, minlength=count**2).reshape(count, count) > 0
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
            sends=sends,
            allowed=allowed,
            servers=cluster.servers,
            network=cluster.network,
        )
