"""The six heuristics, compiled: one loop over operators, and what each heuristic tries in which order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.policies.many.case import Case
from berth.policies.many.engine import can_reuse, holds, reuse
from berth.policies.many.state import WANTED, State, keep, undo
from berth.policies.many.strategies import FREE, closed, try_new, try_node
from berth.space.compiled import compiled

RANDOM, TOP_DOWN, BOTTOM_UP, CLIMBING = 0, 1, 2, 3
DONE, OPERATOR, LOAD, ATTEMPTS = 0, 1, 2, 3
"""What `run` tells: whether it got through, else where it was stuck and for want of what; attempts."""


@compiled
def run(
    case: Case,
    state: State,
    order: NDArray[np.int64],
    manner: int,
    reusing: bool,
    strategy: int,
    retry: bool,
    relatives: int = 0,
) -> NDArray[np.int64]:
    """Place operators in an order; what is taken from others or not needed any more is passed over."""
    told = np.array([1, -1, -1, 0])
    chosen = np.full(case.cells.nodes, FREE)
    alone = closed(strategy, relatives)
    local = manner == BOTTOM_UP and not alone
    first = case.operators.first_unit
    for operator in order:
        if state.status[operator] != WANTED:
            continue
        refused = False
        if reusing and provided(case, state, operator) and may_reuse(case, state, operator, manner):
            # A taker above leaves an operator wanted that feeds others, too: these are looked at next.
            while state.status[operator] == WANTED and try_reuse(case, state, operator, manner, told):
                pass
            if state.status[operator] != WANTED:
                continue
            # From above and at random, what exists elsewhere goes to a new processor then.
            refused = manner in (RANDOM, TOP_DOWN)
        for unit in range(first[operator], first[operator + 1]):
            if not refused and try_near(case, state, unit, manner, local, alone, chosen, told):
                continue
            told[ATTEMPTS] += 1
            blocked = try_new(case, state, unit, strategy, retry, local, chosen)
            if blocked != -1:
                told[DONE], told[OPERATOR], told[LOAD] = 0, operator, blocked
                return told
    return told


@compiled
def provided(case: Case, state: State, operator: int) -> bool:
    """Whether an equal operator is computed elsewhere."""
    operators = case.operators
    kind = operators.kind[operator]
    for entry in range(operators.kind_first[kind], operators.kind_first[kind + 1]):
        if can_reuse(case, state, operator, operators.kind_operators[entry]):
            return True
    return False


@compiled
def may_reuse(case: Case, state: State, operator: int, manner: int) -> bool:
    """At random: fathers have nodes. Climbing: no child has one. Else always."""
    operators, first = case.operators, case.operators.first_unit
    if manner == RANDOM:
        for entry in range(operators.consumer_first[operator], operators.consumer_first[operator + 1]):
            consumer = operators.consumers[entry]
            if state.status[consumer] == WANTED:
                for unit in range(first[consumer], first[consumer + 1]):
                    if state.node[unit] < 0:
                        return False
    if manner == CLIMBING:
        for entry in range(operators.input_first[operator], operators.input_first[operator + 1]):
            child = operators.inputs[entry]
            for unit in range(first[child], first[child + 1]):
                if state.node[unit] >= 0:
                    return False
    return True


@compiled
def try_reuse(case: Case, state: State, operator: int, manner: int, told: NDArray[np.int64]) -> bool:
    """Take the result of the first equal operator with which all constraints are kept."""
    operators = case.operators
    taker = operator
    if manner == CLIMBING:
        climbing = True
        while climbing:
            climbing = False
            for entry in range(operators.consumer_first[taker], operators.consumer_first[taker + 1]):
                father = operators.consumers[entry]
                if state.status[father] == WANTED and provided(case, state, father):
                    taker, climbing = father, True
                    break
    kind = operators.kind[taker]
    for entry in range(operators.kind_first[kind], operators.kind_first[kind + 1]):
        provider = operators.kind_operators[entry]
        if not can_reuse(case, state, taker, provider):
            continue
        told[ATTEMPTS] += 1
        reuse(case, state, taker, provider)
        if holds(state):
            keep(state)
            return True
        undo(state)
    return False


@compiled
def try_near(
    case: Case,
    state: State,
    unit: int,
    manner: int,
    local: bool,
    alone: bool,
    chosen: NDArray[np.int64],
    told: NDArray[np.int64],
) -> bool:
    """Put a unit where one of its relatives is: fathers from above, children from below, at random both.

    With `alone`, only where the relative is the one for which that processor was chosen.
    """
    pairs = case.pairs
    if manner in (RANDOM, TOP_DOWN):
        for entry in range(pairs.out_first[unit], pairs.out_first[unit + 1]):
            relative = pairs.receiver[pairs.out_pairs[entry]]
            if open_to_relatives(case, state, relative, alone, chosen):
                told[ATTEMPTS] += 1
                if try_node(case, state, unit, state.node[relative], False):
                    return True
    if manner != TOP_DOWN:
        for entry in range(pairs.in_first[unit], pairs.in_first[unit + 1]):
            relative = pairs.sender[pairs.in_pairs[entry]]
            if open_to_relatives(case, state, relative, alone, chosen):
                told[ATTEMPTS] += 1
                if try_node(case, state, unit, state.node[relative], local):
                    return True
    return False


@compiled
def open_to_relatives(case: Case, state: State, unit: int, alone: bool, chosen: NDArray[np.int64]) -> bool:
    """Whether a unit has a node, and what is next to it in its tree may join it there."""
    node = state.node[unit]
    return bool(node >= 0 and (not alone or chosen[node] == case.units.operator[unit]))
