"""Simulated annealing over plans: broken constraints have a price that follows how often they are broken."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.case import Case, FloatArray, IndexArray
from berth.policies.local_search.chance import Words, drawn, uniform
from berth.policies.local_search.energy import (
    EVALUATED,
    LEAST_PENALTY,
    MOST_PENALTY,
    PENALTY,
    WHOLE,
    current_value,
    note_best,
)
from berth.policies.local_search.moves import rebuild
from berth.policies.local_search.proposals import a_target, any_block, critical_blocks
from berth.policies.local_search.state import BROKEN, State
from berth.policies.local_search.trials import Trial, attempt, drain, group, swap_or_chain
from berth.space.compiled import compiled

SHIFTS, SWAPS, CHAINS = 60, 82, 93
"""Of 100 steps, up to which number they are of a kind; the rest moves groups."""
PRICE_STEP = 1.05
REBUILD = 2**20
"""Steps after which sums are computed anew: they drift."""


@compiled
def anneal(
    case: Case,
    state: State,
    best: FloatArray,
    nodes: IndexArray,
    random: Words,
    weights: FloatArray,
    critical: IndexArray,
    trial: Trial,
    steps: IndexArray,
    hot: float,
    cold: float,
) -> None:
    """Some steps of a cycle: from hot to cold over its whole length.

    `steps` is [first, last, length of the cycle, steps between changes of the penalty, whether to stop at the
    first plan that breaks nothing, how much of `critical` counts]; its first entry says how far it came.
    """
    first, last, length, period, until_whole, path = steps
    temperature = hot
    for step in range(first, last):
        if until_whole and state.totals[BROKEN] <= WHOLE:
            last = step
            break
        if step % 64 == 0 or step == first:
            begun = step - step % 64
            temperature = hot * (cold / hot) ** (begun / length)
            if step % 64 == 0 and case.aims.uses_time:
                path = critical_blocks(case, state, critical)
                steps[5] = path
            else:
                path = steps[5]
        if step % period == 0:
            broken = state.totals[BROKEN] > WHOLE
            factor = PRICE_STEP if broken else 1.0 / PRICE_STEP
            price = weights[PENALTY] * factor
            weights[PENALTY] = min(max(price, weights[LEAST_PENALTY]), weights[MOST_PENALTY])
        if step % REBUILD == 0:
            rebuild(case, state, state.node.copy())
        block = any_block(case, random)
        if path > 0 and drawn(random, 2) == 0:
            block = critical[drawn(random, path)]
        kind, threshold = drawn(random, 100), -temperature * np.log(uniform(random))
        node = a_target(case, state, random, block)
        if node < 0:
            continue
        best[EVALUATED] += 1.0
        trial.block[0], trial.node[0] = block, node
        count = 1
        if kind >= CHAINS:
            if case.aims.pays_nodes and kind % 2 == 0:
                count = drain(case, state, random, trial, state.node[block])
            else:
                count = group(case, state, random, trial)
        elif kind >= SHIFTS:
            count = swap_or_chain(case, state, random, trial, kind < SWAPS)
        if attempt(case, state, weights, trial, count, threshold):
            note_best(case, state, best, nodes)
    steps[0] = last


@compiled
def typical_change(
    case: Case, state: State, random: Words, weights: FloatArray, trial: Trial, count: int
) -> float:
    """How much a random move changes the value, on average of those that change it; 0: none does."""
    total, changed = 0.0, 0
    one = min(count, 1)  # a literal would have all that follows compiled twice
    before = current_value(case, state)
    for _ in range(count):
        block = any_block(case, random)
        node = a_target(case, state, random, block)
        if node < 0:
            continue
        trial.block[0], trial.node[0] = block, node
        # A threshold that everything meets: it is made, and taken back.
        attempt(case, state, weights, trial, one, np.inf)
        change = abs(current_value(case, state) - before)
        trial.block[0] = block
        attempt(case, state, weights, trial, one, np.inf)
        if change > 1e-12 * (abs(before) + 1e-300):
            total += change
            changed += 1
    return total / changed if changed else 0.0
