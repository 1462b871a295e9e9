"""How the steps are spent: first a plan at all, then cheaper ones."""

from __future__ import annotations

import numpy as np

from berth.policies.forest_search.aims import energy_of
from berth.policies.forest_search.changes import place_all
from berth.policies.forest_search.search import COST, EXCESS, IntArray, Search
from berth.policies.forest_search.sets import try_sets

ROUNDS = 4
"""A search of many rounds finds less in each, one of few gets stuck once."""
SHARES, ANNEALED = (0.5, 0.5), 0.6
"""Annealing and sets of nodes take turns; how much goes into the first."""
_FOR_EACH = 25
"""Steps of a round for each unit: with fewer, nothing comes to rest."""
_CHEAP, _WARM = 0.2, 0.01
"""How much prices count in the first round for a first plan, and how warm these rounds are."""
_LOWER = 0.9
"""The highest share of a link that is tried next, against the best so far."""

PACKINGS = ((0.02, 0.02), (0.05, 0.02), (0.02, 0.1), (0.005, 0.02))
"""How much nodes and traffic count when all is placed greedily."""


def pack(search: Search, nodes: IntArray) -> None:
    """Place everything greedily in several ways, and go on from the one that looks best."""
    empty, energy = search.snapshot(), np.zeros(3)
    least, best = np.inf, empty
    for weight, crossed in PACKINGS:
        search.resume(empty)
        place_all(search.case, search.state, search.aims(nodes, weight, 0.0, crossed))
        search.save()
        energy_of(search.case, search.state, search.aims(nodes, 1.0, 0.0), energy)
        if energy[EXCESS] + energy[COST] < least:
            least, best = energy[EXCESS] + energy[COST], search.snapshot()
    search.resume(best)


def first_plan(search: Search, nodes: IntArray, steps: int, stay: float = 0.0) -> bool:
    """Look for a plan that keeps all constraints, whatever it costs; all steps may go into that."""
    if search.best is not None or search.save():
        return True
    end, share, weight = search.taken + steps, max(1, steps // ROUNDS), _CHEAP
    while search.best is None and search.taken < end and not search.budget.over:
        search.round(search.aims(nodes, weight, stay), share, hot=_WARM, enough=np.inf)
        weight = 0.0
    return search.best is not None


def improve(
    search: Search, nodes: IntArray, steps: int, lowest: float, speed: float, stay: float = 0.0
) -> None:
    """Use so many steps to find cheaper plans.

    Args:
        search: with a plan.
        nodes: those that may host anything.
        steps: how many there are.
        lowest: what no plan can cost less than.
        speed: what the nodes of a plan need together.
        stay: the price of a unit that leaves its place.
    """
    if search.prices.name == "bandwidth_max":
        lower_shares(search, nodes, steps, stay)
        return
    if search.prices.node.any():
        for share in SHARES:
            _anneal(search, nodes, int(share * ANNEALED * steps), lowest, stay)
            try_sets(search, nodes, int(share * (1.0 - ANNEALED) * steps), lowest, speed, stay)
    else:
        _anneal(search, nodes, steps, lowest, stay)


def _anneal(search: Search, nodes: IntArray, steps: int, lowest: float, stay: float) -> None:
    """Rounds of annealing, the first from where the search is, the others from the best plan."""
    least = min(steps, _FOR_EACH * len(search.home))
    end, part = search.taken + steps, max(1, steps // ROUNDS, least)
    while search.taken < end and not search.budget.over and not _done(search, lowest):
        search.round(search.aims(nodes, 1.0, stay), part)
        search.back()


def lower_shares(search: Search, nodes: IntArray, steps: int, stay: float) -> None:
    """Lower the limits of links to below the highest share so far, as long as there are plans within them."""
    cells, limit = search.case.cells, search.case.limit
    links = slice(cells.link, cells.loads)
    part, factor, end = max(1, steps // (2 * ROUNDS)), _LOWER, search.taken + steps
    while search.taken < end and not search.budget.over and search.best is not None:
        share = search.best[1]
        if share <= 0.0:
            break
        search.back()
        search.limit[links] = np.minimum(limit[links], factor * share * limit[links])
        before = search.taken
        search.round(search.aims(nodes, 1.0, stay), part)
        if search.taken == before:
            break
        factor = factor**2 if search.best[1] < share else factor**0.5
    search.limit[:] = limit


def _done(search: Search, lowest: float) -> bool:
    return search.best is not None and search.best[0] <= 0.0 and search.best[1] <= lowest * (1.0 + 1e-9)
