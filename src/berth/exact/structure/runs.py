"""Pipelines of any operators: a search over runs of operators, bounded by prices for capacity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from berth.budget import Budget
from berth.core import exact as core
from berth.exact.structure.chain import Chain
from berth.exact.structure.outcome import FINE, Outcome

STAGES = ((1, 200, 64, 500), (4, 60, 64, 50_000), (8, 25, 256, 1 << 62))
"""Ever better bounds: places remembered, price changes, partial plans side by side, steps of the search."""
WORK = 5_000
"""Steps of the search between looks at the clock."""


def best_runs(chain: Chain, budget: Budget, gap: float, heard: Callable[[float, float], None]) -> Outcome:
    """The best plan of a pipeline, by places."""
    with np.errstate(divide="ignore"):
        scarcity = chain.demand.sum(axis=1) / chain.limit.sum(axis=1)
    # Resources on one scale, so that their prices move at one pace; the scarcest one first.
    order = np.argsort(-scarcity, kind="stable")
    size = chain.demand[order].sum(axis=1, keepdims=True)
    demand, limit = chain.demand[order] / size, chain.limit[order] / size
    search = core.RunSearch(chain.cost, chain.step, demand, limit, max(gap, FINE))
    for memory, price_changes, width, most in STAGES:
        search.prepare(memory, price_changes, width, lambda: budget.over)
        stop = search.work + most
        while not search.done and search.work < stop and not budget.over:
            search.go_on(min(WORK, stop - search.work))
            heard(search.best, search.bound)
        if search.done or budget.over:
            break
    places = search.plan if np.isfinite(search.best) else None
    return Outcome(places, search.best, search.bound, search.work)
