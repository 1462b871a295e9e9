"""From a problem to what the stages work on, application by application, on what is left of the servers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from berth.evaluation import Setting
from berth.evaluation.limits import TOLERANCE, Capacity, PlaceLimit, place_limits
from berth.model import Containers
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.model.instances import InstanceGraph
from berth.policies.two_stage.stages import Most, SharedRoom, StageOne, StageTwo

SLACK = 1.0 + TOLERANCE / 2.0
"""Half of the judge's tolerance: sums in another order are not quite the same, and must not be above it."""


class Cluster:
    """The servers and what applications have taken of them so far."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.network = setting.problem.network
        self.servers: IndexArray = self.network.hosting
        self._taken: dict[str, FloatArray] = {}
        self.limits = [
            ServerLimit(limit, self.servers)
            for limit in place_limits(setting)
            if limit.matters and not isinstance(limit, Capacity)
        ]
        """What instances need of a server whatever their container takes: its processor, and rules."""

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

    def take(self, stage: StageTwo, servers: IndexArray, instances: slice, container: IndexArray) -> None:
        """Containers are on servers now, and instances in these."""
        for column, name in enumerate(stage.resources):
            taken = self._taken.setdefault(name, np.zeros(len(self.servers)))
            np.add.at(taken, servers, stage.size[:, column])
        for limit in self.limits:
            np.subtract.at(limit.left, limit.place_of[servers[container]], limit.needed[instances])

    def _columns(self, columns: list[FloatArray]) -> FloatArray:
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.servers), 0))


class ServerLimit:
    """A limit of places, and what applications have left of it."""

    def __init__(self, limit: PlaceLimit, servers: IndexArray) -> None:
        self.needed = limit.needed
        """By instance."""
        self.place_of = limit.place_of[servers]
        """By server."""
        self.left = np.maximum(limit.room, 0.0) * SLACK
        """By place."""
        self.single = len(np.unique(self.place_of)) == len(servers)
        """Whether no two servers share a place."""

    @property
    def by_server(self) -> FloatArray:
        """What is left at every server's place."""
        return np.maximum(self.left[self.place_of], 0.0)


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
        count = min(self.containers.count, len(names))
        # A container is on one server, so it holds no more than the roomiest place takes.
        most = np.array([limit.by_server.max(initial=0.0) for limit in cluster.limits])
        limited = np.array([limit.needed[self.instances] for limit in cluster.limits]).reshape(-1, len(names))
        capacity = np.tile(self._size, (count, 1))
        sender, receiver, rate = self._ends
        this_end = np.concatenate([sender, receiver])
        order = np.argsort(this_end, kind="stable")
        group, masks = self._allowed(cluster)
        return StageOne(
            application=self.name,
            names=names,
            resources=self.resources,
            demand=np.concatenate([self._demand[self._component], limited.T], axis=1),
            capacity=capacity,
            room=np.concatenate([capacity * SLACK, np.tile(most, (count, 1))], axis=1),
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
        size, room = np.tile(self._size, (count, 1)), cluster.room(self.resources)
        shared = []
        for limit in cluster.limits:
            needed = np.bincount(container, limit.needed[self.instances], count).astype(np.float64)
            if limit.single:
                size, room = np.column_stack([size, needed]), np.column_stack([room, limit.by_server])
            else:
                shared.append(SharedRoom(needed, limit.place_of, np.maximum(limit.left, 0.0)))
        return StageTwo(
            application=self.name,
            names=tuple(f"{self.name}/c{number}" for number in used.tolist()),
            resources=self.resources,
            size=size,
            shared=tuple(shared),
            capacity=cluster.capacity(self.resources),
            room=room,
            traffic=traffic,
            sends=sends,
            allowed=allowed,
            servers=cluster.servers,
            network=cluster.network,
        )
