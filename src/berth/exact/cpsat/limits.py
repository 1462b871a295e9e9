"""What all CP-SAT models here have: limits in whole numbers that can be switched off, and choices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from berth.exact.cpsat.whole import whole_row


@dataclass(frozen=True)
class Limit:
    """A constraint that can be switched off, to find out which ones clash."""

    family: str
    text: str
    literal: Any


class LimitedModel:
    """A CP-SAT model with named limits."""

    def __init__(self, relaxable: bool = False) -> None:
        """An empty model.

        Args:
            relaxable: limits hold only while their literals do.
        """
        self.cp = cp_model.CpModel()
        self.relaxable = relaxable
        self.limits: list[Limit] = []
        self.choices: list[dict[int, Any]] = []
        """For each item of a solution, its variable by the number of what is chosen."""

    def choice(self, numbers: Sequence[int]) -> dict[int, Any]:
        """Variables of which exactly one is true."""
        if len(numbers) == 1:
            return {numbers[0]: self.cp.new_constant(1)}
        variables = {number: self.cp.new_bool_var("") for number in numbers}
        self.cp.add_exactly_one(variables.values())
        return variables

    def limit(
        self, family: str, text: str, terms: Sequence[tuple[Any, float]], most: float, where: Any = 1
    ) -> None:
        """The sum of (variable, amount) terms is at most `most`; left out where it can't bind.

        Args:
            family: what kind of limit it is.
            text: what it says, for people; limits of the same text are switched together.
            terms: variables and amounts.
            most: what there is.
            where: a literal without which none of the variables is true: then there is nothing to sum.
        """
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
        self.limits.append(Limit(family, text, literal))
        return literal
