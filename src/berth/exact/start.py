"""A first plan, at once: every block on the node that adds least to the goal and still has room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.goal import Goal
from berth.evaluation.limits import TOLERANCE, Room
from berth.evaluation.metrics import METRIC_BY_NAME, AdditiveMetric
from berth.exact.costs import finite
from berth.exact.packing import ApplicationPacking
from berth.exact.paths import PathTimes
from berth.exact.placement import Placement

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

SLACK = 1.0 + TOLERANCE / 2.0
"""Half of the judge's tolerance: sums in another order are not quite the same, and must not be above it."""


def first_plan(placement: Placement, goal: Goal, times: PathTimes | None = None) -> IndexArray | None:
    """The node of each block, by one greedy pass; None where it gets stuck.

    Holds capacities, processors, links and rules, not bandwidth nor requirements: judge it before use.
    With path times, it looks ahead: what is left of a path counts at its least.
    """
    return Greedy(placement, goal, times).run()


class Greedy:
    """One pass over the blocks."""

    def __init__(self, placement: Placement, goal: Goal, times: PathTimes | None) -> None:
        self._placement = placement
        self._goal = goal
        self._times = times
        self._finish: dict[int, float] = {}
        self._node = np.full(len(placement.blocks), -1, dtype=np.intp)
        self._room = Room(placement.setting)
        self._used = np.zeros(len(placement.network.nodes), dtype=bool)
        self._pairs = _pairs_of_blocks(placement)

    def run(self) -> IndexArray | None:
        """The node of each block; None where it gets stuck."""
        for block in self._order():
            nodes = self._placement.candidates[block]
            nodes = nodes[self._fits(block, nodes)]
            if len(nodes) == 0:
                return None
            self._put(block, int(nodes[np.argmin(self._added(block, nodes))]))
        return self._node

    def _order(self) -> list[int]:
        """Blocks without a choice first, then along the streams."""
        graph, placement = self._placement.graph, self._placement
        along = [placement.block_of[k] for o in graph.operator_order for k in graph.operators[o].instances]
        unique = list(dict.fromkeys(int(block) for block in along))
        return sorted(unique, key=lambda block: len(placement.candidates[block]) > 1)

    def _fits(self, block: int, nodes: IndexArray) -> NDArray[np.bool_]:
        fits = self._room.fits(self._placement.blocks[block], nodes)
        connected = self._placement.network.table.connected
        for other, sends, _ in self._pairs[block]:
            there = self._node[other]
            if there >= 0:
                fits &= connected[nodes, there] if sends else connected[there, nodes]
        return np.asarray(fits)

    def _put(self, block: int, node: int) -> None:
        self._node[block] = node
        self._used[node] = True
        if self._times is not None:
            here = np.array([node])
            for number in self._placement.blocks[block]:
                self._finish[number] = float(self._arrival(number, here)[0] + self._own(number, here)[0])
        self._room.take(self._placement.blocks[block], node)

    def _added(self, block: int, nodes: IndexArray) -> FloatArray:
        """What the block would add to the goal on each node, given what is placed already."""
        added = np.zeros(len(nodes))
        for name in self._goal.weights:
            metric, factor = METRIC_BY_NAME[name], self._goal.coefficient(name)
            if isinstance(metric, AdditiveMetric):
                added += factor * self._sum(metric, block, nodes)
            elif name in ("response_time", "loaded_response_time"):
                added += factor * self._time(block, nodes)
        return added

    def _sum(self, metric: AdditiveMetric, block: int, nodes: IndexArray) -> FloatArray:
        placement, network = self._placement, self._placement.network
        total = np.zeros(len(nodes))
        if metric.per_instance is not None:
            for number in placement.blocks[block]:
                total += finite(metric.per_instance(placement.setting, np.full(len(nodes), number), nodes))
        if metric.per_node is not None:
            total += np.where(self._used[nodes], 0.0, metric.per_node(network)[nodes])
        for other, sends, rate in self._pairs[block]:
            if self._node[other] < 0:
                continue
            there = np.full(len(nodes), self._node[other])
            ends = (nodes, there) if sends else (there, nodes)
            if metric.per_flow is not None:
                total += finite(rate * metric.per_flow(network, *ends))
            if metric.per_pair is not None:
                total += finite(metric.per_pair(network, *ends))
        return total

    def _time(self, block: int, nodes: IndexArray) -> FloatArray:
        if self._times is not None:
            position = np.searchsorted(self._placement.candidates[block], nodes)
            ends = [
                self._arrival(number, nodes) + self._times.tail[number][position]
                for number in self._placement.blocks[block]
            ]
            return np.asarray(np.max(ends, axis=0))
        graph, network = self._placement.graph, self._placement.network
        total = graph.work_ms[self._placement.blocks[block]].sum() / network.speed[nodes]
        for other, sends, _ in self._pairs[block]:
            there = self._node[other]
            if there >= 0:
                delays = (
                    network.table.delay_ms[nodes, there] if sends else network.table.delay_ms[there, nodes]
                )
                total = total + np.nan_to_num(delays)
        return np.asarray(total)

    def _own(self, number: int, nodes: IndexArray) -> FloatArray:
        return np.asarray(self._placement.graph.work_ms[number] / self._placement.network.speed[nodes])

    def _arrival(self, number: int, nodes: IndexArray) -> FloatArray:
        """When an instance on each of some nodes has its inputs, as far as these are placed."""
        assert self._times is not None
        graph, delays = self._placement.graph, self._placement.network.table.delay_ms
        latest = np.zeros(len(nodes))
        for pair in self._times.incoming[number]:
            sender = int(graph.pair_sender[pair])
            if sender in self._finish:
                there = self._node[self._placement.block_of[sender]]
                latest = np.maximum(latest, self._finish[sender] + np.nan_to_num(delays[there, nodes]))
        return latest


def _pairs_of_blocks(placement: Placement) -> list[list[tuple[int, bool, float]]]:
    """For each block: the other block, whether this one sends, and the rate, for every pair."""
    lists: list[list[tuple[int, bool, float]]] = [[] for _ in placement.blocks]
    graph = placement.graph
    senders = placement.block_of[graph.pair_sender].tolist()
    receivers = placement.block_of[graph.pair_receiver].tolist()
    for sender, receiver, rate in zip(senders, receivers, placement.rate.tolist(), strict=True):
        if sender != receiver:
            lists[sender].append((receiver, True, rate))
            lists[receiver].append((sender, False, rate))
    return lists


def first_packed_plan(placement: Placement, goal: Goal, times: PathTimes | None = None) -> IndexArray | None:
    """The node of each block and the container of each instance, by one greedy pass; None if it is stuck."""
    greedy = _PackedGreedy(placement, goal, times)
    nodes = greedy.run()
    return None if nodes is None else np.concatenate([nodes, *(part.bins() for part in greedy.open.values())])


@dataclass(eq=False)
class _Open:
    """The containers of an application that are in use: where, and what is left of them."""

    packing: ApplicationPacking

    def __post_init__(self) -> None:
        self.node: list[int] = []
        self.left: list[FloatArray] = []
        self.container: dict[int, int] = {}

    def bins(self) -> IndexArray:
        """The container of every item, numbered by their first items."""
        found = [self.container[item] for item in range(len(self.packing.demand))]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(found))}
        return np.array([numbers[name] for name in found], dtype=np.intp)


class _PackedGreedy(Greedy):
    """Opens a container on a node only where none of those there has room."""

    def __init__(self, placement: Placement, goal: Goal, times: PathTimes | None) -> None:
        super().__init__(placement, goal, times)
        self.open = {packing.application: _Open(packing) for packing in placement.packings}
        self._free = {
            name: placement.setting.capacity(name) * SLACK
            for packing in placement.packings
            for name in packing.resources
        }
        self._of_block: dict[int, tuple[_Open, list[int]]] = {}
        for part in self.open.values():
            for item, block in enumerate(placement.block_of[part.packing.instances].tolist()):
                self._of_block.setdefault(block, (part, []))[1].append(item)

    def _fits(self, block: int, nodes: IndexArray) -> NDArray[np.bool_]:
        fits = super()._fits(block, nodes)
        if block not in self._of_block:
            for name, demand in self._placement.block_demand.items():
                if name in self._free:
                    fits &= demand[block] <= self._free[name][nodes]
            return fits
        for position in np.flatnonzero(fits).tolist():
            fits[position] = self._packed(block, int(nodes[position])) is not None
        return fits

    def _packed(self, block: int, node: int) -> list[tuple[int, int]] | None:
        """Containers for the block's items on a node, as (item, container); None where there is no room.

        Containers beyond those in use are new ones.
        """
        part, items = self._of_block[block]
        packing = part.packing
        here = [number for number, there in enumerate(part.node) if there == node]
        left = {number: part.left[number].copy() for number in here}
        free = {name: self._free[name][node] for name in packing.resources}
        chosen = []
        for item in items:
            demand = packing.demand[item]
            number = next((number for number in left if (demand <= left[number]).all()), None)
            if number is None:
                number = len(part.node) + len(left) - len(here)
                for name, size in zip(packing.resources, packing.size.tolist(), strict=True):
                    free[name] -= size
                full = min(free.values(), default=0.0) < 0 or bool((demand > packing.size * SLACK).any())
                if full or number >= packing.count:
                    return None
                left[number] = packing.size * SLACK
            left[number] = left[number] - demand
            chosen.append((item, number))
        return chosen

    def _put(self, block: int, node: int) -> None:
        super()._put(block, node)
        if block not in self._of_block:
            for name, demand in self._placement.block_demand.items():
                if name in self._free:
                    self._free[name][node] -= demand[block]
            return
        part = self._of_block[block][0]
        packing = part.packing
        for item, number in self._packed(block, node) or ():
            if number == len(part.node):
                part.node.append(node)
                part.left.append(packing.size * SLACK)
                for name, size in zip(packing.resources, packing.size.tolist(), strict=True):
                    self._free[name][node] -= size
            part.left[number] = part.left[number] - packing.demand[item]
            part.container[item] = number
