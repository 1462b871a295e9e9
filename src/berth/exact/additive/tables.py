"""A placement and costs that are sums, as arrays over blocks and places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.core import exact as core
from berth.exact.costs import Costs
from berth.exact.placement import Placement

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
ROUGH = 1e-12
"""What is left of a limit is a difference: a little more than it is allowed, and judged at the end."""


@dataclass(frozen=True, eq=False)
class Tables:
    """Blocks on numbered places; `nodes` has the places' node numbers."""

    nodes: IndexArray
    allowed: BoolArray
    """[block, place]: whether a block may go there."""
    cost: FloatArray
    """[block, place]: what a block there adds; 0 where it may not go."""
    ends: IndexArray
    """[edge, 2]: the blocks of each edge."""
    pair: FloatArray
    """[edge, place of the first block, place of the second one]: what both add; `beyond` without a link."""
    demand: FloatArray
    """[resource, block]: only of resources that can bind, on a scale where the largest limit is 1."""
    limit: FloatArray
    """[resource, place that stands for others]: what fits, the tolerance included."""
    group: IndexArray
    """[resource, place]: whose limit counts: its own or, by labels, that of the first with the same value."""
    largest: float
    """No plan's costs are above this."""

    @property
    def beyond(self) -> float:
        """Stands for what is impossible: more than any plan's costs, however much others save."""
        return 1.0 + 3.0 * self.largest

    @property
    def noise(self) -> float:
        """What sums may differ by only because of rounding."""
        return 1e-13 * self.largest

    def below(self, costs: float) -> Tables:
        """The same without what costs more by itself, where nothing costs less than 0: finer numbers."""
        most = costs * (1 + 1e-9)
        allowed = self.allowed & (self.cost <= most)
        cost = np.where(allowed, self.cost, 0.0)
        linked = self.pair <= most
        pair = np.where(linked, self.pair, 0.0)
        largest = _largest(cost, pair)
        pair[~linked] = 1.0 + 3.0 * largest
        return replace(self, allowed=allowed, cost=cost, pair=pair, largest=largest)

    def total(self, places: IndexArray) -> float:
        """The costs of a plan; above `largest` where a link is missing."""
        blocks = np.arange(len(places))
        edges = np.arange(len(self.ends))
        here, there = places[self.ends[:, 0]], places[self.ends[:, 1]]
        return float(self.cost[blocks, places].sum() + self.pair[edges, here, there].sum())

    def fits(self, places: IndexArray) -> bool:
        """Whether every block is allowed where it is, and all of them fit."""
        if not self.allowed[np.arange(len(places)), places].all():
            return False
        taken = np.zeros_like(self.limit)
        for resource, demand in enumerate(self.demand):
            np.add.at(taken[resource], self.group[resource][places], demand)
        return bool((taken <= self.limit).all())


def size_of(placement: Placement) -> int:
    """How many numbers the tables would have."""
    places = len(np.unique(np.concatenate(placement.candidates)))
    return places * (len(placement.blocks) + len(placement.edges) * places)


def tables_of(placement: Placement, costs: Costs) -> Tables:
    """The tables of costs without factors and without costs of used nodes."""
    nodes = np.unique(np.concatenate(placement.candidates))
    blocks, count = len(placement.blocks), len(nodes)
    allowed, cost = np.zeros((blocks, count), dtype=np.bool_), np.zeros((blocks, count))
    where = [np.searchsorted(nodes, candidates) for candidates in placement.candidates]
    for block, places in enumerate(where):
        allowed[block, places] = True
        cost[block, places] = costs.block[block]
    ends = np.array([(edge.first, edge.second) for edge in placement.edges], dtype=np.intp).reshape(-1, 2)
    pair, linked = np.zeros((len(ends), count, count)), np.ones((len(ends), count, count), dtype=np.bool_)
    for number, edge in enumerate(placement.edges):
        grid = np.ix_(where[edge.first], where[edge.second])
        part = costs.edge[number]
        if part is not None:
            pair[number][grid] = part
        linked[number][grid] = placement.linked(edge)
    pair[~linked] = 0.0
    largest = _largest(cost, pair)
    pair[~linked] = 1.0 + 3.0 * largest
    return Tables(nodes, allowed, cost, ends, pair, *placement.limit_arrays(nodes), largest)


def _largest(cost: FloatArray, pair: FloatArray) -> float:
    """No sum of these is beyond this, either way."""
    return float(np.abs(cost).max(axis=1, initial=0.0).sum() + np.abs(pair).max(axis=(1, 2)).sum())


@dataclass(frozen=True, eq=False)
class Rest:
    """The blocks that have several places left, as tables of their own."""

    blocks: IndexArray
    """Their numbers in the whole problem."""
    constant: float
    """The costs of what is settled."""
    allowed: BoolArray
    cost: FloatArray
    ends: IndexArray
    pair: FloatArray
    demand: FloatArray
    limit: FloatArray
    group: IndexArray
    edges: IndexArray
    """The numbers of the edges in the whole problem."""

    @cached_property
    def core(self) -> core.Tables:
        """The same for compiled loops."""
        return core_tables(self)

    def charges(self, price: FloatArray) -> FloatArray:
        """[block, place]: what a block pays there for the room that it takes."""
        at = np.take_along_axis(price, self.group, axis=1)
        return np.asarray(self.demand.T @ at)


@dataclass(frozen=True, eq=False)
class Prices:
    """What a bound takes apart: limits, and edges that are cut. It can start from those of another one."""

    limits: FloatArray
    """[resource, place]: what room is worth."""
    split: FloatArray
    """[edge of the whole problem, end, place]: what the ends of an edge bear when it is cut."""

    @staticmethod
    def none(tables: Tables) -> Prices:
        """Nothing costs anything yet."""
        return Prices(np.zeros_like(tables.limit), np.zeros((len(tables.ends), 2, len(tables.nodes))))


@dataclass(frozen=True)
class Aim:
    """How high a bound should get, and how long to try."""

    ceiling: float
    slack: float
    """So far below the ceiling is high enough."""
    over: Callable[[], bool] = lambda: False
    """Whether to stop at once."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound on the costs of what is left, without the constant."""

    value: float
    least: FloatArray
    """[block, place]: a bound for the plans with the block there."""
    plan: IndexArray
    """A plan that it may point to; it need not fit."""
    prices: Prices

    @staticmethod
    def no_plan(rest: Rest, prices: Prices) -> Bound:
        """Nothing fits."""
        return Bound(
            np.inf, np.full(rest.cost.shape, np.inf), np.zeros(len(rest.cost), dtype=np.intp), prices
        )


def core_tables(tables: Tables | Rest) -> core.Tables:
    """Tables as compiled loops read them."""
    return core.Tables(
        tables.allowed, tables.cost, tables.ends, tables.pair, tables.demand, tables.limit, tables.group
    )


def rest_of(tables: Tables, allowed: BoolArray) -> Rest | None:
    """What is left when blocks with one place are settled; None: no plan. `allowed` is narrowed down."""
    cost, limit, constant = tables.cost.copy(), tables.limit.copy(), 0.0
    free = np.ones(len(allowed), dtype=np.bool_)
    first, second = tables.ends[:, 0], tables.ends[:, 1]
    while True:
        places = allowed.sum(axis=1)
        if not places.all():
            return None
        now = free & (places == 1)
        if not now.any():
            break
        free &= ~now
        at = np.argmax(allowed, axis=1)
        constant += float(cost[now, at[now]].sum())
        within = np.flatnonzero(now[first] & now[second])
        between = tables.pair[within, at[first[within]], at[second[within]]]
        if (between >= tables.beyond).any():
            return None
        constant += float(between.sum())
        for ends, others, turned in ((first, second, tables.pair), (second, first, _turned(tables.pair))):
            leading = np.flatnonzero(now[ends] & free[others])
            added = turned[leading, at[ends[leading]]]
            np.add.at(cost, others[leading], added)
            np.logical_and.at(allowed, others[leading], added < tables.beyond)
        for demand, group, left in zip(tables.demand, tables.group, limit, strict=True):
            np.subtract.at(left, group[at[now]], demand[now])
            if left.min() < -ROUGH:
                return None
            allowed[free] &= demand[free, None] <= left[group] + ROUGH
    if constant > tables.largest * (1 + 1e-9) + 1e-12:
        return None
    number = np.cumsum(free) - 1
    inside = free[first] & free[second]
    return Rest(
        np.flatnonzero(free),
        constant,
        allowed[free],
        cost[free],
        np.ascontiguousarray(number[tables.ends[inside]]),
        np.ascontiguousarray(tables.pair[inside]),
        np.ascontiguousarray(tables.demand[:, free]),
        np.maximum(limit, 0.0),
        tables.group,
        np.flatnonzero(inside),
    )


def _turned(pair: FloatArray) -> FloatArray:
    return pair.transpose(0, 2, 1)
