"""The search: rounds of annealing from the best plan so far, until the steps are used up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.policies.forest_search.aims import COST, EXCESS, MOVED, Aims, energy_of, scale_of
from berth.policies.forest_search.annealing import anneal
from berth.policies.forest_search.goals import Prices
from berth.policies.many.case import Case
from berth.policies.many.cells import UNPLACED
from berth.policies.many.engine import holds
from berth.policies.many.state import State, keep

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
HOT, COLD = 0.03, 0.001
"""Temperatures of a round, in shares of a limit by which one load may be exceeded for a while."""
_AT_ONCE = 5_000
"""Steps between two looks at the clock."""
_NOTHING = -1.0
"""A cost that is never reached."""


@dataclass(eq=False)
class Search:
    """A plan that is changed, and the best that it has been."""

    case: Case
    state: State
    prices: Prices
    random: NDArray[np.uint64]
    budget: Budget
    report: Callable[[float], None]
    home: IntArray
    """Where every unit was before; -1: nowhere."""
    bound_operators: NDArray[np.bool_]
    free_moves: float = 0.0
    """How many units may leave their place."""
    best: tuple[float, float] | None = None
    """How many units too many have moved, and the cost of the best plan."""
    taken: int = 0
    """Steps so far."""
    _saved: tuple[FloatArray, IntArray] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.limit = self.case.limit.copy()
        self._scale = scale_of(self.limit)

    def save(self) -> bool:
        """Remember the plan as it is now if it keeps all constraints and is better than all before."""
        if not holds(self.state) or self.state.figures[UNPLACED] != 0:
            return False
        placed = self.home >= 0
        moved = float((self.state.node[placed] != self.home[placed]).sum())
        rank = max(0.0, moved - self.free_moves), self.prices.value(self.state)
        if self.best is not None and rank >= self.best:
            return False
        self.best = rank
        self._saved = self.snapshot()
        self.report(rank[1])
        return True

    def snapshot(self) -> tuple[FloatArray, IntArray]:
        """The plan as it is now, for `resume`."""
        return self.state.amounts.copy(), self.state.numbers.copy()

    def resume(self, snapshot: tuple[FloatArray, IntArray]) -> None:
        """Go on from a plan of before."""
        keep(self.state)
        self.state.amounts[:], self.state.numbers[:] = snapshot

    def back(self) -> None:
        """Go back to the best plan."""
        if self._saved is not None:
            self.resume(self._saved)

    def aims(self, nodes: IntArray, weight: float, stay: float, crossed: float = 0.0) -> Aims:
        """What a round aims at.

        Args:
            nodes: those that are offered.
            weight: how much prices count beside limits.
            stay: the price of a unit that leaves its place.
            crossed: how much traffic counts beside the goal.
        """
        offered = np.zeros(self.case.cells.nodes, dtype=bool)
        offered[nodes] = True
        return Aims(
            self.limit,
            self._scale,
            weight * self.prices.node_prices,
            weight * self.prices.crossed + crossed * self.prices.traffic,
            weight * self.prices.busy,
            nodes,
            offered,
            self.home,
            stay,
            self.bound_operators,
        )

    def round(
        self, aims: Aims, steps: int, *, hot: float = HOT, cold: float = COLD, enough: float = _NOTHING
    ) -> FloatArray:
        """Anneal the plan; what it is in the end is looked at by `save`.

        Returns:
            The parts of its energy.
        """
        energy = np.zeros(3)
        keep(self.state)
        energy_of(self.case, self.state, aims, energy)
        done = 0
        while done < steps and not self.budget.over:
            part = min(_AT_ONCE, steps - done)
            here, there = (hot * (cold / hot) ** (at / steps) for at in (done, done + part))
            took = anneal(self.case, self.state, aims, energy, self.random, here, there, part, enough)
            done += part
            self.taken += took
            if took < part:
                break
        self.save()
        return energy


__all__ = ["COST", "EXCESS", "MOVED", "Search"]
