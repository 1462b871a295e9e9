"""Searches and bounds of the exact methods.

`over` says whether time is over or the user wants to stop: long loops ask it now and then.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Over = Callable[[], bool]

class RunSearch:
    """The cheapest sequence of runs of consecutive operators, by depth-first search."""

    def __init__(
        self, cost: FloatArray, step: FloatArray, demand: FloatArray, limit: FloatArray, share: float
    ) -> None: ...
    def list_below(self, costs: float) -> None:
        """Every plan that costs less is wanted, not just the best one."""

    def prepare(self, memory_bits: int, price_changes: int, beam_width: int, over: Over) -> None:
        """Bounds by prices, a plan by them, and an empty stack."""

    def go_on(self, most_work: int) -> None: ...
    @property
    def done(self) -> bool: ...
    @property
    def best(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def work(self) -> int: ...
    @property
    def plan(self) -> IndexArray:
        """The place of each operator, where `best` is finite."""

    @property
    def listed(self) -> IndexArray:
        """The places of all plans that were listed, one plan after the other."""

class PackingSearch:
    """Whether different operators fit side by side on places that are allowed to them."""

    def __init__(
        self, usable: BoolArray, demand: FloatArray, room: FloatArray, value: FloatArray
    ) -> None: ...
    def quick_packing(self) -> IndexArray | None:
        """A packing that is found at once, if one is."""

    def go_on(self, most_work: int) -> bool:
        """Search on; False once it is known whether there is a packing."""

    @property
    def packing(self) -> IndexArray | None: ...
    @property
    def value(self) -> FloatArray: ...

def fullest_filling(
    allowed: BoolArray, demand: FloatArray, room: FloatArray, value: FloatArray
) -> tuple[float, BoolArray]:
    """The most value that fits into the room of one place, and the operators that have it."""

class Tables:
    """Costs over blocks and pairs of blocks, and limits, as in `berth.exact.additive.tables`."""

    def __init__(
        self,
        allowed: BoolArray,
        cost: FloatArray,
        ends: IndexArray,
        pair: FloatArray,
        demand: FloatArray,
        limit: FloatArray,
        group: IndexArray,
    ) -> None: ...

class ForestBound:
    """Bounds by prices for the trees that are left when some edges are cut."""

    def __init__(self, tables: Tables, in_tree: BoolArray, weight: IndexArray, room: IndexArray) -> None: ...
    def improve_prices(
        self, price: FloatArray, split: FloatArray, ceiling: float, rounds: int, slack: float, over: Over
    ) -> float: ...
    def marginals(self, value: float, over: Over) -> FloatArray:
        """For each block on each place, a bound at the best prices."""

    @property
    def price(self) -> FloatArray: ...
    @property
    def split(self) -> FloatArray: ...
    @property
    def plan(self) -> IndexArray: ...

class LiftedBound:
    """A bound by what each choice makes others cost."""

    @property
    def value(self) -> float: ...
    @property
    def least(self) -> FloatArray: ...
    @property
    def reduced(self) -> FloatArray: ...

def lifted_bound(
    tables: Tables, cost: FloatArray, ceiling: float, rounds: int, beyond: float, over: Over
) -> LiftedBound: ...
def tabu_search(
    tables: Tables,
    start: IndexArray,
    best: float,
    largest: float,
    penalty: float,
    tenures: IndexArray,
    over: Over,
) -> IndexArray | None:
    """A plan that fits and costs less than the best one, if one is met."""

class PathSearch:
    """The fastest plan of a small graph: operators are placed senders first, by depth-first search."""

    def __init__(
        self,
        work: FloatArray,
        tail: FloatArray,
        delay: FloatArray,
        streams: IndexArray,
        demand: FloatArray,
        limit: FloatArray,
        group: IndexArray,
        twin: IndexArray,
        best: float,
    ) -> None: ...
    def go_on(self, most_work: int) -> bool:
        """Search on; False once everything was looked at."""

    @property
    def best(self) -> float:
        """The time of the best plan, or where the search started."""

    @property
    def plan(self) -> IndexArray:
        """The places of the best plan; none where nothing was faster."""

class ChainLosses:
    """What plans of a pipeline come to after losses, of which each takes some places and some operators."""

    def __init__(
        self,
        cost: FloatArray,
        step: FloatArray,
        demand: FloatArray,
        limit: FloatArray,
        gone: BoolArray,
        lost: BoolArray,
    ) -> None:
        """`step` has a layer for all losses, or one for each: routes may be others after it."""

    def worst(self, plans: IndexArray, most: float, most_work: int) -> tuple[FloatArray, int]:
        """Of each plan the time after the worst loss, infinite where it is not below `most`; the work left.

        Below 0, some of them are not known.
        """

def cheapest_assignment(cost: FloatArray) -> IndexArray | None:
    """The column of each row, each column at most once; None where infinite costs leave no way."""
