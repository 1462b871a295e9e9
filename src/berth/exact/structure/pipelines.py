"""Pipelines: a search over runs, consecutive operators on one node, bounded by prices for capacity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import exact as core
from berth.exact.placement import LOOSE, Placement

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
Report = Callable[[float, float], None]

FINE = 1e-10
"""Costs that differ by less than this share are the same."""
STAGES = ((2, 100, 8, 1_000), (4, 100, 64, 50_000), (8, 25, 256, 1 << 62))
"""Ever better bounds: places remembered, price changes, partial plans side by side, steps of the search."""
RUN_STEPS = 5_000
"""Steps of the search over runs between looks at the clock."""


@dataclass(frozen=True, eq=False)
class Chain:
    """Blocks in a row, on numbered places; `nodes` has the places' node numbers."""

    nodes: IndexArray
    cost: FloatArray
    """[block, place]: what a block there adds; infinite where it may not go."""
    step: FloatArray
    """[place, place]: what a stream between them adds; 0 within a place, infinite without a link."""
    demand: FloatArray
    """[resource, block]: only of resources that can bind."""
    limit: FloatArray
    """[resource, place]: what fits, the tolerance included; never more than all that is demanded."""


class Room:
    """What every node has room for, less what was taken."""

    def __init__(self, placement: Placement) -> None:
        # Limits of larger places are left to the judge.
        single = [item for item in placement.limits if item.single]
        self._needs = [(item.needed, item.of.room[item.of.place_of] * (1 + LOOSE)) for item in single]

    def take(self, blocks: IndexArray, nodes: IndexArray) -> None:
        """Blocks have been placed on nodes."""
        for demand, limit in self._needs:
            np.subtract.at(limit, nodes, demand[blocks])
            np.maximum(limit, 0.0, out=limit)

    def binding(self, blocks: IndexArray, nodes: IndexArray) -> tuple[FloatArray, FloatArray]:
        """[resource, block] and [resource, node]: needs and limits, of what could be too little."""
        parts = [(demand[blocks], limit[nodes]) for demand, limit in self._needs]
        rows = [(demand, limit) for demand, limit in parts if demand.sum() > limit.min(initial=np.inf)]
        demand = np.array([demand for demand, _ in rows]).reshape(len(rows), len(blocks))
        limit = np.array([limit for _, limit in rows]).reshape(len(rows), len(nodes))
        # A little more than everything is as good as no limit, and keeps the numbers small.
        return demand, np.minimum(limit, 1.01 * demand.sum(axis=1, keepdims=True))


def delays_between(placement: Placement, blocks: IndexArray, nodes: IndexArray) -> FloatArray:
    """Delays between some nodes; infinite where no link is, or none that bears any stream of the blocks."""
    network, graph = placement.network, placement.graph
    here, there = nodes[:, None], nodes[None, :]
    delay = network.table.delay_ms[here, there]
    step = np.where(np.isnan(delay), np.inf, delay)
    sender, receiver = placement.block_of[graph.pair_sender], placement.block_of[graph.pair_receiver]
    crossing = (sender != receiver) & np.isin(sender, blocks)
    least = float(placement.rate[crossing].min(initial=np.inf))
    if 0.0 < least < np.inf and (network.table.bandwidth_bound or network.cards_bound):
        card = network.nic_bytes_per_s[nodes] * (1 + LOOSE)
        bandwidth = network.table.bandwidth_bytes_per_s[here, there] * (1 + LOOSE)
        too_small = (bandwidth < least) | (np.minimum(card[:, None], card[None, :]) < least)
        step[too_small & (here != there)] = np.inf
    return step


def work_at(placement: Placement, block: int, nodes: IndexArray) -> FloatArray:
    """The time that a block takes on ascending nodes that include all its candidates; infinite elsewhere."""
    work = placement.graph.work_ms[placement.blocks[block]].sum()
    here = placement.candidates[block]
    time = np.full(len(nodes), np.inf)
    time[np.searchsorted(nodes, here)] = work / placement.network.speed[here]
    return time


def chain_of(placement: Placement, blocks: tuple[int, ...], room: Room) -> Chain:
    """The arrays of a pipeline for its response time."""
    order = np.array(blocks, dtype=np.intp)
    nodes = np.unique(np.concatenate([placement.candidates[block] for block in blocks]))
    cost = np.array([work_at(placement, block, nodes) for block in blocks])
    return Chain(nodes, cost, delays_between(placement, order, nodes), *room.binding(order, nodes))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search has found: a place for each block, its costs, and a bound on all plans' costs."""

    places: NDArray[np.intp] | None
    costs: float
    bound: float
    work: int


def scaled(chain: Chain) -> tuple[FloatArray, FloatArray]:
    """Needs and limits on one scale, so that their prices move at one pace; the scarcest resource first."""
    with np.errstate(divide="ignore"):
        scarcity = chain.demand.sum(axis=1) / chain.limit.sum(axis=1)
    order = np.argsort(-scarcity, kind="stable")
    size = chain.demand[order].sum(axis=1, keepdims=True)
    return chain.demand[order] / size, chain.limit[order] / size


def best_chain(chain: Chain, budget: Budget, gap: float, report: Report) -> Outcome:
    """The best plan of a pipeline, by places."""
    search = core.RunSearch(chain.cost, chain.step, *scaled(chain), max(gap, FINE))
    for memory, price_changes, width, most in STAGES:
        search.prepare(memory, price_changes, width, lambda: budget.over)
        stop = search.work + most
        while not search.done and search.work < stop and not budget.over:
            search.go_on(min(RUN_STEPS, stop - search.work))
            report(search.best, search.bound)
        if search.done or budget.over:
            break
    places = search.plan if np.isfinite(search.best) else None
    return Outcome(places, search.best, search.bound, search.work)
