"""A map made better step by step: one item moves, two swap their bins, or a bin is emptied."""

from __future__ import annotations

import numpy as np

from berth.core import engine
from berth.engine import case_of_sums
from berth.evaluation.limits import SAFE_TOLERANCE
from berth.model.arrays import BoolArray, FloatArray, IndexArray
from berth.policies.two_stage.packing import Packing

TIES = 1e-9
"""What all traffic and all bins add where they don't count: of maps that cost the same, less is better."""
ROUNDING = 1e-13
"""Steps that lower the cost by less than this share of the bound are none."""
STEPS = 4
"""At most so many for each item."""


def polished(packing: Packing, bins: IndexArray) -> IndexArray:
    """The map behind the best steps, one after the other, until none lowers the cost."""
    plan = engine.Plan(_case_of(packing))
    plan.place(bins.astype(np.int64))
    for _ in range(STEPS * len(bins)):
        if not _best_step(packing, plan) and not _empty_a_bin(packing, plan):
            break
    return plan.nodes.astype(np.intp)


def _best_step(packing: Packing, plan: engine.Plan) -> bool:
    """Make the move or the swap that lowers the cost most, if any does."""
    bins, items = plan.nodes, len(packing.demand)
    moves = _added_by_moves(packing, plan)
    swaps = plan.added_by_swaps().reshape(items, items)
    if packing.hosts.shape[1]:
        hosted = _have_a_host(packing, bins, swap=True)
        swaps = np.where(hosted & hosted.T, swaps, np.inf)
    move, swap = int(moves.argmin()), int(swaps.argmin())
    if min(moves.flat[move], swaps.flat[swap]) >= -ROUNDING:
        return False
    if moves.flat[move] <= swaps.flat[swap]:
        plan.move(*divmod(move, len(packing.room)))
    else:
        plan.swap(*divmod(swap, items))
    return True


def _added_by_moves(packing: Packing, plan: engine.Plan) -> FloatArray:
    """[items, bins]: what it adds to move an item; infinite where it can't go."""
    added = plan.added_by_moves().reshape(len(packing.demand), len(packing.room))
    if packing.hosts.shape[1]:
        return np.where(_have_a_host(packing, plan.nodes, swap=False), added, np.inf)
    return added


def _empty_a_bin(packing: Packing, plan: engine.Plan) -> bool:
    """Take everything out of a bin, the largest first, to where it costs least, if that pays for any."""
    before, bins = plan.value, plan.nodes
    in_use = np.bincount(bins, minlength=len(packing.room)) > 0
    largest = packing.demand.max(axis=0, initial=0.0)
    size = (packing.demand / np.where(largest > 0, largest, 1.0)).sum(axis=1)
    for place in np.unique(bins).tolist():
        inside = np.flatnonzero(bins == place)
        moved = 0
        for item in inside[np.argsort(-size[inside], kind="stable")].tolist():
            added = np.where(in_use, _added_by_moves(packing, plan)[item], np.inf)
            target = int(added.argmin())
            if not np.isfinite(added[target]):
                break
            plan.move(item, target)
            moved += 1
        if moved == len(inside) and plan.value < before - ROUNDING:
            return True
        for _ in range(moved):
            plan.undo()
    return False


def _have_a_host(packing: Packing, bins: IndexArray, swap: bool) -> BoolArray:
    """Whether each item has a host in common with each bin's items; or each item's bin's others."""
    hosts = packing.hosts.astype(np.intp)
    held = np.bincount(bins, minlength=len(packing.room))
    common = np.zeros((len(packing.room), hosts.shape[1]), dtype=np.intp)
    np.add.at(common, bins, hosts)
    if swap:
        held, common = held[bins] - 1, common[bins] - hosts
    return np.asarray(hosts @ (common == held[:, None]).T > 0)


def _case_of(packing: Packing) -> engine.Case:
    """A packing as the engine sees it, its cost as a share of its bound: items are blocks, bins are nodes."""
    items, bins = len(packing.demand), len(packing.room)
    unit = packing.bound or 1.0
    limits = engine.Limits(items, bins)
    for column in range(packing.demand.shape[1]):
        _add_limit(limits, packing.demand[:, column], np.arange(bins), packing.room[:, column])
    for limit in packing.shared:
        _add_limit(limits, limit.needed, limit.place_of, limit.room)
    return case_of_sums(
        candidates=[np.flatnonzero(row) for row in packing.allowed],
        traffic=packing.traffic,
        limits=limits,
        distance=(packing.per_traffic / unit + TIES / (packing.farthest or 1.0)) * packing.distance,
        cost_of_use=np.full(bins, packing.per_bin / unit + TIES / bins),
    )


def _add_limit(limits: engine.Limits, needed: FloatArray, place_of: IndexArray, room: FloatArray) -> None:
    limits.add(
        blocks=np.arange(len(needed)),
        needed=np.ascontiguousarray(needed),
        place_of_node=place_of.astype(np.int64),
        # the tolerance is in there, and the engine adds it again
        room=room / (1.0 + SAFE_TOLERANCE),
    )
