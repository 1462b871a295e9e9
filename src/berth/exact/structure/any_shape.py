"""Small graphs of any shape: operators are placed one after the other, senders first, by depth-first search.

What is left of the longest path counts at its least, whatever has room (`PathTimes.tail`). The search holds
candidates, links and everything that limits places; bandwidth, cards and requirements are left to the judge:
a best plan without them that keeps them is the best plan, otherwise it is a bound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.core import exact as core
from berth.exact.paths import PathTimes
from berth.exact.placement import Placement, unmodelled
from berth.exact.structure.pipelines import FINE, delays_between
from berth.exact.symmetry import interchangeable
from berth.exact.task import ExactTask, Found

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

MOST_OPERATORS, MOST_PLACES = 60, 100
"""Beyond this it would hardly come to an end."""
MOST_STEPS, AT_ONCE = 2_000_000, 20_000
"""Operators that are placed in all, and between two looks at the clock."""


def solve_small_graph(task: ExactTask) -> Found | None:
    """The fastest plan where a short search comes to an end; else a better one than was known, or none.

    None where the graph is too large, or something else than response times is asked for.
    """
    placement = task.placement
    if (
        task.goal.single != "response_time"
        or task.ties != "any"
        or unmodelled(placement.setting.problem) is not None
        or not len(placement.graph) == len(placement.blocks) <= MOST_OPERATORS
        or len(np.unique(np.concatenate(placement.candidates))) > MOST_PLACES
    ):
        return None
    known = task.costs_at(task.start)
    problem = _Arrays(placement)
    search = problem.search(known * (1 - max(task.gap, FINE)))
    steps, open_ = 0, True
    while open_ and steps < MOST_STEPS and not task.budget.over:
        open_ = search.go_on(AT_ONCE)
        steps += AT_ONCE
    nodes = problem.nodes_of(search.plan) if len(search.plan) else None
    reached = known if nodes is None else task.costs_at(nodes)
    if open_:
        return Found("unknown", nodes if reached < known else None, -np.inf)
    bound = search.best
    if nodes is None:
        return Found("infeasible", None, np.inf) if np.isinf(known) else Found("optimal", task.start, bound)
    # A plan that breaks what is not held here is a bound.
    return Found("unknown", None, bound) if np.isinf(reached) else Found("optimal", nodes, bound * (1 - FINE))


class _Arrays:
    """A placement of single instances, in the order of its streams, on numbered places."""

    def __init__(self, placement: Placement) -> None:
        self._placement, self._times = placement, PathTimes(placement)
        self._nodes = np.unique(np.concatenate(placement.candidates))
        self._order = np.array(self._times.order, dtype=np.intp)

    def search(self, best: float) -> core.PathSearch:
        """A search for plans that are faster than this."""
        placement, times = self._placement, self._times
        position = np.argsort(self._order)
        graph = placement.graph
        streams = np.unique(position[np.stack([graph.pair_sender, graph.pair_receiver], axis=1)], axis=0)
        blocks = placement.block_of[self._order]
        demand, limit, group = placement.limit_arrays(self._nodes)
        return core.PathSearch(
            np.array([self._at(number, times.processing(number)) for number in self._order]),
            np.array([self._at(number, times.tail[number]) for number in self._order]),
            delays_between(placement, blocks, self._nodes),
            streams.reshape(-1, 2),
            np.ascontiguousarray(demand[:, blocks]),
            limit,
            group,
            self._twins(position),
            best,
        )

    def _at(self, instance: int, values: FloatArray) -> FloatArray:
        """What holds for candidates, for all places; infinite elsewhere."""
        row = np.full(len(self._nodes), np.inf)
        row[np.searchsorted(self._nodes, self._times.nodes(instance))] = values
        return row

    def _twins(self, position: IndexArray) -> IndexArray:
        """For every operator, an earlier one that differs in nothing; -1: none."""
        twins = np.full(len(self._order), -1, dtype=np.intp)
        for group in interchangeable(self._placement, ()):
            members = np.sort(position[[self._placement.blocks[block][0] for block in group]])
            twins[members[1:]] = members[:-1]
        return twins

    def nodes_of(self, places: IndexArray) -> IndexArray:
        """The node of each block."""
        nodes = np.zeros(len(self._order), dtype=np.intp)
        nodes[self._placement.block_of[self._order]] = self._nodes[places]
        return nodes
