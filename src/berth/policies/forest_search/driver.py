"""How the steps are spent: first a plan at all, then cheaper ones."""

from __future__ import annotations

import numpy as np

from berth.policies.forest_search.aims import energy_of
from berth.policies.forest_search.changes import place_all
from berth.policies.forest_search.search import COST, EXCESS, IntArray, Search

ROUNDS = 4
"""A search of many rounds finds less in each, one of few gets stuck once."""
_FEASIBLE = 0.3
"""The most of all steps that goes into a first plan."""
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


def first_plan(search: Search, nodes: IntArray, steps: int) -> bool:
    """Look for a plan that keeps all constraints, whatever it costs."""
    share = max(1, int(_FEASIBLE * steps) // 2)
    for _ in range(2):
        if search.best is not None or search.save():
            return True
        search.round(search.aims(nodes, 0.0, 0.0), share, enough=np.inf)
    return search.best is not None


def improve(search: Search, nodes: IntArray, steps: int, lowest: float) -> None:
    """Use the steps that are left to find cheaper plans."""
    if search.prices.name == "bandwidth_max":
        lower_shares(search, nodes, steps)
        return
    part = max(1, (steps - search.taken) // ROUNDS)
    while search.taken < steps and not search.budget.over and not _done(search, lowest):
        search.round(search.aims(nodes, 1.0, 0.0), part)
        search.back()


def lower_shares(search: Search, nodes: IntArray, steps: int) -> None:
    """Lower the limits of links to below the highest share so far, as long as there are plans within them."""
    cells, limit = search.case.cells, search.case.limit
    links = slice(cells.link, cells.loads)
    part, factor = max(1, (steps - search.taken) // (2 * ROUNDS)), _LOWER
    while search.taken < steps and not search.budget.over and search.best is not None:
        share = search.best[1]
        if share <= 0.0:
            break
        search.back()
        search.limit[links] = np.minimum(limit[links], factor * share * limit[links])
        before = search.taken
        search.round(search.aims(nodes, 1.0, 0.0), part)
        if search.taken == before:
            break
        factor = factor**2 if search.best[1] < share else factor**0.5
    search.limit[:] = limit


def _done(search: Search, lowest: float) -> bool:
    return search.best is not None and search.best[1] <= lowest * (1.0 + 1e-9)
