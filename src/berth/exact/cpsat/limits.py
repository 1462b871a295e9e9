"""Limits of CP-SAT models: in whole numbers, by name, and such that they can be switched off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass(kw_only=True)
class LimitedModel:
    """A CP-SAT model with named limits."""

    relaxable: bool = False
    """Whether limits hold only while their literals do."""
    limits: list[Limit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cp = cp_model.CpModel()

    def choice(self, numbers: Sequence[int]) -> dict[int, Any]:
        """Variables by number, of which exactly one is true."""
        if len(numbers) == 1:
            return {numbers[0]: self.cp.new_constant(1)}
        variables = {number: self.cp.new_bool_var("") for number in numbers}
        self.cp.add_exactly_one(variables.values())
        return variables

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
