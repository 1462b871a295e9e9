"""Refinement after the mapping: near nodes are tried by measured delays, each probe a message.

What was measured for earlier plans is remembered: estimates for the next one, to be confirmed before use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from berth.core import space as core
from berth.model import Network, Plan
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.latency_space.adaptation import is_number
from berth.policies.latency_space.hosts import Hosts
from berth.policies.latency_space.mapping import PairMoves

LOOKED_AT = 32
"""As many of the nearest nodes are compared by their coordinates; the best of them are probed."""
LOOKED_AT_IN_POOR_SPACES = 64
"""The same where links are missing, so that many nodes can't be used, or where coordinates say little."""
POOR = 0.4
"""Doubt from which coordinates say little."""
LOOKED_AT_BY_COORDINATES = 12
"""The same where delays come from coordinates: these don't err, so the best node is a near one."""
DOUBT_PER_ERROR, LEAST_DOUBT, MOST_DOUBT = 3.0, 0.2, 0.8
"""Doubt in estimates by the coordinates' median relative error; PlanetLab has 0.07, and 0.2 is best there."""
LOGGED = 512
"""Pairs of a part whose measured delays are remembered."""
MOST_REMEMBERED = 1000
"""As many pairs are remembered, the latest ones."""
PART = 24
"""As many units are refined at once; what is beyond waits where it is."""


class Memory:
    """Measured delays between pairs of nodes."""

    def __init__(self, network: Network, previous: Plan | None) -> None:
        self._network = network
        self._pairs: dict[tuple[int, int], float] = {}
        if previous is not None:
            self._recall(previous.trace)

    def _recall(self, trace: Mapping[str, Any]) -> None:
        """Take what a trace has; nothing that is not as this module writes it, and no node that is gone."""
        measured, index = trace.get("measured"), self._network.index
        for entry in measured if isinstance(measured, list) else []:
            if not (isinstance(entry, list) and len(entry) == 3 and is_number(entry[2]) and entry[2] >= 0):
                continue
            ends = [index.get(name) if isinstance(name, str) else None for name in entry[:2]]
            if ends[0] is not None and ends[1] is not None:
                self._pairs[min(ends[0], ends[1]), max(ends[0], ends[1])] = float(entry[2])

    def among(self, nodes: IndexArray) -> FloatArray:
        """What is remembered between some nodes (ascending), NaN elsewhere; empty if that is nothing."""
        if not self._pairs:
            return np.zeros((0, 0))
        place = {node: k for k, node in enumerate(nodes.tolist())}
        found = [
            (place[one], place[other], delay)
            for (one, other), delay in self._pairs.items()
            if one in place and other in place
        ]
        delays = np.full((len(nodes), len(nodes)), np.nan)
        for one, other, delay in found:
            delays[one, other] = delays[other, one] = delay
        return delays

    def add(self, pairs: IndexArray) -> None:
        """Remember pairs of nodes that were measured, the mean of both ways; those without a link aren't."""
        delays = self._network.table.delay_ms
        here, there = pairs[:, 0], pairs[:, 1]
        ways = delays[here, there], delays[there, here]
        both = (np.fmin(*ways) + np.fmax(*ways)) / 2.0
        ends = np.sort(pairs, axis=1).tolist()
        for (one, other), delay in zip(ends, both.tolist(), strict=True):
            if math.isfinite(delay):
                self._pairs.pop((one, other), None)
                self._pairs[one, other] = delay

    def as_trace(self) -> list[list[Any]]:
        """The pairs by name, for the trace."""
        nodes = self._network.nodes
        latest = list(self._pairs.items())[-MOST_REMEMBERED:]
        return [[nodes[one].name, nodes[other].name, round(delay, 6)] for (one, other), delay in latest]


@dataclass(eq=False)
class Refinement:
    """Units that look for better nodes, and what that takes."""

    hosts: Hosts
    """Where units are; changed."""
    positions: FloatArray
    """The units' virtual places."""
    running: IndexArray
    """The units' nodes at present, -1 where they don't run yet; delays of streams that run are known."""
    memory: Memory
    """What was measured before: estimates that are better than distances."""
    most_nodes: int
    """Nodes to probe in a try."""
    most_tries: int
    squared: bool = False
    """Usage by squared delays."""
    probes: int = 0
    moves: int = 0
    """Of instances."""

    def __post_init__(self) -> None:
        self.graph, self.space = self.hosts.graph, self.hosts.space
        self._delays, self._residuals = self.space.table.delay_ms, self.space.residuals

    def run(self, first: IndexArray) -> None:
        """Move units to nodes where the measured usage of their streams is lower; `first` ones try first."""
        if len(first) == 0:
            return
        wanted = np.zeros(len(self.graph), dtype=bool)
        wanted[first] = True
        for part in self._parts():
            starting = part[wanted[part]]
            if len(starting):
                self._refine(part, starting)

    def _parts(self) -> Iterator[IndexArray]:
        """The units with a choice in parts of bounded size, neighbours in one part where possible."""
        graph = self.graph
        units = np.flatnonzero(graph.fixed < 0)
        if len(units) <= PART:
            yield units
            return
        left = graph.fixed < 0
        part: list[int] = []
        for start in units.tolist():
            waiting = [start]
            while waiting:
                unit = waiting.pop(0)
                if not left[unit]:
                    continue
                left[unit] = False
                part.append(unit)
                if len(part) == PART:
                    yield np.array(sorted(part), dtype=np.intp)
                    part = []
                waiting += graph.neighbours[graph.entries(unit)].tolist()
        if part:
            yield np.array(sorted(part), dtype=np.intp)

    def _refine(self, units: IndexArray, first: IndexArray) -> None:
        graph, hosts, running = self.graph, self.hosts, self.running
        inside = np.zeros(len(graph), dtype=bool)
        inside[units] = True
        mine = inside[graph.owner]
        neighbours = graph.neighbours[mine]
        near = self._near(units, self._count())
        if hosts.delays is not None:
            pairs = PairMoves(hosts, self._residuals, self.squared)
            first = pairs.run(units, near, first)
        wanted = np.concatenate([near.ravel(), hosts.node[units], hosts.node[neighbours], running[units]])
        nodes = np.unique(wanted[wanted >= 0])
        host = np.searchsorted(nodes, hosts.node)
        tried = np.full((len(graph), near.shape[1] + 1), -1, dtype=np.intp)
        tried[units, :-1] = np.where(near >= 0, np.searchsorted(nodes, near), -1)
        tried[units, -1] = np.where(running[units] >= 0, np.searchsorted(nodes, running[units]), -1)
        known = self._known(nodes, running[self.graph.owner[mine]], running[neighbours])
        rows, delays = self._delays_among(nodes)
        if hosts.delays is not None:
            # Who can't exchange streams at all is known without a probe.
            there = delays[rows[:, None], rows[None, :]]
            known |= np.isnan(there) | np.isnan(there.T)
        doubt = self._doubt()
        moved, probed = core.refine(
            graph.streams,
            hosts.room,
            numbers=nodes,
            positions=self.space.coordinates.positions[nodes],
            extra=self._residuals[nodes],
            delays=delays,
            delay_rows=rows,
            remembered=self.memory.among(nodes),
            known=known,
            movable=inside,
            host=host,
            near=tried,
            may_host=self._may_host(nodes, units),
            first=first,
            # the less coordinates say, the more nodes must be probed to find a good one
            most_nodes=round(self.most_nodes * doubt / LEAST_DOUBT),
            most_tries=self.most_tries,
            doubt=doubt,
            squared=self.squared,
        )
        hosts.node[units] = nodes[host[units]]
        self.moves += int(np.bincount(graph.unit_of)[moved].sum())
        self.probes += len(probed) // 2
        self.memory.add(probed.reshape(-1, 2)[:LOGGED])

    def _delays_among(self, nodes: IndexArray) -> tuple[IndexArray, FloatArray]:
        """A matrix of delays, and the numbers that nodes have in it."""
        if isinstance(self._delays, np.ndarray):
            return nodes, np.ascontiguousarray(self._delays)
        return np.arange(len(nodes)), np.ascontiguousarray(self._delays[nodes[:, None], nodes[None, :]])

    def _doubt(self) -> float:
        """How far estimates may be off: the worse the coordinates, the more nodes are worth a probe."""
        errors = self.space.coordinates.errors
        relative = (
            0.0 if errors is None or not np.isfinite(errors.relative_median) else errors.relative_median
        )
        return min(max(DOUBT_PER_ERROR * relative, LEAST_DOUBT), MOST_DOUBT)

    def _count(self) -> int:
        """How many of the nearest nodes to compare."""
        exact = not self.space.computed and not isinstance(self._delays, np.ndarray)
        if exact:
            return LOOKED_AT_BY_COORDINATES
        poor = self._doubt() >= POOR or self.hosts.delays is not None
        return LOOKED_AT_IN_POOR_SPACES if poor else LOOKED_AT

    def _near(self, units: IndexArray, count: int) -> IndexArray:
        """The nearest nodes to each place that take the unit once all these have left; -1 behind the last."""
        hosts = self.hosts
        present = hosts.node[units].tolist()
        for unit, node in zip(units.tolist(), present, strict=True):
            hosts.room.take(unit, node)
        near = hosts.near(units, self.positions[units], count)
        for unit, node in zip(units.tolist(), present, strict=True):
            hosts.room.put(unit, node)
        return near

    def _known(self, nodes: IndexArray, here: IndexArray, there: IndexArray) -> BoolArray:
        """Which delays among the nodes are known, because streams run between some of them."""
        known = np.eye(len(nodes), dtype=bool)
        spots = np.searchsorted(nodes, here), np.minimum(np.searchsorted(nodes, there), len(nodes) - 1)
        seen = (here >= 0) & (nodes[spots[1]] == there)
        known[spots[0][seen], spots[1][seen]] = True
        known[spots[1][seen], spots[0][seen]] = True
        return known

    def _may_host(self, nodes: IndexArray, units: IndexArray) -> BoolArray:
        """Whether each unit may be on each of the nodes, whatever their room."""
        may = np.zeros((len(self.graph), len(nodes)), dtype=bool)
        may[units] = self.space.hosts[nodes]
        for unit in units.tolist():
            allowed = self.graph.allowed[unit]
            if allowed is not None:
                may[unit] &= np.isin(nodes, allowed)
        return may
