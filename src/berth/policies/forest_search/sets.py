"""Cheaper sets of nodes than the best plan's: can everything be placed there?"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from berth.policies.forest_search.changes import clear, place_all
from berth.policies.forest_search.search import IntArray, Search

FEW = 12
"""Of so many nodes all sets are tried; of so many in use also those with one node instead of two."""
_HOT = (0.03, 0.1)
_AT_LEAST, _FOR_EACH = 1000, 30
"""Steps for one set: so many, and so many for each unit whose node isn't in it."""
_CROSSED = 0.02
Exchange = tuple[tuple[int, ...], tuple[int, ...]]
"""Nodes that are left, and nodes that are taken instead."""


def try_sets(search: Search, nodes: IntArray, steps: int, lowest: float, speed: float, stay: float) -> None:
    """Try sets of nodes that cost less than the best plan and have the speed, until the steps are used up.

    Args:
        search: with a plan, for a goal that is about nodes.
        nodes: those that may host anything.
        steps: how many there are.
        lowest: what no plan can cost less than.
        speed: what the nodes of a plan need together.
        stay: the price of a unit that leaves its place.
    """
    end, number = search.taken + steps, 0
    tried: set[frozenset[int]] = set()
    search.back()
    waiting = _cheaper(search, nodes, lowest, speed)
    while waiting and search.taken < end and not search.budget.over:
        out, into = waiting.pop()
        search.back()
        chosen = frozenset(np.flatnonzero(search.state.hosted > 0).tolist()) - set(out) | set(into)
        if chosen in tried:
            continue
        tried.add(chosen)
        least = _AT_LEAST + _FOR_EACH * int(search.state.hosted[list(out)].sum())
        if _placed(search, np.array(sorted(chosen)), min(least, end - search.taken), _HOT[number % 2], stay):
            search.back()
            waiting = _cheaper(search, nodes, lowest, speed)
        search.taken += 1
        number += 1


def _placed(search: Search, nodes: IntArray, steps: int, hot: float, stay: float) -> bool:
    """Whether a better plan on these nodes alone was found."""
    aims, best = search.aims(nodes, 0.0, stay, _CROSSED), search.best
    clear(search.case, search.state, aims)
    place_all(search.case, search.state, aims)
    if not search.save():
        search.round(search.aims(nodes, 0.0, stay), steps, hot=hot, enough=np.inf)
    return search.best != best


def _cheaper(search: Search, nodes: IntArray, lowest: float, speed: float) -> list[Exchange]:
    """Sets near the best plan's, or all of few nodes, with the speed and at a lower price; by chance."""
    price, cells = search.prices.node, search.case.cells
    work = search.case.nodes.speed * search.case.limit[cells.busy : cells.card]
    hosts = search.state.hosted > 0
    used, others = np.flatnonzero(hosts).tolist(), np.setdiff1d(nodes, np.flatnonzero(hosts)).tolist()
    found: list[Exchange]
    if len(nodes) <= FEW:
        left = [some for size in range(len(used) + 1) for some in combinations(used, size)]
        taken = [some for size in range(len(others) + 1) for some in combinations(others, size)]
    else:
        left = [*combinations(used, 1), *(combinations(used, 2) if len(used) <= FEW else ())]
        taken = [(), *combinations(others, 1)]
    out_price, out_work = (np.array([values[list(some)].sum() for some in left]) for values in (price, work))
    in_price, in_work = (np.array([values[list(some)].sum() for some in taken]) for values in (price, work))
    total = price[used].sum() - out_price[:, None] + in_price
    enough = work[used].sum() - out_work[:, None] + in_work >= speed * (1.0 - 1e-9)
    cheaper = (total < price[used].sum() * (1.0 - 1e-9)) & (total >= lowest * (1.0 - 1e-9)) & (total > 0.0)
    found = [(left[out], taken[into]) for out, into in np.argwhere(enough & cheaper).tolist()]
    order = np.random.default_rng(int(search.random[0])).permutation(len(found))
    return [found[number] for number in order.tolist()]
