"""All plans one after another, but for those that can't be better: for capacities and circles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.space.compiled import compiled

if TYPE_CHECKING:
    from berth.policies.latency_space.exhaustive import LeastUsage

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

STEPS_AT_ONCE = 200_000
"""After so many steps, less than a second, the search looks at the time."""
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
    problem: LeastUsage,
    tables: list[FloatArray],
    demand: FloatArray,
    room: FloatArray,
    most_steps: int,
    budget: Budget,
) -> Found:
    """The first of the best plans that hold capacities, in so many steps and within the budget."""
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
    state = _new_state(len(units), len(nodes), float(roots.sum()))
    ended, allowed = False, 0
    spare = left[nodes]
    while not ended and allowed < most_steps and not (allowed and budget.over):
        allowed = min(allowed + STEPS_AT_ONCE, most_steps)
        ended = _branch(
            parents,
            bounds,
            costs,
            minima,
            later,
            earlier,
            closing,
            roots,
            demand[units],
            spare,
            allowed,
            state,
        )
    steps, cost, best = int(state.depth[2]), float(state.lowest[0]), state.best
    if best[0] < 0:
        return Found(None, np.inf, ended, steps)
    chosen = np.zeros(len(graph), dtype=np.intp)
    for k, unit in enumerate(units.tolist()):
        chosen[unit] = np.searchsorted(problem.choices[unit], nodes[best[k]])
    return Found(chosen, cost + base, ended, steps)


class _State(NamedTuple):
    """How far the search is: it goes on from here."""

    at: IndexArray
    """The node of every unit that has one."""
    bound: FloatArray
    """The bound with the first k units placed."""
    order: IndexArray
    """For every unit its nodes, by what they add to the bound."""
    price: FloatArray
    position: IndexArray
    """How many of them were looked at."""
    depth: IndexArray
    """[the unit that is to be placed, whether its nodes are yet to be ordered, steps]."""
    best: IndexArray
    lowest: FloatArray


def _new_state(size: int, count: int, floor: float) -> _State:
    bound = np.zeros(size + 1)
    bound[0] = floor
    return _State(
        np.zeros(size, dtype=np.intp),
        bound,
        np.zeros((size, count), dtype=np.intp),
        np.zeros((size, count)),
        np.zeros(size, dtype=np.intp),
        np.array([0, 1, 0], dtype=np.intp),
        np.full(size, -1, dtype=np.intp),
        np.array([np.inf]),
    )


@compiled
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
    state: _State,
) -> bool:
    """Depth first over the units in the forest's order; a branch ends where its bound is no better.

    The bound of a partial plan is what the sums of the forest say for its best completion, plus the circles
    that are closed already. Choosing a node for a unit raises it by the difference to the unit's best one.

    Returns whether it is at its end; else so many steps are done, and it can go on.
    """
    size, count = bounds.shape
    at, bound, order, price, position = state.at, state.bound, state.order, state.price, state.position
    depth, fresh, steps = state.depth[0], state.depth[1] == 1, state.depth[2]
    lowest = state.lowest[0]
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
        if steps >= most_steps:
            state.depth[0], state.depth[1], state.depth[2] = depth, 0, steps
            state.lowest[0] = lowest
            return False
        placed = False
        while position[depth] < count and not placed:
            node = order[depth, position[depth]]
            position[depth] += 1
            steps += 1
            total = bound[depth] + price[depth, node]
            if not total < np.inf or (lowest < np.inf and not total < lowest * (1.0 - BETTER)):
                # Nodes come by price: those behind are no better.
                position[depth] = count
                break
            placed = True
            for column in range(demand.shape[1]):
                placed = placed and room[node, column] >= demand[depth, column]
            if placed:
                at[depth] = node
                bound[depth + 1] = total
        if placed and depth + 1 < size:
            for column in range(demand.shape[1]):
                room[at[depth], column] -= demand[depth, column]
            depth += 1
            fresh = True
        elif placed:
            lowest = bound[size]
            state.best[:] = at
        else:
            depth -= 1
            if depth >= 0:
                for column in range(demand.shape[1]):
                    room[at[depth], column] += demand[depth, column]
    state.depth[2] = steps
    state.lowest[0] = lowest
    return True
