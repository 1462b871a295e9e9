"""What `forest` minimises: prices for the engine's loads, and what no plan can cost less than."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.core import sharing as core
from berth.policies.sharing.case import Case

FloatArray = NDArray[np.float64]
NODE = 0.4
"""What a node of mean price counts for, beside 1 for a load of twice its limit."""
MOVE = 0.03
"""What a typical stream or operator counts for."""
GOALS = ("enrolled_speed", "nodes_used", "bandwidth_sum", "bandwidth_max", "processing_power")
_FEW = 12
"""Nodes of which all sets are looked at."""
_ROUNDING = 1e-7


@dataclass(frozen=True, eq=False)
class Prices:
    """A goal in the engine's terms."""

    name: str
    case: Case
    node: FloatArray
    """Of every node that hosts anything, in the goal's own unit."""

    @staticmethod
    def of(name: str, case: Case) -> Prices:
        """The prices of one of `GOALS`."""
        prices = {"enrolled_speed": case.speed, "nodes_used": np.ones(case.nodes)}
        return Prices(name, case, prices.get(name, np.zeros(case.nodes)))

    def value(self, state: core.State) -> float:
        """What a plan costs."""
        if self.name == "bandwidth_sum":
            return float(state.loads[self.case.core.loads.crossed])
        if self.name == "bandwidth_max":
            return self._highest_share(state)
        if self.name == "processing_power":
            first = self.case.core.first_loads[0]
            return float((state.loads[first : first + len(self.node)] / self.case.speed).sum())
        return float(self.node[state.hosted > 0].sum())

    def _highest_share(self, state: core.State) -> float:
        """Of a link's bandwidth."""
        links = slice(self.case.core.loads.link, None)
        load, limit = state.loads[links], self.case.core.limit[links]
        used = load > 0.0
        if not used.any():
            return 0.0
        with np.errstate(divide="ignore"):
            return float((load[used] / limit[used]).max())

    @cached_property
    def node_prices(self) -> FloatArray:
        """On the scale of an energy."""
        mean = self.node.mean() if len(self.node) else 0.0
        return np.asarray(NODE * self.node / mean if mean > 0.0 else self.node)

    @cached_property
    def traffic(self) -> float:
        """Of a byte per second that crosses, on the scale of an energy."""
        case = self.case
        throughput = case.throughput[case.operator_of[case.receiver]]
        rate = case.fixed_rate + case.rate_per_result * np.maximum(throughput, 0.0)
        rate = np.concatenate([rate[rate > 0.0], case.read_rate])
        mean = float(rate.mean()) if len(rate) else 0.0
        return MOVE / mean if mean > 0.0 else 0.0

    @property
    def crossed(self) -> float:
        """The same as far as the goal is about it."""
        # The highest share is lowered by limits: less traffic altogether only helps.
        return {"bandwidth_sum": 1.0, "bandwidth_max": 0.01}.get(self.name, 0.0) * self.traffic

    @cached_property
    def busy(self) -> float:
        """Of a processor's time, on the scale of an energy."""
        if self.name != "processing_power":
            return 0.0
        share = Needs(self.case).busy_of_instance
        mean = float(share.mean()) / float(self.case.speed.mean()) if len(share) else 0.0
        return MOVE / mean if mean > 0.0 else 0.0

    def bound(self) -> float:
        """What no plan can go below."""
        needs = Needs(self.case)
        if self.name == "enrolled_speed":
            return needs.least_price(self.node)
        if self.name == "nodes_used":
            return float(np.ceil(needs.least_price(self.node) - 1e-5))
        if self.name == "processing_power":
            return needs.least_busy()
        return needs.least_crossing() if self.name == "bandwidth_sum" else 0.0


class Needs:
    """What must be computed at least once: one of every kind of equal operators, at the highest rate."""

    def __init__(self, case: Case) -> None:
        self._case = case
        kind = np.where(case.shareable, case.kind, case.operators + np.arange(case.operators))
        self._group = np.unique(kind, return_inverse=True)[1].reshape(-1)
        """Of every operator: operators of one group may stand for each other."""
        self._groups = int(self._group.max(initial=-1)) + 1
        throughput = np.maximum(case.throughput, 0.0)
        self.busy_of_instance = throughput[case.operator_of] * case.work
        self.work = np.zeros(self._groups)
        """Of every group, seconds of the reference processor a second."""
        np.maximum.at(self.work, self._group, self._by_operator(self.busy_of_instance))
        self.allowed = np.zeros((self._groups, case.nodes), dtype=bool)
        """By group and node."""
        np.logical_or.at(self.allowed, self._group, case.allowed)
        self.object_rate = np.zeros(len(case.held))
        np.maximum.at(self.object_rate, case.read_object, case.read_rate)
        self.hosting = self.allowed.any(axis=0)
        self._held = case.held & self.hosting

    def _by_operator(self, values: FloatArray) -> FloatArray:
        """The sum over the instances of every operator."""
        return np.bincount(self._case.operator_of, values, len(self._group)).astype(np.float64)

    def _least(self, needed: FloatArray) -> float:
        """What all groups need of something where of each the most frugal operator is computed."""
        least = np.full(self._groups, np.inf)
        np.minimum.at(least, self._group, self._by_operator(needed))
        return float(least.sum())

    def least_price(self, price: FloatArray) -> float:
        """The least that nodes cost which can do all the work, hold all demands and fetch all objects."""
        case, objects = self._case, len(self._held)
        rows: list[FloatArray] = []
        least: list[float] = []

        def cover(amounts: FloatArray, needed: float, fetched: FloatArray | None = None) -> None:
            if needed > 0.0 or fetched is not None:
                more = np.zeros(objects) if fetched is None else -fetched
                rows.append(np.concatenate([np.where(self.hosting, amounts, 0.0), more]))
                least.append(needed)

        processors, *others = case.place_limits
        cover(np.maximum(processors.room, 0.0), float(self.work.sum()))
        for limit in others:
            cover(np.maximum(limit.room[limit.place_of], 0.0), self._least(limit.needed))
        for places in np.unique(self.allowed, axis=0):
            cover(places.astype(np.float64), 1.0)
        cover(np.minimum(case.card, 1e15), 0.0, self.object_rate)
        for number in np.flatnonzero(self.object_rate > 0.0).tolist():
            rows.append(np.concatenate([self._held[number], np.arange(objects) == number]).astype(np.float64))
            least.append(1.0)
        prices = np.concatenate([price, np.zeros(objects)])
        return _covered(prices, np.array(rows), np.array(least), case.nodes)

    def least_busy(self) -> float:
        """Busy processors where all work is done once, on the fastest node that may do it."""
        fastest = np.where(self.allowed, self._case.speed, 0.0).max(axis=1, initial=0.0)
        done = fastest > 0.0
        return float((self.work[done] / fastest[done]).sum())

    def least_crossing(self) -> float:
        """Bytes per second of objects that no node holds on which their readers may run."""
        return float(self.object_rate[~self._held.any(axis=1)].sum())


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
