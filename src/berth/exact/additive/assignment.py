"""Bounds of what is left when nobody talks to anybody: blocks to the rooms of places."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from berth.exact.additive.rest import Bound, FloatArray, Rest

MOST_ROOMS = 20_000
"""Combinations of blocks and rooms, at most."""


def assignment_bound(rest: Rest, price: FloatArray, split: FloatArray) -> Bound | None:
    """The cheapest places of blocks without streams that all need the same of one resource: exact.

    None where more than that is to be held: prices are for that.
    """
    blocks, places = rest.cost.shape
    if len(rest.ends) or len(rest.demand) != 1 or (rest.group != np.arange(places)).any():
        return None
    need = rest.demand[0]
    if need[0] <= 0 or (need != need[0]).any():
        return None
    rooms = np.minimum(np.floor(rest.limit[0] / need[0] + 1e-9), blocks).astype(np.intp)
    place_of = np.repeat(np.arange(places), rooms)
    if len(place_of) * blocks > MOST_ROOMS:
        return None
    cost = np.where(rest.allowed, rest.cost, np.inf)
    no_plan = Bound(np.inf, np.full(cost.shape, np.inf), np.zeros(blocks, dtype=np.intp), price, split)
    if len(place_of) < blocks:
        return no_plan
    try:
        rows, columns = linear_sum_assignment(cost[:, place_of])
    except ValueError:
        # It has no other way to say that some block finds no room.
        return no_plan
    plan = np.zeros(blocks, dtype=np.intp)
    plan[rows] = place_of[columns]
    value = float(cost[np.arange(blocks), plan].sum())
    return Bound(value, np.full(cost.shape, value), plan, price, split)
