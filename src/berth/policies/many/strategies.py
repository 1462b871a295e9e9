"""How a new processor is chosen (card 1.17): by speed or card, blocking or by what remains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.policies.many.case import Case
from berth.policies.many.cells import BLOCKED
from berth.policies.many.engine import compute, holds, move
from berth.policies.many.loads import exceeds, room
from berth.policies.many.state import REUSED, WANTED, State, keep, undo
from berth.space.compiled import compiled

STRATEGIES = ("fastest", "biggest-card", "fastest-remaining", "biggest-card-remaining")
"""The first two are blocking: what was chosen once is never offered again as a new processor."""
_BLOCKING = 2
RELATIVES = ("any", "chosen")
"""Who may join a processor that a blocking strategy chose: relatives of any operator there, or only of the
one for which it was chosen."""
_CHOSEN = 1
FREE = -1
NO_NODE = -2
"""Instead of a load: there was no processor to try."""


@compiled
def worth(case: Case, state: State, strategy: int, node: int) -> float:
    """What a strategy looks at: the node with the most of it is chosen."""
    if strategy == 0:
        return float(case.nodes.speed[node])
    if strategy == 1:
        return float(case.nodes.card[node])
    if strategy == 2:
        busy = case.cells.busy + node
        return float(case.nodes.speed[node] * (1.0 - (state.load[busy] + state.error[busy])))
    return room(case, state, case.cells.card + node)


@compiled
def closed(strategy: int, relatives: int) -> bool:
    """Whether only the relatives of one operator may join a chosen processor."""
    return strategy < _BLOCKING and relatives == _CHOSEN


@compiled
def try_node(case: Case, state: State, unit: int, node: int, local: bool) -> bool:
    """Compute a unit on a node if that keeps all constraints.

    With `local`, results that it was to take from others, and that can't get there, are computed there, too.
    What was in the way stays in `figures[BLOCKED]`.
    """
    move(case, state, unit, node)
    blocked = -1
    if not holds(state):
        blocked = exceeded(case, state)
        if local:
            bring_home(case, state, case.units.operator[unit], node)
    if holds(state):
        keep(state)
        return True
    undo(state)
    state.figures[BLOCKED] = blocked
    return False


@compiled
def bring_home(case: Case, state: State, operator: int, node: int) -> None:
    """Compute the reused inputs of an operator on its node, one after another, until all constraints hold."""
    operators, first = case.operators, case.operators.first_unit
    for entry in range(operators.input_first[operator], operators.input_first[operator + 1]):
        child = operators.inputs[entry]
        if holds(state):
            return
        if state.status[child] != REUSED:
            continue
        compute(case, state, child)
        wanted = [child]
        while len(wanted) > 0:
            one = wanted.pop()
            if state.status[one] != WANTED:
                continue
            for unit in range(first[one], first[one + 1]):
                if state.node[unit] < 0:
                    move(case, state, unit, node)
            for position in range(operators.input_first[one], operators.input_first[one + 1]):
                wanted.append(operators.inputs[position])


@compiled
def try_new(
    case: Case, state: State, unit: int, strategy: int, retry: bool, local: bool, chosen: NDArray[np.int64]
) -> int:
    """Put a unit on the best new processor, or with `retry` on the best that can take it.

    `chosen` has every processor's operator: that for which it was chosen first; `FREE`: none.

    Returns:
        -1 if that worked; else the load that was in the way of the last one, or `NO_NODE`.
    """
    rules = case.rules
    home = rules.home[case.units.operator[unit]]
    tried = np.zeros(case.cells.nodes, dtype=np.bool_)
    blocked = NO_NODE
    while True:
        best = -1
        for node in range(case.cells.nodes):
            if (
                tried[node]
                or not rules.allowed[home, node]
                or (strategy < _BLOCKING and chosen[node] != FREE)
            ):
                continue
            if best < 0 or worth(case, state, strategy, node) > worth(case, state, strategy, best):
                best = node
        if best < 0:
            return blocked
        if try_node(case, state, unit, best, local):
            if chosen[best] == FREE:
                chosen[best] = case.units.operator[unit]
            return -1
        blocked = int(state.figures[BLOCKED])
        tried[best] = True
        if not retry:
            return blocked


@compiled
def exceeded(case: Case, state: State) -> int:
    """A load above its limit: the last one to become so if it still is, else the first."""
    last = state.figures[BLOCKED]
    found = -1
    for load in range(case.cells.loads):
        if exceeds(state.load[load] + state.error[load], case.limit[load]):
            if load == last:
                return load
            if found < 0:
                found = load
    return found
