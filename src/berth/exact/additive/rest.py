"""What is left to decide at a point of the search, and what a bound says about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.exact.additive.narrowing import settle
from berth.exact.additive.tables import Tables

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


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

    def charges(self, price: FloatArray) -> FloatArray:
        """[block, place]: what a block pays there for the room that it takes."""
        at = np.take_along_axis(price, self.group, axis=1)
        return np.asarray(self.demand.T @ at)


@dataclass(frozen=True, eq=False)
class Bound:
    """A bound on the costs of what is left, without the constant."""

    value: float
    least: FloatArray
    """[block, place]: a bound for the plans with the block there."""
    plan: IndexArray
    """A plan that it may point to; it need not fit."""
    price: FloatArray
    """[resource, place]: what the limits are worth."""
    split: FloatArray
    """[edge of the whole problem, end, place]: what the ends of edges bear when these are cut."""


def rest_of(tables: Tables, allowed: BoolArray) -> Rest | None:
    """What is left with such places allowed; None: no plan. `allowed` is narrowed down."""
    cost, limit = tables.cost.copy(), tables.limit.copy()
    settled = np.zeros(len(cost), dtype=np.bool_)
    constant = settle(
        allowed, cost, tables.ends, tables.pair, tables.demand, limit, tables.group, settled, tables.beyond
    )
    if constant > tables.largest * (1 + 1e-9) + 1e-12:
        return None
    free = np.flatnonzero(~settled)
    number = np.full(len(cost), -1, dtype=np.intp)
    number[free] = np.arange(len(free))
    ends = number[tables.ends]
    inside = (ends >= 0).all(axis=1)
    return Rest(
        free,
        constant,
        allowed[free],
        cost[free],
        np.ascontiguousarray(ends[inside]),
        np.ascontiguousarray(tables.pair[inside]),
        np.ascontiguousarray(tables.demand[:, free]),
        np.maximum(limit, 0.0),
        tables.group,
        np.flatnonzero(inside),
    )
