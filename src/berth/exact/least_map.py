"""The cheapest map of items to bins, by a CP-SAT model of it, with a proved bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.budget import Budget
from berth.exact.cpsat.run import run
from berth.exact.cpsat.whole_sum import WholeSum
from berth.exact.general import FINE_ENOUGH, attempts
from berth.exact.task import Found

IndexArray = NDArray[np.intp]


class MapModel(Protocol):
    """A model whose solutions are maps."""

    cp: cp_model.CpModel
    choices: list[dict[int, Any]]


@dataclass(frozen=True, eq=False)
class MapTask:
    """What is minimised, over which maps."""

    build: Callable[[float], tuple[MapModel, WholeSum]]
    """A model with its objective, for a ceiling: a map of this cost is known."""
    cost: Callable[[IndexArray], float]
    """What a map costs."""
    start: IndexArray | None = None
    """A map that keeps everything, if one is known."""


def least_map(task: MapTask, budget: Budget, seed: int) -> Found:
    """A map of least cost and a bound on all costs; none of which is below 0."""
    known = np.inf if task.start is None else task.cost(task.start)
    if known == 0.0:
        return Found("optimal", task.start, 0.0, 0)
    found = _solved(task, known, task.start, budget, seed)
    if found.outcome == "optimal" and found.nodes is not None and not budget.over:
        reached = min(known, task.cost(found.nodes))
        if reached - found.bound > FINE_ENOUGH * reached:
            # The known map makes the units finer: what costs more need not be told apart.
            again = _solved(task, reached, found.nodes, budget, seed)
            found = Found(again.outcome, again.nodes, max(found.bound, again.bound), 2)
    return _kept(task, found)


def _solved(task: MapTask, ceiling: float, start: IndexArray | None, budget: Budget, seed: int) -> Found:
    model, objective = task.build(ceiling)
    best = Found("unknown", start, 0.0)
    for options in attempts(seed):
        attempt = run(model, budget, options, best.nodes)
        nodes = best.nodes if attempt.nodes is None else attempt.nodes
        best = Found(attempt.outcome, nodes, max(best.bound, objective.real(attempt.bound)))
        if attempt.outcome in ("optimal", "infeasible") or budget.over:
            break
    return best


def _kept(task: MapTask, found: Found) -> Found:
    """The start where nothing better came, and what contradicts it doesn't count."""
    start, cost = task.start, task.cost
    if start is None:
        return found
    if found.outcome == "infeasible" or found.bound > cost(start) * (1 + 1e-9):
        return Found("feasible", start, 0.0, found.solves)
    if found.nodes is None or cost(start) < cost(found.nodes):
        return Found(found.outcome, start, found.bound, found.solves)
    return found
