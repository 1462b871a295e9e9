"""Running CP-SAT: in a thread, so that Ctrl-C and time limits end it with the best plan in hand."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ortools.sat.python import cp_model

from berth.budget import Budget
from berth.exact.cpsat.limits import LimitedModel
from berth.exact.task import Outcome

IndexArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Run:
    """What a run of the solver came to."""

    outcome: Outcome
    nodes: IndexArray | None
    """What is chosen for each item in the best solution: for a placement, the node of each block."""
    objective: float
    """The best solution's objective, in whole-number terms."""
    bound: float
    """The solver's bound, in whole-number terms."""


SECONDS_PER_WORK, LEAST_SECONDS = 20.0, 20.0
"""No unit of deterministic work takes so long, even on a crowded machine, unless the solver goes in circles.
What the clock cuts short depends on who else is at work, so that must be rare."""


@dataclass(frozen=True)
class SolverOptions:
    """How the solver works; the same options and seed give the same run."""

    seed: int = 0
    workers: int = 1
    gap: float = 0.0
    linear: int = 1
    """How much of the model goes into linear relaxations: 0 is best for paths, 1 for sums."""
    work: float | None = None
    """A limit in the solver's deterministic measure of work; None: only the budget counts."""


class _Watcher(cp_model.CpSolverSolutionCallback):
    """Tells about every better solution."""

    def __init__(self, progress: Callable[[float | None, float], None]) -> None:
        super().__init__()
        self._progress = progress

    def on_solution_callback(self) -> None:
        self._progress(self.objective_value, self.best_objective_bound)


def run(
    model: LimitedModel,
    budget: Budget,
    options: SolverOptions,
    hint: IndexArray | None = None,
    progress: Callable[[float | None, float], None] = lambda objective, bound: None,
) -> Run:
    """Solve a model within a budget."""
    model.cp.clear_hints()  # type: ignore[no-untyped-call]
    if hint is not None:
        for choice, chosen in zip(model.choices, hint.tolist(), strict=True):
            if len(choice) > 1:
                for number, variable in choice.items():
                    model.cp.add_hint(variable, number == chosen)
    solver, status = search(model.cp, budget, options, progress)
    return _result(model, solver, status)


def search(
    model: cp_model.CpModel,
    budget: Budget,
    options: SolverOptions,
    progress: Callable[[float | None, float], None] = lambda objective, bound: None,
) -> tuple[cp_model.CpSolver, Any]:
    """Run the solver on any model within a budget; the solver, which has the values, and its status."""
    if options.work is not None:
        budget = budget.part(1.0, most=max(SECONDS_PER_WORK * options.work, LEAST_SECONDS))
    solver = solver_for(budget, options)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(solver.solve, model, _Watcher(progress))
        while not future.done():
            try:
                wait([future], timeout=0.05)
            except KeyboardInterrupt:
                budget.stop("interrupted")
            if budget.over:
                solver.stop_search()
    return solver, future.result()


def solver_for(budget: Budget, options: SolverOptions) -> cp_model.CpSolver:
    """A solver with these options that ends with the budget."""
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.random_seed = options.seed % 2**31
    parameters.num_workers = options.workers
    parameters.interleave_search = options.workers > 1
    parameters.linearization_level = options.linear
    parameters.relative_gap_limit = options.gap
    if options.work is not None:
        parameters.max_deterministic_time = options.work
    parameters.catch_sigint_signal = False
    if budget.remaining < float("inf"):
        parameters.max_time_in_seconds = max(0.01, budget.remaining)
    return solver


def outcome_of(model: cp_model.CpModel, status: Any) -> Outcome:
    """What a solver's status means."""
    names: dict[Any, Outcome] = {
        cp_model.OPTIMAL: "optimal",
        cp_model.FEASIBLE: "feasible",
        cp_model.INFEASIBLE: "infeasible",
    }
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(f"the exact model is invalid: {model.validate()}")
    return names.get(status, "unknown")


def _result(model: LimitedModel, solver: cp_model.CpSolver, status: Any) -> Run:
    outcome = outcome_of(model.cp, status)
    if outcome == "unknown":
        # The solver then names 0 as its bound, whatever the sign of the costs: it is none.
        return Run(outcome, None, np.inf, -np.inf)
    nodes = None
    if outcome in ("optimal", "feasible"):
        nodes = np.array(
            [
                next(number for number, variable in choice.items() if solver.boolean_value(variable))
                for choice in model.choices
            ],
            dtype=np.intp,
        )
    return Run(outcome, nodes, solver.objective_value, solver.best_objective_bound)
