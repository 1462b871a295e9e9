"""Simulated annealing over plans: broken constraints have a price that follows how often they are broken."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.case import Case, IndexArray
from berth.policies.local_search.chance import Words, drawn, uniform
from berth.policies.local_search.energy import WHOLE, current_value, note_best
from berth.policies.local_search.fields import BLOCK_COUNT, PAYS_NODES, USES_TIME
from berth.policies.local_search.moves import rebuild
from berth.policies.local_search.proposals import a_target, any_block, critical_blocks
from berth.policies.local_search.state import (
    BROKEN,
    CRITICAL,
    LEAST_PENALTY,
    MOST_PENALTY,
    NODE,
    PENALTY,
    TRIAL_BLOCK,
    TRIAL_NODE,
    State,
)
from berth.policies.local_search.trials import attempt, drain, group, swap_or_chain
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
    random: Words,
    steps: IndexArray,
    hot: float,
    cold: float,
) -> None:
    """Some steps of a cycle: from hot to cold over its whole length.

    `steps` is [first, last, length of the cycle, steps between changes of the penalty, whether to stop at the
    first plan that breaks nothing, how much of `critical` counts]; its first entry says how far it came.
    """
    ints = case.ints
    own, sums = state.ints, state.reals
    first, last, length, period, until_whole, path = steps
    temperature = hot
    for step in range(first, last):
        if until_whole and sums[BROKEN] <= WHOLE:
            last = step
            break
        if step % 64 == 0 or step == first:
            begun = step - step % 64
            temperature = hot * (cold / hot) ** (begun / length)
            if step % 64 == 0 and ints[USES_TIME]:
                path = critical_blocks(case, state)
                steps[5] = path
            else:
                path = steps[5]
        if step % period == 0:
            broken = sums[BROKEN] > WHOLE
            factor = PRICE_STEP if broken else 1.0 / PRICE_STEP
            price = sums[PENALTY] * factor
            sums[PENALTY] = min(max(price, sums[LEAST_PENALTY]), sums[MOST_PENALTY])
        if step % REBUILD == 0:
            rebuild(case, state, own[own[NODE] : own[NODE] + ints[BLOCK_COUNT]].copy())
        block = any_block(case, random)
        if path > 0 and drawn(random, 2) == 0:
            block = own[own[CRITICAL] + drawn(random, path)]
        kind, threshold = drawn(random, 100), -temperature * np.log(uniform(random))
        node = a_target(case, state, random, block)
        if node < 0:
            continue
        own[own[TRIAL_BLOCK]], own[own[TRIAL_NODE]] = block, node
        count = 1
        if kind >= CHAINS:
            if ints[PAYS_NODES] and kind % 2 == 0:
                count = drain(case, state, random, own[own[NODE] + block])
            else:
                count = group(case, state, random)
        elif kind >= SHIFTS:
            count = swap_or_chain(case, state, random, kind < SWAPS)
        if attempt(case, state, count, threshold):
            note_best(case, state)
    steps[0] = last


@compiled
def typical_change(case: Case, state: State, random: Words, count: int) -> float:
    """How much a random move changes the value, on average of those that change it; 0: none does."""
    own = state.ints
    total, changed = 0.0, 0
    one = min(count, 1)  # a literal would have all that follows compiled twice
    before = current_value(case, state)
    for _ in range(count):
        block = any_block(case, random)
        node = a_target(case, state, random, block)
        if node < 0:
            continue
        own[own[TRIAL_BLOCK]], own[own[TRIAL_NODE]] = block, node
        # A threshold that everything meets: it is made, and taken back.
        attempt(case, state, one, np.inf)
        change = abs(current_value(case, state) - before)
        own[own[TRIAL_BLOCK]] = block
        attempt(case, state, one, np.inf)
        if change > 1e-12 * (abs(before) + 1e-300):
            total += change
            changed += 1
    return total / changed if changed else 0.0
