"""Simulated annealing over the changes of a plan, compiled."""

from __future__ import annotations

import numpy as np

from berth.policies.forest_search.aims import COST, EXCESS, MOVED, Aims, FloatArray, add_change
from berth.policies.forest_search.chance import Words, drawn
from berth.policies.forest_search.changes import try_change
from berth.policies.many.case import Case
from berth.policies.many.state import State, keep, undo
from berth.space.compiled import compiled

_FINE = 1 << 30
_KEPT = 1e-9


@compiled
def anneal(
    case: Case,
    state: State,
    aims: Aims,
    energy: FloatArray,
    random: Words,
    hot: float,
    cold: float,
    steps: int,
    enough: float,
) -> int:
    """Change a plan step by step; worse is taken with a chance that falls from hot to cold.

    Ends early once nothing exceeds a limit and the cost is at most `enough`.

    Args:
        case: the problem.
        state: the plan, with nothing to undo; changed in place.
        aims: what is wanted.
        energy: its parts for this state; kept up to date.
        random: the state of chance.
        hot: the temperature at first.
        cold: the temperature at last; 0 for both: only what is not worse.
        steps: how many changes are tried.
        enough: a cost.

    Returns:
        How many steps were taken.
    """
    change = np.zeros(3)
    falls = (cold / hot) ** (1.0 / max(steps - 1, 1)) if hot > 0.0 and cold > 0.0 else 1.0
    temperature = hot
    for step in range(steps):
        if energy[EXCESS] <= _KEPT and energy[COST] <= enough and energy[MOVED] * aims.stay <= 0.0:
            return step
        temperature *= falls
        if not try_change(case, state, aims, random):
            undo(state)
            continue
        change[:] = 0.0
        add_change(case, state, aims, change)
        worse = change[EXCESS] + change[COST] + aims.stay * change[MOVED]
        if worse <= 0.0 or (
            temperature > 0.0 and np.exp(-worse / temperature) * _FINE > drawn(random, _FINE)
        ):
            keep(state)
            for part in range(3):
                energy[part] += change[part]
        else:
            undo(state)
    return steps
