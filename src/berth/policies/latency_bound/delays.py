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
        self._delays, self._speed = network.table.delay_ms, network.speed
        self._card = network.nic_bytes_per_s if network.cards_bound else None
        schedule = graph.path_schedule
        self.work = graph.work_ms
        self.inner_work = np.where(schedule.has_input & schedule.has_output, graph.work_ms, 0.0)
        """Work with ends free."""
        self._graphs = [_graph(problem, number) for number in range(len(problem.applications))]

    def longest(self, application: int, nodes: IndexArray, queue: FloatArray, loaded: bool = True) -> Path:
        """The path of an application that takes longest; ties: the first instances."""
        graph = self._graphs[application]
        span = slice(graph.first, graph.first + graph.size)
        node, work = nodes[span], (self.inner_work if loaded else self.work)[span]
        hops = self._hops_ms(node[graph.sender], node[graph.receiver], graph.unit_bytes, loaded)
        latency, instances, pairs = graph.paths.longest(hops, self._stays_ms(work, node, queue[node], loaded))
        return Path(latency, instances + graph.first, graph.unit_bytes[pairs], loaded)

    def _hops_ms(
        self, senders: IndexArray, receivers: IndexArray, unit_bytes: FloatArray, loaded: bool
    ) -> FloatArray:
        """N + T of links: the delay and, with loads, what the sender's card takes; nothing within a host."""
        delay = self._delays[senders, receivers]
        if loaded and self._card is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                sending = 1000.0 * unit_bytes / self._card[senders]
            delay = delay + np.where(senders == receivers, 0.0, sending)
        # No link (NaN) is an endless one.
        return np.asarray(np.fmin(delay, np.inf))

    def _stays_ms(self, work: FloatArray, hosts: IndexArray, queue: FloatArray, loaded: bool) -> FloatArray:
        """P of operators: work at the host's speed and, with loads, as often as others are in the queue."""
        stay = work / self._speed[hosts]
        return np.asarray(stay * np.maximum(1.0, queue) if loaded else stay)

    def elsewhere(
        self, path: Path, moved: BoolArray, size: int, nodes: IndexArray, queue: FloatArray, hosts: IndexArray
    ) -> FloatArray:
        """What a path takes with its `moved` instances on each of some hosts (where they are now, too).

        They are `size` in all, on this path or not; the queues of both hosts change by that.
        """
        node = nodes[path.instances]
        here = node[np.argmax(moved)]
        at = np.where(moved[:, None], hosts, node[:, None])
        waiting = queue[at] + size * np.subtract(at == hosts, at == here, dtype=np.float64)
        work = (self.inner_work if path.loaded else self.work)[path.instances]
        stays = self._stays_ms(work[:, None], at, waiting, path.loaded)
        hops = self._hops_ms(at[:-1], at[1:], path.unit_bytes[:, None], path.loaded)
        return np.asarray(stays.sum(axis=0) + hops.sum(axis=0))

    def costs(
        self, path: Path, span: tuple[int, int], moved: BoolArray, nodes: IndexArray, queue: FloatArray
    ) -> float:
        """N + T of the links between two positions on a path, and P of the `moved` instances."""
        node, links = nodes[path.instances], slice(*span)
        work = (self.inner_work if path.loaded else self.work)[path.instances[moved]]
        stays = self._stays_ms(work, node[moved], queue[node[moved]], path.loaded)
        hops = self._hops_ms(node[:-1][links], node[1:][links], path.unit_bytes[links], path.loaded)
        return float(stays.sum() + hops.sum())

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
    # Where a size is not known, no card has a limit.
    sizes = np.nan_to_num(data_unit_bytes(problem)[graph.pair_stream[mine]])
    paths = core.ApplicationPaths(offsets, receiver, np.array(along, dtype=np.intp), sources)
    return _Graph(first, len(numbers), sender, receiver, sizes, paths)
