"""Time along paths for the exact model: how long each choice takes, and bounds before anything is placed.

`head` is a lower bound on when a data unit reaches an instance that sits on a given candidate, `tail` on
how long it takes from there, the instance's own time included, to the end. Both ignore capacities only.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.evaluation.situation import data_unit_bytes
from berth.exact.placement import LARGEST_GRID, Placement
from berth.model.pair_fields import PairField

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


class PathTimes:
    """Processing and transfer times over a placement, plain or under paper 002's load model."""

    def __init__(self, placement: Placement, loaded: bool = False) -> None:
        self.placement = placement
        self.loaded = loaded
        self._schedule = placement.graph.path_schedule
        self._bytes = data_unit_bytes(placement.setting.problem) if loaded else None

    def free(self, instance: int) -> bool:
        """Whether an instance's own time doesn't count: the ends of paths in the load model."""
        schedule = self._schedule
        return self.loaded and not (schedule.has_input[instance] and schedule.has_output[instance])

    def processing(self, instance: int) -> FloatArray:
        """An instance's time on each of its candidates, with the processor to itself."""
        network = self.placement.network
        nodes = self.nodes(instance)
        if self.free(instance):
            return np.zeros(len(nodes))
        time = self.placement.graph.work_ms[instance] / network.speed[nodes]
        queue = np.maximum(1.0, network.run_queue[nodes] + 1.0) if self.loaded else 1.0
        return np.asarray(time * queue)

    def nodes(self, instance: int) -> IndexArray:
        """The candidates of an instance."""
        return self.placement.candidates[int(self.placement.block_of[instance])]

    def transfer(self, pair: int) -> FloatArray:
        """A pair's time for each combination of candidates; infinite where there is no link."""
        placement, graph = self.placement, self.placement.graph
        blocks = (
            int(placement.block_of[graph.pair_sender[pair]]),
            int(placement.block_of[graph.pair_receiver[pair]]),
        )
        here, there = placement.grid(*blocks)
        if blocks[0] == blocks[1]:
            return np.where(here == there, 0.0, np.inf)
        key = id(placement.candidates[blocks[0]]), id(placement.candidates[blocks[1]])
        if key not in self._delays:
            delay = placement.network.table.delay_ms[here, there]
            self._delays[key] = np.where(np.isnan(delay), np.inf, delay)
        delay = self._delays[key]
        if self._bytes is None:
            return delay
        card = placement.network.nic_bytes_per_s[here]
        size = self._bytes[graph.pair_stream[pair]]
        with np.errstate(invalid="ignore", divide="ignore"):
            wire = np.where((here == there) | np.isinf(card), 0.0, 1000.0 * size / card)
        return delay + wire

    @cached_property
    def _delays(self) -> dict[tuple[int, int], FloatArray]:
        return {}

    @cached_property
    def order(self) -> list[int]:
        """Instances, senders before receivers."""
        graph = self.placement.graph
        return [number for operator in graph.operator_order for number in graph.operators[operator].instances]

    @cached_property
    def incoming(self) -> list[list[int]]:
        """The pairs that end at each instance."""
        return _by(self.placement.graph.pair_receiver, len(self.placement.graph))

    @cached_property
    def outgoing(self) -> list[list[int]]:
        """The pairs that start at each instance."""
        return _by(self.placement.graph.pair_sender, len(self.placement.graph))

    @cached_property
    def head(self) -> list[FloatArray]:
        """Earliest arrival at each instance on each of its candidates."""
        graph = self.placement.graph
        heads: list[FloatArray] = [np.zeros(0)] * len(graph)
        for number in self.order:
            earliest = np.zeros(len(self.nodes(number)))
            for pair in self.incoming[number]:
                sender = graph.pair_sender[pair]
                leaving = heads[sender] + self.processing(sender)
                arriving = (leaving[:, None] + self.transfer(pair)).min(axis=0, initial=np.inf)
                earliest = np.maximum(earliest, arriving)
            heads[number] = earliest
        return heads

    @cached_property
    def tail(self) -> list[FloatArray]:
        """Least time from each instance on each of its candidates to the end of its longest path."""
        graph = self.placement.graph
        tails: list[FloatArray] = [np.zeros(0)] * len(graph)
        for number in reversed(self.order):
            onward = np.zeros(len(self.nodes(number)))
            for pair in self.outgoing[number]:
                receiver = graph.pair_receiver[pair]
                time = (self.transfer(pair) + tails[receiver][None, :]).min(axis=1, initial=np.inf)
                onward = np.maximum(onward, time)
            tails[number] = self.processing(number) + onward
        return tails

    def least(self, instances: list[int]) -> float:
        """A lower bound on the worst path over some instances; infinite if no candidates are linked."""
        return max((float((self.head[k] + self.tail[k]).min(initial=np.inf)) for k in instances), default=0.0)

    def within(self, most: float) -> list[NDArray[np.bool_]]:
        """For each block, its candidates through which a plan of at most this response time can go."""
        keep = []
        for numbers in self.placement.blocks:
            fits = np.ones(len(self.nodes(numbers[0])), dtype=bool)
            for number in numbers:
                fits &= self.head[number] + self.tail[number] <= most * (1 + 1e-9)
            keep.append(fits)
        return keep

    @cached_property
    def horizon(self) -> float:
        """The longest path with the worst node and the worst link on every hop (card 1.9)."""
        return float(self._latest.max(initial=0.0))

    @property
    def horizons_added(self) -> float:
        """The same of every application, added up."""
        latest = np.zeros(len(self.placement.setting.problem.applications))
        np.maximum.at(latest, self.placement.graph.application_of, self._latest)
        return float(latest.sum())

    @cached_property
    def _latest(self) -> FloatArray:
        """By instance, when it is done at the worst."""
        graph = self.placement.graph
        latest = np.zeros(len(graph))
        crowd = float(len(graph)) if self.loaded else 1.0
        for number in self.order:
            own = self.processing(number)
            if self.loaded and not self.free(number):
                nodes = self.nodes(number)
                queue = self.placement.network.run_queue[nodes]
                own = own * (queue + crowd) / np.maximum(1.0, queue + 1.0)
            arrival = 0.0
            for pair in self.incoming[number]:
                arrival = max(arrival, latest[graph.pair_sender[pair]] + self._worst_transfer(pair))
            latest[number] = arrival + float(own.max(initial=0.0))
        return latest

    def _worst_transfer(self, pair: int) -> float:
        """A pair's time over the worst link; a bound on it where there are too many to look at."""
        graph, network = self.placement.graph, self.placement.network
        senders, receivers = (self.nodes(ends[pair]) for ends in (graph.pair_sender, graph.pair_receiver))
        delay = network.table.delay_ms
        if isinstance(delay, PairField) and len(senders) * len(receivers) > LARGEST_GRID:
            slowest = float(network.nic_bytes_per_s[senders].min())
            size = 0.0 if self._bytes is None else float(self._bytes[graph.pair_stream[pair]])
            return delay.most + (1000.0 * size / slowest if size else 0.0)
        transfer = self.transfer(pair)
        return float(transfer[np.isfinite(transfer)].max(initial=0.0))


def _by(ends: IndexArray, count: int) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(count)]
    for position, end in enumerate(ends.tolist()):
        lists[end].append(position)
    return lists
