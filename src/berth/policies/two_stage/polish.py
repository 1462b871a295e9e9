"""A map made better step by step: one item moves, two swap their bins, or a bin is emptied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.policies.two_stage.packing import BoolArray, FloatArray, IndexArray, Packing
from berth.policies.two_stage.stages import SharedRoom

TIES = 1e-9
"""What all traffic and all bins add where they don't count: of maps that cost the same, less is better."""
ROUNDING = 1e-13
"""Steps that lower the cost by less than this share of the bound are none."""
STEPS = 4
"""At most so many for each item."""


def polished(packing: Packing, bins: IndexArray) -> IndexArray:
    """The map behind the best steps, one after the other, until none lowers the cost."""
    prices = _Prices.of(packing)
    now = bins
    for _ in range(STEPS * len(bins)):
        better = _best_step(packing, prices, now)
        if better is None:
            better = _emptied(packing, prices, now)
        if better is None:
            break
        now = better
    return now


@dataclass(frozen=True, eq=False)
class _Prices:
    """What a packing costs, as shares of its bound."""

    per_traffic: float
    per_bin: float
    distance: FloatArray
    """0 where there is no way."""
    missing: FloatArray | None
    """[bins, bins]: 1 where there is no way; None: there is one everywhere."""
    size: FloatArray
    """[items]: the sum over the resources, each as a share of the largest demand."""

    @classmethod
    def of(cls, packing: Packing) -> _Prices:
        unit = packing.bound or 1.0
        missing = ~np.isfinite(packing.distance)
        largest = packing.demand.max(axis=0, initial=0.0)
        return cls(
            packing.per_traffic / unit + TIES / (packing.farthest or 1.0),
            packing.per_bin / unit + TIES / len(packing.room),
            np.where(missing, 0.0, packing.distance),
            missing.astype(np.float64) if missing.any() else None,
            (packing.demand / np.where(largest > 0, largest, 1.0)).sum(axis=1),
        )


def _best_step(packing: Packing, prices: _Prices, bins: IndexArray) -> IndexArray | None:
    """A move or a swap."""
    items = np.arange(len(bins))
    pull, blocked = _pull(packing, prices, bins, items)
    moves = _moves(packing, prices, bins, items, pull, blocked)
    swaps = _swaps(packing, prices, bins, pull, blocked)
    move, swap = int(moves.argmin()), int(swaps.argmin())
    if min(moves.flat[move], swaps.flat[swap]) >= -ROUNDING:
        return None
    after = bins.copy()
    if moves.flat[move] <= swaps.flat[swap]:
        item, place = divmod(move, moves.shape[1])
        after[item] = place
    else:
        one, other = divmod(swap, len(bins))
        after[one], after[other] = bins[other], bins[one]
    return after


def _emptied(packing: Packing, prices: _Prices, bins: IndexArray) -> IndexArray | None:
    """A bin less: its items, the largest first, go where they cost least; None: that never pays."""
    for place in np.unique(bins).tolist():
        after, change = bins.copy(), 0.0
        inside = np.flatnonzero(bins == place)
        for item in inside[np.argsort(-prices.size[inside], kind="stable")]:
            one = np.array([item])
            there = _moves(packing, prices, after, one, *_pull(packing, prices, after, one))[0]
            there[np.bincount(bins, minlength=len(there)) == 0] = np.inf
            target = int(there.argmin())
            change += float(there[target])
            if not np.isfinite(change):
                break
            after[item] = target
        if change < -ROUNDING:
            return after
    return None


def _pull(
    packing: Packing, prices: _Prices, bins: IndexArray, items: IndexArray
) -> tuple[FloatArray, BoolArray | None]:
    """[items, bins]: traffic x distance of an item in each bin; and whether traffic has no way from there."""
    used, place = np.unique(bins, return_inverse=True)
    order = np.argsort(place, kind="stable")
    first = np.searchsorted(place[order], np.arange(len(used)))
    sent = np.add.reduceat(packing.traffic[np.ix_(items, order)], first, axis=1)
    received = np.add.reduceat(packing.traffic[np.ix_(order, items)], first, axis=0).T
    pull = _times(sent, prices.distance[:, used].T) + _times(received, prices.distance[used])
    if prices.missing is None:
        return pull, None
    lost = _times(sent > 0, prices.missing[:, used].T) + _times(received > 0, prices.missing[used])
    return pull, lost > 0


def _times(one: NDArray[Any], other: FloatArray) -> FloatArray:
    """The product of two matrices, on one processor: they are too small for several."""
    return np.asarray(np.einsum("ij,jk->ik", one, other))


def _moves(
    packing: Packing,
    prices: _Prices,
    bins: IndexArray,
    items: IndexArray,
    pull: FloatArray,
    blocked: BoolArray | None,
) -> FloatArray:
    """[items, bins]: what it changes to move an item; infinite where it can't go."""
    here, row = bins[items], np.arange(len(items))
    held = np.bincount(bins, minlength=len(packing.room))
    opened = (held == 0)[None, :].astype(np.float64) - (held[here] == 1)[:, None]
    change = prices.per_traffic * (pull - pull[row, here][:, None]) + prices.per_bin * opened
    fits = packing.allowed[items] & (packing.demand[items][:, None, :] <= _free(packing, bins)).all(axis=2)
    if packing.hosts.shape[1]:
        common = _shared_hosts(packing, bins)
        fits &= _times(packing.hosts[items], (common == held[:, None]).T.astype(np.float64)) > 0
    for limit in packing.shared:
        place, used = limit.place_of, _used_at(limit, bins)
        fits_there = used[place][None, :] + limit.needed[items][:, None] <= limit.room[place][None, :]
        fits &= fits_there | (place[here][:, None] == place[None, :])
    if blocked is not None:
        fits &= ~blocked
    fits[row, here] = False
    return np.where(fits, change, np.inf)


def _swaps(
    packing: Packing, prices: _Prices, bins: IndexArray, pull: FloatArray, blocked: BoolArray | None
) -> FloatArray:
    """[items, items]: what it changes when two items swap their bins; infinite where they can't."""
    demand, apart = packing.demand, prices.distance[np.ix_(bins, bins)]
    there = pull[:, bins]
    change = there - np.diag(there)[:, None]
    # either pull takes it that what the two exchange no longer crosses, but it does, the other way round
    change = change + change.T + (packing.traffic + packing.traffic.T) * (apart + apart.T)
    fits = packing.allowed[:, bins] & (bins[:, None] != bins[None, :])
    fits &= (demand[:, None, :] <= (_free(packing, bins)[bins] + demand)[None, :, :]).all(axis=2)
    if packing.hosts.shape[1]:
        others = np.bincount(bins, minlength=len(packing.room))[bins] - 1
        alone = _shared_hosts(packing, bins)[bins] - packing.hosts == others[:, None]
        fits &= _times(packing.hosts, alone.T.astype(np.float64)) > 0
    for limit in packing.shared:
        place, needed = limit.place_of[bins], limit.needed
        free = (limit.room - _used_at(limit, bins))[place]
        # into the other one's place, from which that one leaves
        fits &= (needed[:, None] <= (free + needed)[None, :]) | (place[:, None] == place[None, :])
    if blocked is not None and prices.missing is not None:
        fits &= ~blocked[:, bins]
        fits &= (packing.traffic == 0) | (prices.missing[np.ix_(bins, bins)].T == 0)
    return np.where(fits & fits.T, prices.per_traffic * change, np.inf)


def _used_at(limit: SharedRoom, bins: IndexArray) -> FloatArray:
    """By place, what the items there need."""
    return np.bincount(limit.place_of[bins], limit.needed, len(limit.room)).astype(np.float64)


def _free(packing: Packing, bins: IndexArray) -> FloatArray:
    free = packing.room.copy()
    np.subtract.at(free, bins, packing.demand)
    return free


def _shared_hosts(packing: Packing, bins: IndexArray) -> IndexArray:
    """[bins, hosts]: how many of a bin's items each host may take."""
    count = np.zeros((len(packing.room), packing.hosts.shape[1]), dtype=np.intp)
    np.add.at(count, bins, packing.hosts)
    return count
