"""CP-SAT models with named limits that can be switched off, in whole numbers.

Real amounts become whole ones, fine enough that nothing within the tolerance is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.budget import Budget
from berth.evaluation.limits import TOLERANCE

FloatArray = NDArray[np.float64]
Entry = tuple[list[Any], list[Any], FloatArray, list[tuple[Any, float]]]
"""Two choices, what each combination of them costs, and literals that add up to no more than that."""

FINE = 2.0**43
"""How finely the largest amount of a row or an objective is divided where decimals don't suffice."""


@dataclass(frozen=True)
class Switch:
    """A constraint that can be switched off, to find out which ones clash."""

    family: str
    text: str
    literal: Any


class OutOfTime(Exception):  # noqa: N818
    """A model isn't whole when time is over."""


@dataclass(kw_only=True)
class LimitedModel:
    """A CP-SAT model with named limits."""

    relaxable: bool = False
    """Whether limits hold only while their literals do."""
    limits: list[Switch] = field(default_factory=list)
    cp: cp_model.CpModel = field(default_factory=cp_model.CpModel)
    budget: Budget = field(default_factory=Budget)
    """How long building it may take: large ones take seconds."""

    def __post_init__(self) -> None:
        self.choices: list[dict[int, Any]] = []
        """What a solution says: for each item, its variable by the number of what is chosen."""

    def look_at_clock(self) -> None:
        """Go on building only while there is time.

        Raises:
            OutOfTime: there is none left.
        """
        if self.budget.over:
            raise OutOfTime

    def choice(self, numbers: Sequence[int]) -> dict[int, Any]:
        """Variables by number, of which exactly one is true."""
        if len(numbers) == 1:
            return {numbers[0]: self.cp.new_constant(1)}
        variables = {number: self.cp.new_bool_var("") for number in numbers}
        self.cp.add_exactly_one(variables.values())
        return variables

    def add_order(self, choices: Sequence[dict[int, Any]]) -> None:
        """The earlier one of any two takes no later number."""
        chosen = [cp_model.LinearExpr.weighted_sum([*choice.values()], [*choice]) for choice in choices]
        for earlier, later in pairwise(chosen):
            self.cp.add(earlier <= later)

    def add_before(self, choices: Sequence[dict[int, Any]], earlier: int, later: int) -> None:
        """Nothing chooses the later number unless something before it chooses the earlier one."""
        before: list[Any] = []
        for choice in choices:
            if later in choice:
                self.cp.add_bool_or([*before, choice[later].negated()])
            if earlier in choice:
                before.append(choice[earlier])

    def limit(
        self, family: str, text: str, terms: Sequence[tuple[Any, float]], most: float, where: Any = 1
    ) -> None:
        """The sum of (variable, amount) terms is at most `most`; left out where it can't bind.

        `where` is a literal without which none of the variables is true.
        """
        self.look_at_clock()
        if not terms or sum(max(amount, 0.0) for _, amount in terms) <= most:
            return
        coefficients, bound = whole_row(np.array([amount for _, amount in terms]), most)
        expression = cp_model.LinearExpr.weighted_sum([variable for variable, _ in terms], coefficients)
        self.add(family, text, expression <= bound * where)

    def add(self, family: str, text: str, constraint: Any) -> None:
        """Add a constraint; in a relaxable model it holds only while its literal does."""
        added = self.cp.add(constraint)
        if self.relaxable:
            added.only_enforce_if(self.switch(family, text))

    def switch(self, family: str, text: str) -> Any:
        """The literal that keeps a named limit on; the same for the same name."""
        for known in reversed(self.limits):
            if known.text == text:
                return known.literal
        literal = self.cp.new_bool_var("")
        self.limits.append(Switch(family, text, literal))
        return literal


def decimal_factor(*amounts: FloatArray) -> float | None:
    """The least power of ten, up to a million, that makes all amounts whole; None if there is none."""
    values = np.concatenate([np.ravel(part) for part in amounts])
    for factor in 10.0 ** np.arange(7):
        scaled = values * factor
        if np.all(np.abs(scaled - np.round(scaled)) <= 1e-12 * np.maximum(1.0, np.abs(scaled))):
            return float(factor) if np.abs(scaled).max(initial=0.0) < FINE else None
    return None


def whole_row(amounts: FloatArray, limit: float) -> tuple[list[int], int]:
    """Coefficients and limit of `sum of amounts <= limit` in whole numbers, with the tolerance."""
    factor = decimal_factor(amounts) or FINE / max(
        float(np.abs(amounts).max(initial=0.0)), abs(limit), 1e-300
    )
    whole = np.round(amounts * factor)
    # Half a unit for each amount that was rounded: what fits in truth must fit in whole numbers.
    rounded = int(np.count_nonzero(np.abs(whole - amounts * factor) > 1e-9))
    most = limit * (1 + TOLERANCE) * factor + rounded / 2
    return [int(value) for value in whole], int(np.floor(most))


def rounding(amounts: FloatArray, factor: float) -> float:
    """The most units that rounding changes one of some amounts by; the last digits of a float don't count."""
    scaled = amounts * factor
    change = float(np.abs(np.round(scaled) - scaled).max(initial=0.0))
    return change if change > 1e-9 * max(1.0, float(np.abs(scaled).max(initial=0.0)) * 1e-3) else 0.0


def at_least_entry(
    cp: cp_model.CpModel, first: list[Any], second: list[Any], whole: NDArray[np.int64]
) -> Any:
    """A variable that is at least the entry of a matrix at what is chosen in two places."""
    variable = cp.new_int_var(int(whole.min()), int(whole.max()), "")
    for choice, others, rows in ((first, second, whole), (second, first, whole.T)):
        lowest = rows.min(axis=1)
        for literal, row, least in zip(choice, rows, lowest.tolist(), strict=True):
            # Only what is above the row's least entry needs terms: exactly one of `others` is true.
            raised = row - least
            over = np.flatnonzero(raised)
            expression = cp_model.LinearExpr.weighted_sum(
                [others[k] for k in over.tolist()], raised[over].tolist()
            )
            cp.add(variable >= expression + least).only_enforce_if(literal)
        cp.add(variable >= cp_model.LinearExpr.weighted_sum(choice, lowest.tolist()))
    return variable


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
