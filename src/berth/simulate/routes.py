"""Who sends to whom over which links: the same numbers for a link as long as a simulation runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Situation
from berth.model import BadInput, Problem

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LOCAL = -1


@dataclass(frozen=True, eq=False)
class Outputs:
    """What every instance sends: output k of an instance is a stream with a range of receivers."""

    first: IntArray
    """Where each instance's outputs begin; one more number at the end."""
    stream: IntArray
    receiver: IntArray
    """The first receiver; the others follow."""
    count: IntArray
    to_all: NDArray[np.bool_]
    pair: IntArray
    """Where the routes of an output's receivers begin in the array of routes."""


def outputs_of(situation: Situation) -> Outputs:
    """The outputs of all instances, by sender and then by stream."""
    pairs, graph = situation.pairs, situation.graph
    order = np.lexsort((pairs.receiver, pairs.stream, pairs.sender))
    sender, stream, receiver = pairs.sender[order], pairs.stream[order], pairs.receiver[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(sender) != 0) | (np.diff(stream) != 0)
    starts = np.flatnonzero(new)
    to_all = np.array([item.grouping == "all" for item in graph.streams], dtype=bool)
    return Outputs(
        first=np.searchsorted(sender[starts], np.arange(len(graph) + 1)).astype(np.int64),
        stream=stream[starts].astype(np.int64),
        receiver=receiver[starts].astype(np.int64),
        count=np.diff(np.append(starts, len(order))).astype(np.int64),
        to_all=to_all[stream[starts]],
        pair=starts.astype(np.int64),
    )


@dataclass
class Routes:
    """Routes between nodes, each a row of hops; none is ever taken away: tuples on their way need them."""

    problem: Problem
    ends: dict[tuple[int, int], int] = field(default_factory=dict)
    """The number of the route between two nodes."""
    first: list[int] = field(default_factory=lambda: [0])
    hop_link: list[int] = field(default_factory=list)
    hop_delay: list[float] = field(default_factory=list)
    """In seconds, as the problem has it."""
    hop_route: list[int] = field(default_factory=list)
    links: dict[int, int] = field(default_factory=dict)
    """Physical links, as numbers u * nodes + v, in the order of their numbers here."""
    bandwidth: list[float] = field(default_factory=list)

    def between(self, situation: Situation, outputs: Outputs) -> IntArray:
        """The route of every pair of an output and a receiver; `LOCAL` on one node.

        Raises:
            BadInput: there is no link.
        """
        senders = np.repeat(np.arange(len(situation.graph)), np.diff(outputs.first))
        sender = situation.node_of[np.repeat(senders, outputs.count)]
        offset = np.arange(len(sender)) - np.repeat(outputs.pair, outputs.count)
        receiver = situation.node_of[np.repeat(outputs.receiver, outputs.count) + offset]
        size = len(self.problem.network.nodes)
        ways, group = np.unique(sender * size + receiver, return_inverse=True)
        numbers = [self._number(*divmod(way, size)) for way in ways.tolist()]
        return np.array(numbers, dtype=np.int64)[group] if numbers else np.zeros(0, dtype=np.int64)

    def _number(self, here: int, there: int) -> int:
        if here == there:
            return LOCAL
        if (here, there) not in self.ends:
            self._add(here, there)
        return self.ends[here, there]

    def _add(self, here: int, there: int) -> None:
        network, table = self.problem.network, self.problem.network.table
        if not table.connected[here, there]:
            names = network.nodes[here].name, network.nodes[there].name
            raise BadInput([f"network: no link from {names[0]} to {names[1]}, where the plan needs one"])
        route = len(self.ends)
        self.ends[here, there] = route
        for begin, end in self._hops(here, there):
            ways = np.array([begin], dtype=np.intp), np.array([end], dtype=np.intp)
            crossed = table.physical_hops(*ways)[1] if self._routed(begin, end) else None
            key = begin * len(network.nodes) + end if crossed is None else int(crossed[0])
            if key not in self.links:
                self.links[key] = len(self.links)
                field_ = table.physical_bandwidth
                ends = divmod(key, len(network.nodes))
                self.bandwidth.append(np.inf if crossed is None else float(field_[ends[0], ends[1]]))
            self.hop_link.append(self.links[key])
            self.hop_delay.append(float(table.delay_ms[begin, end]) / 1000.0)
            self.hop_route.append(route)
        self.first.append(len(self.hop_link))

    def _routed(self, here: int, there: int) -> bool:
        """Whether there are physical links between: not where only coordinates tell the delay."""
        hops = self.problem.network.table.next_hop
        return hops is None or bool(hops[here, there] >= 0)

    def _hops(self, here: int, there: int) -> list[tuple[int, int]]:
        """The physical links of a way; a part of a fastest path is a fastest path."""
        next_hop = self.problem.network.table.next_hop
        if next_hop is None or not self._routed(here, there):
            return [(here, there)]
        hops = []
        while here != there:
            hops.append((here, int(next_hop[here, there])))
            here = hops[-1][1]
        return hops
