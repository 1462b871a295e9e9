"""What no plan can cost less than: the work of all that must be computed, where, and what it reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.policies.many.case import Case

FloatArray = NDArray[np.float64]
_FEW = 12
"""Nodes of which all sets are looked at."""
_ROUNDING = 1e-7


class Needs:
    """What must be computed at least once: one of every kind of equal operators, at the highest rate."""

    def __init__(self, case: Case) -> None:
        self._case = case
        operators, units = case.operators, case.units
        count = len(operators.kind)
        self.group = np.where(operators.shareable, operators.kind, count + np.arange(count))
        """Operators of one group may stand for each other."""
        work = np.add.reduceat(units.work, operators.first_unit[:-1])
        demand = np.add.reduceat(units.demand, operators.first_unit[:-1], axis=0)
        _, self.group = np.unique(self.group, return_inverse=True)
        size = int(self.group.max(initial=-1)) + 1
        self.work = np.zeros(size)
        """Of every group, seconds of the reference processor a second."""
        np.maximum.at(self.work, self.group, np.maximum(operators.own, 0.0) * work)
        self.demand = np.full((size, demand.shape[1]), np.inf)
        np.minimum.at(self.demand, self.group, demand)
        self.allowed = np.zeros((size, case.cells.nodes), dtype=bool)
        """By group and node."""
        np.logical_or.at(self.allowed, self.group, case.rules.allowed[case.rules.home])
        reads = case.objects
        self.object_rate = np.zeros(len(reads.holds))
        np.maximum.at(self.object_rate, reads.read_object, reads.read_rate)
        self.hosting = self.allowed.any(axis=0)


def least_price(case: Case, price: FloatArray) -> float:
    """The least that nodes cost which can do all the work, hold all demands and fetch all objects."""
    needs = Needs(case)
    nodes, held = case.cells.nodes, case.objects.holds & needs.hosting
    rows: list[FloatArray] = []
    least: list[float] = []

    def cover(amounts: FloatArray, needed: float, fetched: FloatArray | None = None) -> None:
        more = np.zeros(len(held)) if fetched is None else -fetched
        if needed > 0.0 or fetched is not None:
            rows.append(np.concatenate([np.where(needs.hosting, amounts, 0.0), more]))
            least.append(needed)

    limit, cells = case.limit, case.cells
    cover(case.nodes.speed * np.maximum(limit[cells.busy : cells.card], 0.0), float(needs.work.sum()))
    for number in range(cells.resources):
        start = cells.capacity + number * nodes
        cover(np.maximum(limit[start : start + nodes], 0.0), float(needs.demand[:, number].sum()))
    for places in np.unique(needs.allowed, axis=0):
        cover(places.astype(np.float64), 1.0)
    card = np.minimum(limit[cells.card : cells.send], 1e15)
    cover(card, 0.0, needs.object_rate)
    for number in range(len(held)):
        if needs.object_rate[number] > 0.0:
            rows.append(np.concatenate([held[number], np.arange(len(held)) == number]).astype(np.float64))
            least.append(1.0)
    return _covered(np.concatenate([price, np.zeros(len(held))]), np.array(rows), np.array(least), nodes)


def _covered(price: FloatArray, rows: FloatArray, least: FloatArray, nodes: int) -> float:
    """The cheapest choice that covers all rows: exactly for few nodes, else with parts of nodes allowed."""
    size = np.abs(rows).max(axis=1, initial=0.0)
    size[size == 0.0] = 1.0
    rows, wanted = rows / size[:, None], (least - _ROUNDING * np.abs(least)) / size
    used = np.flatnonzero((rows[:, :nodes] != 0.0).any(axis=0))
    if len(used) <= _FEW:
        return _enumerated(price[used], rows[:, used], rows[:, nodes:], wanted)
    from scipy.optimize import linprog

    found = linprog(price, A_ub=-rows, b_ub=-wanted, bounds=(0.0, 1.0), method="highs")
    return max(0.0, float(found.fun) * (1.0 - _ROUNDING)) if found.status == 0 else 0.0


def _enumerated(price: FloatArray, rows: FloatArray, fetching: FloatArray, wanted: FloatArray) -> float:
    """The cheapest of all sets of nodes that cover all rows, where fetching an object is all or nothing."""
    chosen = (np.arange(2 ** len(price))[:, None] >> np.arange(len(price))) & 1
    covered = chosen @ rows.T
    # the row of an object: held by one of the nodes, or fetched
    needed = [
        (row, item) for item in range(fetching.shape[1]) for row in np.flatnonzero(fetching[:, item] > 0)
    ]
    for row, item in needed:
        covered += np.where(covered[:, row] < 0.5, 1.0, 0.0)[:, None] * fetching[:, item]
    fits = (covered >= wanted - _ROUNDING).all(axis=1)
    return float((chosen[fits] @ price).min()) if fits.any() else 0.0


def least_busy(case: Case) -> float:
    """Busy processors where all work is done once, on the fastest node that may do it."""
    needs = Needs(case)
    fastest = np.where(needs.allowed, case.nodes.speed, 0.0).max(axis=1, initial=0.0)
    done = fastest > 0.0
    return float((needs.work[done] / fastest[done]).sum())


def least_crossing(case: Case) -> float:
    """Bytes per second of objects that no node holds on which their readers may run."""
    needs = Needs(case)
    away = ~(case.objects.holds & needs.hosting).any(axis=1)
    return float(needs.object_rate[away].sum())
