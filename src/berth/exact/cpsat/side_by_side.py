"""Operators side by side: whether they fit on places that are allowed to them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.budget import Budget
from berth.exact.cpsat.run import Run, SolverOptions, run
from berth.exact.cpsat.whole import whole_row

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

WORK = 20.0
"""The work, in the solver's own deterministic measure, after which it is given up."""


class SideBySide:
    """A CP-SAT model of operators on places, without an objective."""

    def __init__(self, allowed: BoolArray, demand: FloatArray, room: FloatArray) -> None:
        self.cp = cp_model.CpModel()
        self.choices: list[dict[int, Any]] = []
        for row in allowed:
            choice = {place: self.cp.new_bool_var("") for place in np.flatnonzero(row).tolist()}
            self.cp.add_exactly_one(list(choice.values()))
            self.choices.append(choice)
        for needs, limits in zip(demand, room, strict=True):
            for place, limit in enumerate(limits.tolist()):
                self._add_limit(place, needs, limit)
        for earlier, later in _alike(allowed, demand):
            self.cp.add(self._place(earlier) <= self._place(later))

    def _add_limit(self, place: int, needs: FloatArray, limit: float) -> None:
        here = [k for k, choice in enumerate(self.choices) if place in choice and needs[k] > 0]
        if needs[here].sum() > limit:
            coefficients, most = whole_row(needs[here], limit)
            variables = [self.choices[k][place] for k in here]
            self.cp.add(cp_model.LinearExpr.weighted_sum(variables, coefficients) <= most)

    def _place(self, operator: int) -> Any:
        choice = self.choices[operator]
        return cp_model.LinearExpr.weighted_sum(list(choice.values()), list(choice))


def fits_side_by_side(allowed: BoolArray, demand: FloatArray, room: FloatArray, budget: Budget) -> Run:
    """Whether operators fit ('optimal', with their places) or not ('infeasible')."""
    return run(SideBySide(allowed, demand, room), budget, SolverOptions(work=WORK))


def _alike(allowed: BoolArray, demand: FloatArray) -> list[tuple[int, int]]:
    """Operators with the next one that is like them: it need not go to an earlier place."""
    groups: dict[tuple[bytes, bytes], list[int]] = {}
    for operator, row in enumerate(allowed):
        groups.setdefault((row.tobytes(), demand[:, operator].tobytes()), []).append(operator)
    return [pair for group in groups.values() for pair in pairwise(group)]
