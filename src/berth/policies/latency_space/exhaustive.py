"""The least network usage over measured delays, exactly (card 1.4).

Pinned units cut the graph. Over a forest of free units, least costs are summed up from the leaves: the cost
of a unit on each of its nodes is what its pinned neighbours and the best nodes of its children add. Streams
that close a circle, and capacities, are not in these sums; then they are bounds, and a search over all
plans keeps to what they allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.model import Network
from berth.policies.latency_space.forest import Forest, spanning_forest
from berth.policies.latency_space.graph import UnitGraph
from berth.policies.latency_space.search import search

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

MOST_PAIRS = 36_000_000
"""Pairs of nodes for two units that are compared at most: 6,000 nodes each."""
MOST_ENTRIES = 50_000_000
"""Costs of pairs of nodes that a search keeps at most: 400 MB."""
TIE = 1e-12
"""Costs that differ by less, relatively, are equal: sums of floats are not exact."""


class TooLargeError(Exception):
    """More nodes than can be compared; its text is the reason."""


@dataclass(frozen=True, eq=False)
class Least:
    """The best plan that was found."""

    nodes: IndexArray | None
    """The node of each unit; None: no plan holds the capacities and links."""
    bound: float
    """No plan has less usage, in bytes."""
    proved: bool
    steps: int
    """Steps of the search; 0 where the sums alone were enough."""


class LeastUsage:
    """Units on their nodes, and what their streams cost there."""

    def __init__(self, network: Network, graph: UnitGraph, hosting: IndexArray) -> None:
        self.graph = graph
        self.choices = [hosting if nodes is None else nodes for nodes in graph.allowed]
        self._delays = network.table.delay_ms
        self.forest: Forest = spanning_forest(graph)
        self._check_size()
        self._pinned = [self._pinned_cost(unit) for unit in range(len(graph))]

    def _check_size(self) -> None:
        parents = self.forest.parent
        for unit in range(len(self.graph)):
            others = len(self.choices[parents[unit]]) if parents[unit] >= 0 else 1
            if len(self.choices[unit]) * others > MOST_PAIRS:
                size = f"{len(self.choices[unit])} x {others}"
                raise TooLargeError(f"too large: {size} nodes to compare, at most {MOST_PAIRS}")

    def check_search(self) -> None:
        """Refuse a search whose costs don't fit into memory.

        Raises:
            TooLargeError: they don't.
        """
        free = np.flatnonzero(self.graph.fixed < 0).tolist()
        nodes = len(np.unique(np.concatenate([self.choices[unit] for unit in free]))) if free else 0
        tables = len(free) + len(self.forest.closing)
        if tables * nodes**2 > MOST_ENTRIES:
            size = f"{len(free)} unpinned operators on {nodes} nodes"
            raise TooLargeError(f"too large to search: {size}, and trees alone don't solve it")

    def between(self, at: int, here: IndexArray, there: IndexArray) -> FloatArray:
        """What the streams of one entry of the graph cost from some nodes to some others [here, there]."""
        graph = self.graph
        cost = np.zeros((len(here), len(there)))
        rows, columns = here[:, None], there[None, :]
        if graph.sends[at]:
            delay = self._delays[rows, columns]
            cost += np.where(np.isnan(delay), np.inf, graph.forward[at] * np.nan_to_num(delay))
        if graph.receives[at]:
            delay = self._delays[columns, rows]
            cost += np.where(np.isnan(delay), np.inf, graph.backward[at] * np.nan_to_num(delay))
        return cost

    def _pinned_cost(self, unit: int) -> FloatArray:
        """What the streams with pinned neighbours cost on each of a unit's nodes."""
        graph = self.graph
        cost = np.zeros(len(self.choices[unit]))
        for at in range(graph.offsets[unit], graph.offsets[unit + 1]):
            node = graph.fixed[graph.neighbours[at]]
            # Between two pinned ones the first counts it.
            if node >= 0 and (graph.fixed[unit] < 0 or graph.neighbours[at] > unit):
                cost += self.between(at, self.choices[unit], np.array([node]))[:, 0]
        return cost

    def tables(self, chosen: IndexArray | None = None) -> list[FloatArray]:
        """For each unit and each of its nodes the least cost of it and all below it in the forest.

        `chosen` has positions among the choices of units that are settled already; -1: open.
        """
        tables = [cost.copy() for cost in self._pinned]
        if chosen is not None:
            for unit in np.flatnonzero(chosen >= 0).tolist():
                keep = tables[unit][chosen[unit]]
                tables[unit][:] = np.inf
                tables[unit][chosen[unit]] = keep
        for unit in reversed(self.forest.order.tolist()):
            parent = int(self.forest.parent[unit])
            if parent >= 0:
                cost = self.between(self.forest.entry[unit], self.choices[unit], self.choices[parent])
                tables[parent] += (tables[unit][:, None] + cost).min(axis=0)
        return tables

    def total(self, tables: list[FloatArray]) -> float:
        """The least cost of everything by the sums of the forest."""
        roots = np.flatnonzero(self.forest.parent < 0).tolist()
        return float(sum(tables[unit].min(initial=np.inf) for unit in roots))

    def choose(self, tables: list[FloatArray]) -> IndexArray:
        """The first of the best plans by the sums, as positions among the units' choices."""
        chosen = np.full(len(self.graph), -1, dtype=np.intp)
        tied = np.zeros(len(self.graph), dtype=bool)
        for unit in self.forest.order.tolist():
            parent = int(self.forest.parent[unit])
            cost = tables[unit]
            if parent >= 0:
                node = self.choices[parent][chosen[parent] : chosen[parent] + 1]
                cost = cost + self.between(self.forest.entry[unit], self.choices[unit], node)[:, 0]
            best = cost.min()
            chosen[unit] = np.flatnonzero(cost <= best * (1.0 + TIE))[0]
            tied[unit] = (cost <= best * (1.0 + TIE)).sum() > 1
        return self._first_of_ties(chosen) if tied.any() else chosen

    def _first_of_ties(self, chosen: IndexArray) -> IndexArray:
        """Of all best plans the first one: each unit in turn on the first node that keeps the optimum."""
        least = self.total(self.tables())
        settled = np.full(len(chosen), -1, dtype=np.intp)
        for unit in range(len(chosen)):
            if len(self.choices[unit]) == 1:
                settled[unit] = 0
                continue
            for position in range(int(chosen[unit]) + 1):
                settled[unit] = position
                if self.total(self.tables(settled)) <= least * (1.0 + TIE):
                    break
        return settled


def least_usage(
    problem: LeastUsage, demand: FloatArray, room: FloatArray, most_steps: int, budget: Budget
) -> Least:
    """The plan of least usage that holds capacities; ties by the first nodes of the first units.

    Raises:
        TooLargeError: a search is needed that doesn't fit into memory.
    """
    tables = problem.tables()
    bound = problem.total(tables)
    if not np.isfinite(bound):
        return Least(None, bound, True, 0)
    if problem.forest.complete:
        nodes = _nodes(problem, problem.choose(tables))
        if _fits(nodes, demand, room):
            return Least(nodes, bound / 1000.0, True, 0)
    problem.check_search()
    found = search(problem, tables, demand, room, most_steps, budget)
    if found.chosen is None:
        return Least(None, bound / 1000.0, found.ended, found.steps)
    nodes = _nodes(problem, found.chosen)
    return Least(nodes, (found.cost if found.ended else bound) / 1000.0, found.ended, found.steps)


def _nodes(problem: LeastUsage, chosen: IndexArray) -> IndexArray:
    pairs = zip(problem.choices, chosen.tolist(), strict=True)
    return np.array([nodes[position] for nodes, position in pairs], dtype=np.intp)


def _fits(nodes: IndexArray, demand: FloatArray, room: FloatArray) -> bool:
    left = room.copy()
    np.subtract.at(left, nodes, demand)
    return bool((left >= 0).all())
