"""Amounts that are the highest of what several users ask for, without products or large constants.

Every amount that somebody may ask for is a step: a literal that is true where at least so much is asked for.
The sum of the steps' heights is then the highest amount.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ortools.sat.python import cp_model

Terms = list[tuple[Any, float]]


class Highest:
    """For each key, the highest amount whose conditions hold."""

    def __init__(self, cp: cp_model.CpModel) -> None:
        self._cp = cp
        self._asked: dict[Hashable, dict[float, list[tuple[Any, ...]]]] = {}
        self._steps: dict[Hashable, dict[float, Any]] = {}

    def ask(self, key: Hashable, amount: float, *conditions: Any) -> None:
        """At least this amount is needed where all conditions hold."""
        self._asked.setdefault(key, {}).setdefault(amount, []).append(conditions)

    def build(self) -> None:
        """Make the steps; nothing can be asked for afterwards."""
        for key, asked in self._asked.items():
            steps: dict[float, Any] = {}
            below = None
            for amount in sorted(asked):
                steps[amount] = step = self._step(asked[amount], amount == max(asked))
                if below is not None:
                    self._cp.add_implication(step, below)
                below = step
            self._steps[key] = steps

    def _step(self, conditions: list[tuple[Any, ...]], top: bool) -> Any:
        unique = list({tuple(literal.index for literal in each): each for each in conditions}.values())
        if top and len(unique) == 1 and len(unique[0]) == 1:
            # Nothing else can make it true; lower steps are true by higher ones, too.
            return unique[0][0]
        step = self._cp.new_bool_var("")
        for each in unique:
            self._cp.add_bool_or([step, *(literal.negated() for literal in each)])
        return step

    @property
    def keys(self) -> list[Any]:
        """All keys that anything was asked for."""
        return list(self._steps)

    def step(self, key: Hashable, amount: float) -> Any | None:
        """The literal that is true where at least this amount is needed; None: it never is."""
        return self._steps.get(key, {}).get(amount)

    def steps(self, key: Hashable) -> dict[float, Any]:
        """The amounts that may be asked for, ascending, with their literals."""
        return self._steps.get(key, {})

    def terms(self, key: Hashable, most: float = float("inf")) -> Terms:
        """The highest amount as a sum; what is above `most` counts as `most`."""
        terms, below = [], 0.0
        for amount, step in self._steps.get(key, {}).items():
            height = min(amount, most) - below
            if height > 0:
                terms.append((step, height))
                below += height
        return terms
