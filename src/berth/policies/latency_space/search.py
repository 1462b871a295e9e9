"""All plans one after another, but for those that can't be better: for capacities and circles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numba import njit
from numpy.typing import NDArray

if TYPE_CHECKING:
    from berth.policies.latency_space.exhaustive import LeastUsage

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

BETTER = 1e-12
"""A plan is better only by more than rounding, relatively."""


@dataclass(frozen=True, eq=False)
class Found:
    """The best plan of a search."""

    chosen: IndexArray | None
    cost: float
    ended: bool
    """Whether all plans were looked at or excluded."""
    steps: int


def search(
    problem: LeastUsage, tables: list[FloatArray], demand: FloatArray, room: FloatArray, most_steps: int
) -> Found:
    """The first of the best plans that hold capacities, in so many steps."""
    graph, forest = problem.graph, problem.forest
    left = room.copy()
    pinned = np.flatnonzero(graph.fixed >= 0)
    np.subtract.at(left, graph.fixed[pinned], demand[pinned])
    units = forest.order[graph.fixed[forest.order] < 0]
    base = float(sum(tables[unit][0] for unit in pinned.tolist()))
    if len(units) == 0:
        return Found(np.zeros(len(graph), dtype=np.intp), base, True, 0)
    nodes = np.unique(np.concatenate([problem.choices[unit] for unit in units.tolist()]))
    places = [np.searchsorted(nodes, problem.choices[unit]) for unit in units.tolist()]
    rank = np.full(len(graph), -1, dtype=np.intp)
    rank[units] = np.arange(len(units))
    # Tables over all nodes in question, infinite where a unit may not be: one shape for compiled code.
    bounds = np.full((len(units), len(nodes)), np.inf)
    for k, unit in enumerate(units.tolist()):
        bounds[k, places[k]] = tables[unit]
    parents = np.array(
        [rank[forest.parent[unit]] if forest.parent[unit] >= 0 else -1 for unit in units.tolist()],
        dtype=np.intp,
    )
    costs = np.zeros((len(units), len(nodes), len(nodes)))
    for k, unit in enumerate(units.tolist()):
        if parents[k] >= 0:
            costs[k] = problem.between(int(forest.entry[unit]), nodes, nodes)
    owner = np.repeat(np.arange(len(graph)), np.diff(graph.offsets))
    circles = forest.closing
    later, earlier = rank[owner[circles]], rank[graph.neighbours[circles]]
    closing = np.zeros((len(circles), len(nodes), len(nodes)))
    for k, at in enumerate(circles.tolist()):
        closing[k] = problem.between(at, nodes, nodes)
    # What each later tree costs at least, whatever happens in this one.
    roots = np.where(parents < 0, bounds.min(axis=1), 0.0)
    minima = (
        np.stack([(bounds[k][:, None] + costs[k]).min(axis=0) for k in range(len(units))])
        if len(units)
        else np.zeros((0, len(nodes)))
    )
    best = np.full(len(units), -1, dtype=np.intp)
    steps, cost = _branch(
        parents, bounds, costs, minima, later, earlier, closing, roots, demand[units], left[nodes],
        most_steps, best,
    )  # fmt: skip
    ended = steps < most_steps
    if best[0] < 0:
        return Found(None, np.inf, ended, int(steps))
    chosen = np.zeros(len(graph), dtype=np.intp)
    for k, unit in enumerate(units.tolist()):
        chosen[unit] = np.searchsorted(problem.choices[unit], nodes[best[k]])
    return Found(chosen, float(cost) + base, ended, int(steps))


@njit(cache=True)
def _branch(
    parents: IndexArray,
    bounds: FloatArray,
    costs: FloatArray,
    minima: FloatArray,
    later: IndexArray,
    earlier: IndexArray,
    closing: FloatArray,
    roots: FloatArray,
    demand: FloatArray,
    room: FloatArray,
    most_steps: int,
    best: IndexArray,
) -> tuple[int, float]:
    """Depth first over the units in the forest's order; a branch ends where its bound is no better.

    The bound of a partial plan is what the sums of the forest say for its best completion, plus the circles
    that are closed already. Choosing a node for a unit raises it by the difference to the unit's best one.
    """
    size, count = bounds.shape
    floor = roots.sum()
    lowest = float(np.inf)
    at = np.zeros(size, dtype=np.intp)
    raised = np.zeros(size + 1)
    raised[0] = floor
    order = np.empty((size, count), dtype=np.intp)
    price = np.empty((size, count))
    steps = 0
    depth = 0
    fresh = True
    position = np.zeros(size, dtype=np.intp)
    while depth >= 0:
        if fresh:
            # What each node adds to the bound.
            for node in range(count):
                if parents[depth] < 0:
                    added = bounds[depth, node] - roots[depth]
                else:
                    above = at[parents[depth]]
                    added = bounds[depth, node] + costs[depth, node, above] - minima[depth, above]
                for k in range(len(later)):
                    if later[k] == depth:
                        added += closing[k, node, at[earlier[k]]]
                price[depth, node] = added
            order[depth] = np.argsort(price[depth], kind="mergesort")
            position[depth] = 0
            fresh = False
        moved = False
        while position[depth] < count:
            node = order[depth, position[depth]]
            position[depth] += 1
            steps += 1
            if steps >= most_steps:
                return steps, lowest
            total = raised[depth] + price[depth, node]
            if not total < lowest - BETTER * abs(lowest) and lowest < np.inf:
                position[depth] = count
                break
            if not total < np.inf:
                position[depth] = count
                break
            fits = True
            for column in range(demand.shape[1]):
                fits = fits and room[node, column] >= demand[depth, column]
            if not fits:
                continue
            at[depth] = node
            for column in range(demand.shape[1]):
                room[node, column] -= demand[depth, column]
            raised[depth + 1] = total
            moved = True
            break
        if moved and depth + 1 == size:
            lowest = float(raised[size])
            best[:] = at
            for column in range(demand.shape[1]):
                room[at[depth], column] += demand[depth, column]
        elif moved:
            depth += 1
            fresh = True
        else:
            depth -= 1
            if depth >= 0:
                for column in range(demand.shape[1]):
                    room[at[depth], column] += demand[depth, column]
    return steps, lowest
