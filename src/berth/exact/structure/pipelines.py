"""Pipelines: the cheapest walk where operators are alike, else a search over runs of operators.

With equal demands and nothing but delays to tell nodes apart, only the sequence of nodes matters: any walk
whose nodes have room for all operators, with one for each visit, is a plan. Whether every visit gets an
operator is looked at afterwards; without that the walk is a bound.

Any other pipeline is a sequence of runs: consecutive operators on one node. Prices for capacity bound it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

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
WALK_STEPS = 20_000
"""Nodes of the walk search between looks at the clock."""
STAGES = ((1, 200, 64, 500), (4, 60, 64, 50_000), (8, 25, 256, 1 << 62))
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


def best_chain(chain: Chain, budget: Budget, gap: float, report: Report) -> tuple[Outcome, str]:
    """The best plan of a pipeline, by the method that suits it, and that method's name."""
    if alike(chain):
        outcome = cheapest_walk(chain, budget, gap, report)
        if outcome.places is not None or np.isinf(outcome.bound) or budget.over:
            return outcome, "walk"
        # A walk that has more visits than there are operators: it is a bound, no plan.
    return best_runs(chain, budget, gap, report), "pipeline"


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


def cheapest_walk(chain: Chain, budget: Budget, gap: float, report: Report) -> Outcome:
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
        search.go_on(WALK_STEPS)
        report(search.best, search.bound)
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


def best_runs(chain: Chain, budget: Budget, gap: float, report: Report) -> Outcome:
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
            search.go_on(min(RUN_STEPS, stop - search.work))
            report(search.best, search.bound)
        if search.done or budget.over:
            break
    places = search.plan if np.isfinite(search.best) else None
    return Outcome(places, search.best, search.bound, search.work)
