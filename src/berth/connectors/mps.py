"""A problem as a mixed-integer program in MPS, for any solver that reads it, and solutions of such solvers.

Columns that place something are called `application/operator#k@node`; instances that have to share a node
have one column together, under the first one's name. Solutions are lines of a name and a value, as Gurobi,
HiGHS, SCIP and CBC write them; everything else in them is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from berth.budget import Budget
from berth.evaluation import Setting
from berth.evaluation.goal import Goal, common_goal
from berth.exact.placement import Placement
from berth.exact.relaxed.whole import WholeProgram, whole_program
from berth.model import BadInput, Plan, Problem
from berth.policies.solve import DEFAULT_TIME_LIMIT, on_one_scale

CHOSEN = 0.5
"""Solvers are content with values that are nearly 0 or 1."""


def mps_of(problem: Problem) -> str:
    """The program of a problem's objective (of the first one, where there are several in order), in free MPS.

    Raises:
        BadInput: something about the problem or its objective is not linear.
    """
    scaled = on_one_scale(Setting(problem), Budget(DEFAULT_TIME_LIMIT), 0)
    goal = common_goal(scaled)
    if goal is None:
        raise BadInput("objective: no plan keeps the constraints, so a normalised sum has no scale")
    return "\n".join(_lines(problem, goal, whole_program(Setting(problem), goal))) + "\n"


def _lines(problem: Problem, goal: Goal, program: WholeProgram) -> Iterator[str]:
    arrays = program.arrays
    minimised = (
        " + ".join(goal.weights) if goal.single != "availability" else "minus the logarithm of availability"
    )
    yield f"* {problem.name} ({problem.fingerprint}): minimise {minimised}"
    yield f"* read a solution back with: berth evaluate {problem.name}.yaml SOLUTION.sol"
    yield f"NAME {problem.name}"
    yield "ROWS"
    yield " N cost"
    kinds = np.where(arrays.low == arrays.high, "E", np.where(np.isinf(arrays.low), "L", "G")).tolist()
    yield from (f" {kind} r{row}" for row, kind in enumerate(kinds))
    yield "COLUMNS"
    names = [program.names.get(column, f"c{column}") for column in range(len(arrays.cost))]
    yield " MARKER MARKER 'MARKER' 'INTORG'"
    yield from _columns(program, names, sorted(program.names))
    yield " MARKER MARKER 'MARKER' 'INTEND'"
    yield from _columns(program, names, [k for k in range(len(names)) if k not in program.names])
    yield "RHS"
    if program.constant:
        yield f" RHS cost {-program.constant!r}"
    limits = np.where(np.isinf(arrays.low), arrays.high, arrays.low).tolist()
    yield from (f" RHS r{row} {limit!r}" for row, limit in enumerate(limits) if limit)
    yield "BOUNDS"
    for column, (name, most) in enumerate(zip(names, arrays.most.tolist(), strict=True)):
        if column in program.names and most:
            yield f" BV BND {name}"
        elif np.isfinite(most):
            yield f" UP BND {name} {most!r}"
    yield "ENDATA"


def _columns(program: WholeProgram, names: list[str], columns: list[int]) -> Iterator[str]:
    matrix, cost = program.arrays.matrix, program.arrays.cost.tolist()
    matrix.sum_duplicates()
    for column in columns:
        if cost[column]:
            yield f" {names[column]} cost {cost[column]!r}"
        part = slice(matrix.indptr[column], matrix.indptr[column + 1])
        for row, value in zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True):
            if value:
                yield f" {names[column]} r{row} {value!r}"


def solution_of(problem: Problem, text: str) -> Plan:
    """The plan in a solver's solution.

    Raises:
        BadInput: it places nothing of this problem.
    """
    placement = Placement(Setting(problem), prune=False)
    nodes = [node.name for node in problem.network.nodes]
    known = {
        f"{placement.graph.names[numbers[0]]}@{nodes[node]}": (block, nodes[node])
        for block, (numbers, candidates) in enumerate(
            zip(placement.blocks, placement.candidates, strict=True)
        )
        for node in candidates.tolist()
    }
    assignment: dict[str, str] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0] in known and _number(words[1]) > CHOSEN:
            block, node = known[words[0]]
            for number in placement.blocks[block]:
                assignment[placement.graph.names[number]] = node
    if not assignment:
        example = next(iter(known), "application/operator@node")
        raise BadInput(f"no column of this problem is 1 in it; expected lines such as '{example} 1'")
    return Plan(problem=problem.name, assignment=assignment)


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return 0.0
