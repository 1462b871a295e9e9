"""Paper 002's delay model (card 1.6) for a policy that tries moves: the judge's figures, one path at a time.

L(path) = N + T of its links + P of its operators. The plan's own figures come from the judge; tests hold
both equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.core import space as core
from berth.evaluation.situation import data_unit_bytes
from berth.model import Problem
from berth.model.arrays import BoolArray, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Path:
    """A path from a source to a sink, and what it takes."""

    latency_ms: float
    instances: IndexArray
    unit_bytes: FloatArray
    """The size of a data unit on each of its links."""
    loaded: bool
    """Whether queues and transmission count and ends are free (002); if not: `response_time_ms`."""


@dataclass(frozen=True, eq=False)
class _Graph:
    """One application's instances, numbered from its first, and the pairs that they send."""

    first: int
    size: int
    sender: IndexArray
    receiver: IndexArray
    unit_bytes: FloatArray
    paths: core.ApplicationPaths


class DelayModel:
    """What paths take on a problem's network."""

    def __init__(self, problem: Problem) -> None:
        graph, network = problem.instances, problem.network
        self._delays = network.table.delay_ms
        self._hosts = core.PathHosts(network.speed, network.nic_bytes_per_s)
        schedule = graph.path_schedule
        self.work = graph.work_ms
        self.inner_work = np.where(schedule.has_input & schedule.has_output, graph.work_ms, 0.0)
        """Work with ends free."""
        self._graphs = [_graph(problem, number) for number in range(len(problem.applications))]

    def longest(self, application: int, nodes: IndexArray, queue: FloatArray, loaded: bool = True) -> Path:
        """The path of an application that takes longest; ties: the first instances."""
        graph = self._graphs[application]
        span = slice(graph.first, graph.first + graph.size)
        node = nodes[span]
        work = self.inner_work if loaded else self.work
        latency, instances, pairs = graph.paths.longest(
            self._hosts,
            nodes=node,
            delays=self._delays[node[graph.sender], node[graph.receiver]],
            work=work[span],
            queue=queue,
            loaded=loaded,
        )
        return Path(latency, instances + graph.first, graph.unit_bytes[pairs], loaded)

    def elsewhere(
        self, path: Path, moved: BoolArray, size: int, nodes: IndexArray, queue: FloatArray, hosts: IndexArray
    ) -> FloatArray:
        """What a path takes with its `moved` instances on each of some hosts (where they are now, too)."""
        node = nodes[path.instances]
        delays_elsewhere = np.zeros((len(node) - 1, len(hosts)))
        for link in np.flatnonzero(moved[:-1] != moved[1:]).tolist():
            ends = (hosts, node[link + 1]) if moved[link] else (node[link], hosts)
            delays_elsewhere[link] = self._delays[ends]
        here = int(node[np.argmax(moved)])
        return self._hosted(path, moved, node).elsewhere(hosts, here, size, delays_elsewhere, queue)

    def costs(
        self, path: Path, span: tuple[int, int], moved: BoolArray, nodes: IndexArray, queue: FloatArray
    ) -> float:
        """N + T of the links between two positions on a path, and P of the `moved` instances."""
        return self._hosted(path, moved, nodes[path.instances]).costs_ms(*span, queue)

    def _hosted(self, path: Path, moved: BoolArray, node: IndexArray) -> core.HostedPath:
        return core.HostedPath(
            self._hosts,
            nodes=node,
            moved=moved,
            work=(self.inner_work if path.loaded else self.work)[path.instances],
            unit_bytes=path.unit_bytes,
            delays=self._delays[node[:-1], node[1:]],
            loaded=path.loaded,
        )

    def usage_change(
        self, here: int, host: int, others: IndexArray, forward: FloatArray, backward: FloatArray
    ) -> float:
        """How much more is in flight (bytes) if what exchanges these rates with others moves to a host."""
        sent = self._delays[host, others] - self._delays[here, others]
        received = self._delays[others, host] - self._delays[others, here]
        return float(np.nan_to_num(forward * sent + backward * received).sum()) / 1000.0


def _graph(problem: Problem, application: int) -> _Graph:
    graph = problem.instances
    numbers = np.flatnonzero(graph.application_of == application)
    first = int(numbers[0])
    mine = np.flatnonzero(graph.application_of[graph.pair_sender] == application)
    mine = mine[np.lexsort((graph.pair_receiver[mine], graph.pair_sender[mine]))]
    sender, receiver = graph.pair_sender[mine] - first, graph.pair_receiver[mine] - first
    offsets = np.searchsorted(sender, np.arange(len(numbers) + 1)).astype(np.intp)
    along = [
        instance - first
        for operator in reversed(graph.operator_order)
        if graph.operators[operator].application == application
        for instance in graph.operators[operator].instances
    ]
    sources = np.flatnonzero(np.bincount(receiver, minlength=len(numbers)) == 0)
    sizes = data_unit_bytes(problem)[graph.pair_stream[mine]]
    paths = core.ApplicationPaths(offsets, receiver, np.array(along, dtype=np.intp), sources, sizes)
    return _Graph(first, len(numbers), sender, receiver, sizes, paths)
