"""Pipelines whose operators are all alike: the cheapest walk over nodes that together have room for all.

With equal demands and nothing but delays to tell nodes apart, only the sequence of nodes matters: any walk
whose nodes have room for all operators, with one for each visit, is a plan. Whether every visit gets an
operator is looked at afterwards; without that the walk is a bound.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import exact as core
from berth.exact.structure.chain import Chain
from berth.exact.structure.outcome import FINE, Outcome

FloatArray = NDArray[np.float64]

WORK = 20_000
"""Nodes of the search between looks at the clock."""


def alike(chain: Chain) -> bool:
    """Whether operators differ in nothing and places only in their delays and sizes."""
    same_demand = bool((chain.demand == chain.demand[:, :1]).all())
    finite = np.isfinite(chain.cost).all()
    return same_demand and bool(finite) and bool((chain.cost == chain.cost[:, :1]).all())


def sizes_of(chain: Chain) -> NDArray[np.int64]:
    """How many operators each place can bear."""
    count = len(chain.cost)
    with np.errstate(divide="ignore", invalid="ignore"):
        fit = np.floor(chain.limit / chain.demand[:, :1]) if len(chain.demand) else np.full((1, 1), count)
    fit = np.where(np.isnan(fit), count, fit).min(axis=0)
    return np.broadcast_to(np.minimum(fit, count), chain.cost.shape[1:]).astype(np.int64)


def cheapest_walk(chain: Chain, budget: Budget, gap: float, heard: Callable[[float, float], None]) -> Outcome:
    """The best plan of a pipeline whose operators are alike."""
    count = len(chain.cost)
    work = float(chain.cost[:, 0].sum())
    sizes = sizes_of(chain)
    there = np.flatnonzero(sizes > 0)
    if sizes.sum() < count:
        return Outcome(None, np.inf, np.inf, 0)
    step = np.ascontiguousarray(chain.step[np.ix_(there, there)])
    sizes = sizes[there]
    needed = count
    if (sizes == sizes[0]).all():
        needed, sizes = -(-count // int(sizes[0])), np.ones_like(sizes)
    search = core.WalkSearch(step, sizes, needed, work, max(gap, FINE))
    while not search.done and not budget.over:
        search.go_on(WORK)
        heard(search.best, search.bound)
    walk = search.walk
    if walk is None:
        return Outcome(None, np.inf, np.inf if search.done else search.bound, search.work)
    visits = _with_transits(step, walk)
    places = _filled(visits, sizes_of(chain)[there], count)
    if places is None:
        return Outcome(None, np.inf, search.bound, search.work)
    return Outcome(there[places], search.best, search.bound, search.work)


def _with_transits(step: FloatArray, walk: NDArray[np.int64]) -> list[int]:
    """The walk with the nodes that it passes again, where the way through them is shorter."""
    visits = [int(walk[0])]
    for position in range(1, len(walk)):
        visits.extend(_way(step, walk[:position].tolist(), visits[-1], int(walk[position])))
    return visits


def _way(step: FloatArray, through: list[int], start: int, end: int) -> list[int]:
    """The shortest way from one node to another through some nodes, without its start."""
    reach, before = {start: 0.0}, {start: start}
    waiting = set(through)
    while waiting:
        node = min(waiting, key=lambda item: (reach.get(item, np.inf), item))
        waiting.remove(node)
        for other in [*waiting, end]:
            way = reach.get(node, np.inf) + float(step[node, other])
            if way < reach.get(other, np.inf):
                reach[other], before[other] = way, node
    way_back = [end]
    while before[way_back[-1]] != start:
        way_back.append(before[way_back[-1]])
    return way_back[::-1]


def _filled(visits: list[int], sizes: NDArray[np.int64], count: int) -> NDArray[np.intp] | None:
    """The place of each operator: at least one for each visit; None where there are too many visits."""
    assert all(one != other for one, other in pairwise(visits))
    room = sizes - np.bincount(visits, minlength=len(sizes))
    more = count - len(visits)
    if more < 0 or room[visits].min() < 0:
        return None
    places: list[int] = []
    for node in visits:
        added = int(min(room[node], more))
        room[node] -= added
        more -= added
        places += [node] * (1 + added)
    return np.array(places, dtype=np.intp)
