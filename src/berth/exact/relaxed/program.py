"""A linear program that grows, and the first-order method that solves it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

LEAST_ITERATIONS = 64


@dataclass(eq=False)
class Arrays:
    """Minimise cost x, where low <= matrix x <= high and 0 <= x <= most."""

    matrix: csc_matrix
    cost: FloatArray
    most: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(eq=False)
class Program:
    """Rows and columns, added in groups. Columns are at least 0; what they cost can be raised later."""

    columns: int = 0
    rows: int = 0
    _cost: list[tuple[IndexArray, FloatArray]] = field(default_factory=list)
    _most: list[FloatArray] = field(default_factory=list)
    _capped: list[tuple[IndexArray, FloatArray]] = field(default_factory=list)
    _low: list[FloatArray] = field(default_factory=list)
    _high: list[FloatArray] = field(default_factory=list)
    _entries: list[tuple[IndexArray, IndexArray, FloatArray]] = field(default_factory=list)

    def add_columns(self, shape: int | tuple[int, ...], most: float = 1.0) -> IndexArray:
        """New columns, as an array of this shape."""
        count = int(np.prod(shape))
        first, self.columns = self.columns, self.columns + count
        self._most.append(np.full(count, most))
        return np.arange(first, self.columns).reshape(shape)

    def charge(self, columns: IndexArray, cost: FloatArray | float) -> None:
        """What columns cost, beside what they cost already."""
        columns, cost = np.broadcast_arrays(columns, np.asarray(cost, dtype=np.float64))
        self._cost.append((columns.ravel(), cost.ravel()))

    def cap(self, columns: IndexArray, most: FloatArray | float) -> None:
        """Columns that are at most this."""
        columns, most = np.broadcast_arrays(columns, np.asarray(most, dtype=np.float64))
        self._capped.append((columns.ravel(), most.ravel()))

    def add_rows(self, count: int, low: float, high: FloatArray | float) -> IndexArray:
        """New rows, without any entries."""
        first, self.rows = self.rows, self.rows + count
        self._low.append(np.full(count, low))
        self._high.append(np.broadcast_to(np.asarray(high, dtype=np.float64), (count,)))
        return np.arange(first, self.rows)

    def put(self, rows: IndexArray, columns: IndexArray, values: FloatArray | float) -> None:
        """Entries of the matrix; those of one place add up."""
        parts = np.broadcast_arrays(rows, columns, np.asarray(values, dtype=np.float64))
        rows, columns, values = (part.ravel() for part in parts)
        self._entries.append((rows, columns, values))

    def arrays(self) -> Arrays:
        """All of it."""
        from scipy.sparse import csc_matrix  # small problems need neither this nor the solver

        rows, columns, values = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        cost, most = np.zeros(self.columns), np.concatenate(self._most)
        for charged, amounts in self._cost:
            np.add.at(cost, charged, amounts)
        for capped, amounts in self._capped:
            np.minimum.at(most, capped, amounts)
        matrix = csc_matrix((values, (rows, columns)), shape=(self.rows, self.columns))
        return Arrays(matrix, cost, most, np.concatenate(self._low), np.concatenate(self._high))


@dataclass(eq=False)
class FirstOrder:
    """Solves programs one after another, each from where the one before ended."""

    primal: FloatArray = field(default_factory=lambda: np.zeros(0))
    dual: FloatArray = field(default_factory=lambda: np.zeros(0))
    _weight: float = 0.0
    """How far steps of prices are from those of shares: learnt on the way."""

    def go_on(self, program: Arrays, tolerance: float, iterations: int, seconds: float) -> int:
        """Some more iterations; how many were made: fewer than allowed where the tolerance is reached."""
        from ortools.pdlp import solvers_pb2  # loads the solver
        from ortools.pdlp.python import pdlp

        parameters = solvers_pb2.PrimalDualHybridGradientParams()
        criteria = parameters.termination_criteria
        criteria.simple_optimality_criteria.eps_optimal_relative = tolerance
        criteria.simple_optimality_criteria.eps_optimal_absolute = tolerance
        criteria.iteration_limit = iterations
        criteria.time_sec_limit = max(seconds, 0.01)
        if self._weight > 0:
            parameters.initial_primal_weight = self._weight
        problem = pdlp.QuadraticProgram()
        problem.resize_and_initialize(len(program.cost), len(program.low))
        problem.objective_vector, problem.constraint_matrix = program.cost, program.matrix
        problem.constraint_lower_bounds, problem.constraint_upper_bounds = program.low, program.high
        problem.variable_lower_bounds = np.zeros(len(program.cost))
        problem.variable_upper_bounds = program.most
        start = pdlp.PrimalAndDualSolution()
        start.primal_solution = np.append(self.primal, np.zeros(len(program.cost) - len(self.primal)))
        start.dual_solution = np.append(self.dual, np.zeros(len(program.low) - len(self.dual)))
        found = pdlp.primal_dual_hybrid_gradient(problem, parameters, initial_solution=start)
        self.primal, self.dual = np.array(found.primal_solution), np.array(found.dual_solution)
        self._weight = found.solve_log.solution_stats.primal_weight
        return int(found.solve_log.iteration_count)
