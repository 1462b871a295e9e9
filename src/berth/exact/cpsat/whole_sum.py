"""A sum of costs, none of them negative, to be minimised in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.exact.cpsat.pairs import at_least_entry
from berth.exact.cpsat.whole import FINE, decimal_factor, rounding

FloatArray = NDArray[np.float64]
Entry = tuple[list[Any], list[Any], FloatArray, list[tuple[Any, float]]]
"""Two choices, what each combination of them costs, and literals that add up to no more than that."""


class WholeSum:
    """What literals add, and what combinations of two choices add; it is the model's objective."""

    def __init__(
        self,
        cp: cp_model.CpModel,
        literals: Sequence[tuple[Any, float]],
        entries: Sequence[Entry],
        ceiling: float,
    ) -> None:
        """Add the sum to a model.

        Args:
            cp: the model.
            literals: what each adds where it is true.
            entries: what two choices add.
            ceiling: a map of this cost is known: beyond it, costs need not be told apart.
        """
        most = ceiling * (1 + 1e-6)
        weights = np.minimum([weight for _, weight in literals], most)
        matrices = [np.minimum(matrix, most) for _, _, matrix, _ in entries]
        self._factor = _factor(weights, matrices, most)
        self._slack = sum(rounding(part, self._factor) for part in (*weights[:, None], *matrices))
        """The most that rounding can have added to any map's cost in whole numbers."""
        whole = np.round(weights * self._factor).astype(np.int64).tolist()
        terms = list(zip((literal for literal, _ in literals), whole, strict=True))
        for (first, second, _, least), matrix in zip(entries, matrices, strict=True):
            units = np.round(matrix * self._factor).astype(np.int64)
            terms.append((at_least_entry(cp, first, second, units), 1))
            if least:
                # Rounded down, and one less: they must not say more than the entry, unless that is too much.
                highest = int(units.max()) + 1
                below = [max(0, int(min(weight * self._factor, highest)) - 1) for _, weight in least]
                cp.add(terms[-1][0] >= cp_model.LinearExpr.weighted_sum([v for v, _ in least], below))
        self.expression = cp_model.LinearExpr.weighted_sum([v for v, _ in terms], [c for _, c in terms])
        cp.minimize(self.expression)

    def real(self, bound: float) -> float:
        """A bound on the costs from one in whole numbers."""
        return (bound - self._slack) / self._factor


def _factor(weights: FloatArray, matrices: list[FloatArray], ceiling: float) -> float:
    largest = float(weights.sum()) + sum(float(matrix.max(initial=0.0)) for matrix in matrices)
    decimal = decimal_factor(weights, *matrices)
    if decimal is not None and largest * decimal < FINE:
        return decimal
    return FINE / max(min(largest, ceiling), 1e-300)
