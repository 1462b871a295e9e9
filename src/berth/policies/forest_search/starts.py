"""Plans to start from: the six heuristics with the four choices of processors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from berth.model import Problem
from berth.policies.many.case import Case
from berth.policies.many.cells import UNPLACED
from berth.policies.many.engine import holds
from berth.policies.many.heuristics import BOTTOM_UP, CLIMBING, DONE, RANDOM, TOP_DOWN, run
from berth.policies.many.orders import at_random, breadth_first, depth_first
from berth.policies.many.state import State, keep
from berth.policies.many.strategies import STRATEGIES

IntArray = NDArray[np.int64]


def starts(
    problem: Problem, case: Case, state: State, seed: int, left: NDArray[np.bool_], retry: bool
) -> Iterator[bool]:
    """Bring a state through all combinations, from what it is now; after each, whether it is a plan.

    Args:
        problem: the problem.
        case: the same as arrays.
        state: what stands already; afterwards it is what the last combination left.
        seed: for the random ones.
        left: operators that are to be placed.
        retry: try the next processor where the chosen one can't take an operator.
    """
    keep(state)
    amounts, numbers = state.amounts.copy(), state.numbers.copy()
    down, up = breadth_first(problem), np.ascontiguousarray(breadth_first(problem)[::-1])
    runs = (
        (RANDOM, at_random(problem, seed), False),
        (RANDOM, at_random(problem, seed), True),
        (TOP_DOWN, down, True),
        (TOP_DOWN, depth_first(problem, children_first=False), True),
        (BOTTOM_UP, up, True),
        (CLIMBING, depth_first(problem, children_first=True), True),
    )
    for manner, order, reusing in runs:
        for strategy in range(len(STRATEGIES)):
            state.amounts[:], state.numbers[:] = amounts, numbers
            told = run(case, state, order[left[order]], manner, reusing, strategy, retry)
            keep(state)
            yield bool(told[DONE]) and state.figures[UNPLACED] == 0 and holds(state)
