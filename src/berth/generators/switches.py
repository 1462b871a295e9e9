"""Networks of switches: Fat-Tree and Jellyfish, and the hops between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]
MOST_TRIES = 100


def fat_tree_switches(ports: int) -> BoolArray:
    """Which switches of a Fat-Tree are linked: edge switches first, then aggregation, then core.

    k pods of k/2 edge and k/2 aggregation switches, all linked within a pod; the j-th aggregation switch of
    every pod is linked to the j-th k/2 core switches.
    """
    half = ports // 2
    layer = ports * half
    linked = np.zeros((2 * layer + half**2, 2 * layer + half**2), dtype=bool)
    number = np.arange(layer)
    pods = number[:, None] // half == number // half
    linked[:layer, layer : 2 * layer] = pods
    linked[layer : 2 * layer, 2 * layer :] = number[:, None] % half == np.arange(half**2) // half
    return np.asarray(linked | linked.T)


def jellyfish_switches(switches: int, degree: int, rng: np.random.Generator) -> BoolArray | None:
    """Which switches of a Jellyfish are linked: a connected random graph of one degree; None: none was found.

    If switches times degree is odd, one switch has a link less.
    """
    for _ in range(MOST_TRIES):
        linked = _random_regular(switches, degree, rng)
        if (hops_between(linked) >= 0).all():
            return linked
    return None


def _random_regular(switches: int, degree: int, rng: np.random.Generator) -> BoolArray:
    """Random links between free ports; who is left with free ports goes between the ends of another link."""
    linked = np.zeros((switches, switches), dtype=bool)
    free = np.full(switches, degree)
    while True:
        left = np.flatnonzero(free)
        pair = _open_pair(linked, left, rng)
        if pair is None:
            break
        _link(linked, free, *pair)
    while free.sum() > 1:
        left = np.flatnonzero(free)
        one = int(left[0])
        other = one if free[one] > 1 else int(left[1])
        # x - y becomes one - x and other - y
        away_from_one, away_from_other = ~linked[one], ~linked[other]
        away_from_one[[one, other]] = away_from_other[[one, other]] = False
        swaps = np.flatnonzero(linked & away_from_one[:, None] & away_from_other)
        if not len(swaps):
            break
        x, y = np.divmod(int(rng.choice(swaps)), switches)
        linked[x, y] = linked[y, x] = False
        free[[x, y]] += 1
        _link(linked, free, one, int(x))
        _link(linked, free, other, int(y))
    return linked


def _open_pair(linked: BoolArray, left: IndexArray, rng: np.random.Generator) -> tuple[int, int] | None:
    """Two of the switches with free ports that are not linked, drawn evenly; None: there are none."""
    for _ in range(MOST_TRIES if len(left) > 1 else 0):
        one, other = left[rng.integers(len(left), size=2)].tolist()
        if one != other and not linked[one, other]:
            return one, other
    # Most are linked already: look at those that are not.
    places = np.flatnonzero(np.triu(~linked[np.ix_(left, left)], 1))
    if not len(places):
        return None
    one, other = np.divmod(int(rng.choice(places)), len(left))
    return int(left[one]), int(left[other])


def _link(linked: BoolArray, free: NDArray[np.int64], one: int, other: int) -> None:
    linked[one, other] = linked[other, one] = True
    free[one] -= 1
    free[other] -= 1


def hops_between(linked: BoolArray) -> NDArray[np.int64]:
    """Links on the shortest path between every two switches; -1: there is none."""
    hops = np.where(np.eye(len(linked), dtype=bool), 0, -1)
    steps = linked.astype(np.float32)
    reached, count = hops == 0, 0
    while True:
        count += 1
        further = ((reached.astype(np.float32) @ steps) > 0) & (hops < 0)
        if not further.any():
            return hops
        hops[further] = count
        reached = further
