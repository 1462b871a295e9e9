"""Trials: some moves, one after the other, that are kept if they lead anywhere and taken back if not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from berth.policies.local_search.case import Case, FloatArray, IndexArray
from berth.policies.local_search.chance import Words, drawn
from berth.policies.local_search.changes import may_host, move_change
from berth.policies.local_search.energy import energy, energy_change
from berth.policies.local_search.fields import EDGE_FIRST, EDGE_OTHER
from berth.policies.local_search.inner import inner
from berth.policies.local_search.moves import carry, follow
from berth.policies.local_search.proposals import a_target, any_block, resident
from berth.policies.local_search.state import AFTER, FIRST, TOTALS, State

LARGEST = 16
"""Moves of a trial at most."""
CHAIN = 3


class Trial(NamedTuple):
    """Room for one."""

    block: IndexArray
    node: IndexArray
    """Where each block goes and, once it is there, where it was."""
    logarithm: FloatArray
    saved: FloatArray


def new_trial() -> Trial:
    """An empty one."""
    blocks, nodes = np.zeros(LARGEST, np.int64), np.zeros(LARGEST, np.int64)
    return Trial(blocks, nodes, np.zeros(LARGEST), np.zeros(TOTALS))


@inner
def attempt(
    case: Case, state: State, weights: FloatArray, trial: Trial, count: int, threshold: float
) -> bool:
    """Make a trial's moves until they add no more than a threshold to the energy; else none of them."""
    made, before = 0, 0.0
    if count > 1 or case.aims.heavy or case.aims.uses_time:
        before = energy(case, state, weights)
        for number in range(TOTALS):
            trial.saved[number] = state.totals[number]
    while made < count:
        block, node = trial.block[made], trial.node[made]
        if node == state.node[block]:
            break
        cost, logarithm, broken = move_change(case, state, block, node)
        sure = False
        if made == count - 1 and not case.aims.heavy:
            # The last one need not be made to be judged.
            low, high = energy_change(case, state, weights, block, node, cost, logarithm, broken)
            so_far = energy(case, state, weights) - before if made > 0 else 0.0
            if so_far + low > threshold:
                break
            sure = so_far + high <= threshold
        trial.node[made], trial.logarithm[made] = state.node[block], logarithm
        made += 1
        carry(case, state, block, node, cost, logarithm, broken)
        follow(case, state, block)
        if sure or energy(case, state, weights) - before <= threshold:
            return True
    if made > 0:
        for step in range(made - 1, -1, -1):
            carry(case, state, trial.block[step], trial.node[step], 0.0, -trial.logarithm[step], 0.0)
            follow(case, state, trial.block[step])
        for number in range(TOTALS):
            state.totals[number] = trial.saved[number]
    return False


@inner
def swap_or_chain(case: Case, state: State, random: Words, trial: Trial, swap: bool) -> int:
    """Behind a first move: who was there moves on, to where the first came from, or anywhere; moves noted."""
    other = resident(state, random, trial.node[0], trial.block[0])
    if other < 0:
        return 1
    if swap:
        trial.block[1], trial.node[1] = other, state.node[trial.block[0]]
        return 2 if may_host(case, other, trial.node[1]) else 0
    count = 1
    while count < CHAIN and other >= 0:
        node = a_target(case, state, random, other)
        if node < 0:
            return count
        trial.block[count], trial.node[count] = other, node
        count += 1
        other = resident(state, random, node, other)
    return count


@inner
def _listed(trial: Trial, count: int, block: int) -> bool:
    number = 0
    while number < count and trial.block[number] != block:
        number += 1
    return number < count


@inner
def group(case: Case, state: State, random: Words, trial: Trial) -> int:
    """Behind a first move: blocks of the same node that are connected with it; how many moves."""
    ints = case.ints
    size, count, looked = 2 + drawn(random, LARGEST - 1), 1, 0
    old, node = state.node[trial.block[0]], trial.node[0]
    while looked < count:
        block = trial.block[looked]
        looked += 1
        for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
            other = ints[ints[EDGE_OTHER] + edge]
            if count == size:
                return count
            if state.node[other] != old or not may_host(case, other, node):
                continue
            if not _listed(trial, count, other):
                trial.block[count], trial.node[count] = other, node
                count += 1
    return count


@inner
def drain(case: Case, state: State, random: Words, trial: Trial, node: int) -> int:
    """All blocks of a node to others that are in use; how many moves, 0 if that can't be."""
    count, goal = 0, -1
    block = state.place[node, FIRST]
    while block >= 0:
        if goal < 0 or drawn(random, 2) == 0:
            goal = state.node[any_block(case, random)]
        if count == LARGEST or goal == node or not may_host(case, block, goal):
            return 0
        trial.block[count], trial.node[count] = block, goal
        count += 1
        block = state.chain[block, AFTER]
    return count
