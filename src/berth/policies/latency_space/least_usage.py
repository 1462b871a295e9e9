"""The least network usage over measured delays, exactly (card 1.4).

Pinned units cut the graph. Over a forest of free units, least costs are summed up from the leaves: the cost
of a unit on each of its nodes is what its pinned neighbours and the best nodes of its children add. Streams
that close a circle, and capacities, are not in these sums; then they are bounds, and a search over all
plans keeps to what they allow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from berth.budget import Budget
from berth.core import space as core
from berth.model import Network
from berth.model.arrays import FloatArray, IndexArray
from berth.policies.latency_space.hosts import UnitLimits
from berth.policies.latency_space.units import UnitGraph

MOST_PAIRS = 36_000_000
"""Pairs of nodes for two units that are compared at most: 6,000 nodes each."""
MOST_ENTRIES = 50_000_000
"""Costs of pairs of nodes that a search keeps at most: 400 MB."""
TIE = 1e-12
"""Costs that differ by less, relatively, are equal: sums of floats are not exact."""
STEPS_AT_ONCE = 50_000
"""After so many steps, a small part of a second, the search looks at the time."""


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


@dataclass(frozen=True, eq=False)
class Forest:
    """Units as trees; pinned ones are trees of their own."""

    parent: IndexArray
    """-1 for a root."""
    entry: IndexArray
    """The entry of the graph for the streams between a unit and its parent, the unit's own; -1 for a root."""
    order: IndexArray
    """Parents before children."""
    closing: IndexArray
    """Entries of streams that would close a circle, each once, those of the later unit in the order.

    None: all streams between free units are in the forest.
    """


def spanning_forest(graph: UnitGraph) -> Forest:
    """A forest with the streams of the highest rates, so that what it leaves out matters least."""
    size = len(graph)
    owner = graph.owner
    free = graph.fixed < 0
    inner = np.flatnonzero(free[owner] & free[graph.neighbours] & (owner < graph.neighbours))
    inner = inner[np.argsort(-graph.weights[inner], kind="stable")]
    tree: list[list[int]] = [[] for _ in range(size)]
    label = np.arange(size)
    for at in inner.tolist():
        one, other = int(owner[at]), int(graph.neighbours[at])
        if label[one] != label[other]:
            label[label == label[other]] = label[one]
            tree[one].append(other)
            tree[other].append(one)
    parent, entry = np.full(size, -1, dtype=np.intp), np.full(size, -1, dtype=np.intp)
    order: list[int] = []
    reached = np.zeros(size, dtype=bool)
    for root in range(size):
        waiting = [] if reached[root] else [root]
        reached[root] = True
        while waiting:
            unit = waiting.pop()
            order.append(unit)
            for other in sorted(tree[unit], reverse=True):
                if not reached[other]:
                    reached[other] = True
                    parent[other], entry[other] = unit, entry_of(graph, other, unit)
                    waiting.append(other)
    return Forest(parent, entry, np.array(order, dtype=np.intp), _closing(graph, parent, order))


def _closing(graph: UnitGraph, parent: IndexArray, order: list[int]) -> IndexArray:
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    owner = graph.owner
    free = graph.fixed < 0
    inner = free[owner] & free[graph.neighbours] & (rank[owner] > rank[graph.neighbours])
    return np.flatnonzero(inner & (parent[owner] != graph.neighbours))


def entry_of(graph: UnitGraph, unit: int, neighbour: int) -> int:
    """The entry of the graph for the streams from a unit to its neighbour."""
    start, stop = graph.offsets[unit], graph.offsets[unit + 1]
    return int(start + np.searchsorted(graph.neighbours[start:stop], neighbour))


class LeastUsage:
    """Units on their nodes, and what their streams cost there."""

    def __init__(self, network: Network, graph: UnitGraph) -> None:
        self.graph = graph
        self.choices = [network.hosting if nodes is None else nodes for nodes in graph.allowed]
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


def least_usage(problem: LeastUsage, limits: UnitLimits, most_steps: int, budget: Budget) -> Least:
    """The plan of least usage that holds capacities; ties by the first nodes of the first units.

    Raises:
        TooLargeError: a search is needed that doesn't fit into memory.
    """
    tables = problem.tables()
    bound = problem.total(tables)
    if not np.isfinite(bound):
        return Least(None, bound, True, 0)
    if len(problem.forest.closing) == 0:
        pairs = zip(problem.choices, problem.choose(tables).tolist(), strict=True)
        nodes = np.array([choices[position] for choices, position in pairs], dtype=np.intp)
        room = limits.room()
        for unit, node in enumerate(nodes.tolist()):
            room.put(unit, node)
        if not any(room.overfull(node) for node in np.unique(nodes).tolist()):
            return Least(nodes, bound / 1000.0, True, 0)
    problem.check_search()
    return _search(problem, tables, limits, most_steps, budget)


def _search(
    problem: LeastUsage, tables: list[FloatArray], limits: UnitLimits, most_steps: int, budget: Budget
) -> Least:
    """The first of the best plans that hold all limits, in so many steps and within the budget."""
    graph, forest = problem.graph, problem.forest
    room = limits.room()
    pinned = np.flatnonzero(graph.fixed >= 0)
    for unit in pinned.tolist():
        room.put(unit, int(graph.fixed[unit]))
    base = float(sum(tables[unit][0] for unit in pinned.tolist()))
    units = forest.order[graph.fixed[forest.order] < 0]
    if len(units) == 0:
        return Least(graph.fixed, base / 1000.0, True, 0)
    nodes = np.unique(np.concatenate([problem.choices[unit] for unit in units.tolist()]))
    search = _plan_search(problem, tables, units, nodes, room)
    ended, allowed = False, 0
    while not ended and allowed < most_steps and not (allowed and budget.over):
        allowed = min(allowed + STEPS_AT_ONCE, most_steps)
        ended = search.run(allowed)
    bound = problem.total(tables)
    if len(search.best) == 0:
        return Least(None, bound / 1000.0, ended, search.steps)
    found = graph.fixed.copy()
    found[units] = nodes[search.best]
    least = search.lowest + base if ended else bound
    return Least(found, least / 1000.0, ended, search.steps)


def _plan_search(
    problem: LeastUsage, tables: list[FloatArray], units: IndexArray, nodes: IndexArray, room: core.Room
) -> core.PlanSearch:
    """A search over these units; tables are over all nodes in question, infinite where a unit may not be."""
    graph, forest = problem.graph, problem.forest
    rank = np.full(len(graph), -1, dtype=np.intp)
    rank[units] = np.arange(len(units))
    parents = np.where(forest.parent[units] >= 0, rank[forest.parent[units]], -1)
    sums = np.full((len(units), len(nodes)), np.inf)
    costs = np.zeros((len(units), len(nodes), len(nodes)))
    for k, unit in enumerate(units.tolist()):
        sums[k, np.searchsorted(nodes, problem.choices[unit])] = tables[unit]
        if parents[k] >= 0:
            costs[k] = problem.between(int(forest.entry[unit]), nodes, nodes)
    closing = np.zeros((len(forest.closing), len(nodes), len(nodes)))
    for k, at in enumerate(forest.closing.tolist()):
        closing[k] = problem.between(at, nodes, nodes)
    return core.PlanSearch(
        units=units,
        nodes=nodes,
        parents=parents,
        sums=sums,
        costs=costs,
        later=rank[graph.owner[forest.closing]],
        earlier=rank[graph.neighbours[forest.closing]],
        closing=closing,
        room=room,
    )
