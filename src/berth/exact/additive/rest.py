"""What is left to decide at a point of the search, and what a bound says about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.core import exact as core
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
    """What is left with such places allowed; None: no plan. `allowed` is narrowed down."""
    settled = core.settle(core_tables(tables), allowed, tables.beyond)
    allowed[:] = settled.allowed
    if not settled.possible or settled.constant > tables.largest * (1 + 1e-9) + 1e-12:
        return None
    free = np.flatnonzero(~settled.blocks)
    number = np.full(len(allowed), -1, dtype=np.intp)
    number[free] = np.arange(len(free))
    ends = number[tables.ends]
    inside = (ends >= 0).all(axis=1)
    return Rest(
        free,
        settled.constant,
        allowed[free],
        settled.cost[free],
        np.ascontiguousarray(ends[inside]),
        np.ascontiguousarray(tables.pair[inside]),
        np.ascontiguousarray(tables.demand[:, free]),
        np.maximum(settled.limit, 0.0),
        tables.group,
        np.flatnonzero(inside),
    )
