"""The search tree in preallocated arrays: which child comes next, new ones, and the best one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from berth.policies.two_stage.mcts_case import Case, FloatArray, IndexArray
from berth.policies.two_stage.mcts_rollout import TOP
from berth.policies.two_stage.mcts_state import PLAIN, PREFERRED, State, below
from berth.space.compiled import compiled

NOT_YET = -1
NODES, ROLL_OUTS, DEAD_ENDS = 0, 1, 2
DONE, FAILED, DEAD = 3, 4, 5
"""Positions in `Tree.numbers`; the latter three start again with every round."""


class Tree(NamedTuple):
    """Every node of the tree: a partial map that differs from its parent's by one action."""

    visits: IndexArray
    cost: FloatArray
    """The sum over the visits."""
    action: IndexArray
    """kind x bins + bin."""
    child: IndexArray
    """The latest child; -1: none."""
    sibling: IndexArray
    """The child of the same parent before it; -1: none."""
    untried: IndexArray
    """Actions that must be tried before any child is visited again; NOT_YET: not counted."""
    biased: IndexArray
    """Actions without a score that count as tried once, at the pessimistic bound."""
    closed: IndexArray
    """1: every way on from here is a dead end."""
    way: IndexArray
    """The nodes of the latest descent."""
    tried: IndexArray
    """For each action the last node at which it was marked as tried."""
    numbers: IndexArray
    """[nodes, roll-outs, dead ends, and of this round: samples, dead ends in a row, dead ends]."""
    best: IndexArray
    """[items, 2]: kinds and bins of the best map seen."""
    lowest: FloatArray
    """[its cost, and what decides between maps of the same cost]."""


class Rules(NamedTuple):
    """How the search goes on."""

    samples: int
    attempts: int
    """So many dead ends in a row end a round."""
    patience: int
    """So many dead ends end a round once a map is known."""
    exploration: float
    unit: float
    """What costs are divided by: the pessimistic bound, or 1 for the printed form."""
    worst: float
    """The pessimistic bound after that division."""
    total: float
    """All traffic."""
    farthest: float
    """All traffic x the greatest distance."""
    printed: bool


def new_tree(case: Case, size: int) -> Tree:
    """A tree of one node with room for more."""
    items, actions = int(case.members.sum()), len(case.members) * len(case.room)
    return Tree(
        np.zeros(size, dtype=np.intp),
        np.zeros(size),
        np.full(size, -1, dtype=np.intp),
        np.full(size, -1, dtype=np.intp),
        np.full(size, -1, dtype=np.intp),
        np.full(size, NOT_YET, dtype=np.intp),
        np.zeros(size, dtype=np.intp),
        np.zeros(size, dtype=np.intp),
        np.zeros(items + 1, dtype=np.intp),
        np.full(actions, -1, dtype=np.intp),
        np.array([1, 0, 0, 0, 0, 0], dtype=np.intp),
        np.full((items, 2), -1, dtype=np.intp),
        np.array([np.inf, np.inf]),
    )


@compiled
def lowest_bound(tree: Tree, rules: Rules, node: int) -> int:
    """The child with the lowest confidence bound; -2: an action that is tried by the prior only; -1: none."""
    spread = rules.exploration * np.sqrt(2.0 * np.log(max(tree.visits[node], 1)))
    best, found = np.inf, -1
    more = 1 if rules.printed else 0
    if tree.biased[node] > 0:
        best, found = rules.worst / (1 + more) - spread, -2
    child = tree.child[node]
    while child >= 0:
        if tree.closed[child] == 0:
            visits = tree.visits[child]
            value = -np.inf
            if visits > 0:
                value = tree.cost[child] / (visits + more) - spread / np.sqrt(visits)
            lower = value < best
            if found >= 0 and value == best:
                lower = tree.action[child] < tree.action[found]
            if lower or found == -1:
                best, found = value, child
        child = tree.sibling[child]
    return found


@compiled
def expand(case: Case, state: State, tree: Tree, rules: Rules, node: int) -> int:
    """A new child by the preferred policy among the actions that are not tried yet."""
    biased = tree.untried[node] == 0
    child = tree.child[node]
    while child >= 0:
        tree.tried[tree.action[child]] = node
        child = tree.sibling[child]
    last = len(state.counts) - 1
    wanted = PREFERRED if state.counts[last, PREFERRED - 1] > 0 and not biased else PLAIN
    ranked = wanted == PREFERRED and len(case.share) > 0
    bins = len(case.room)
    best, found, action = -1.0, 0, -1
    for kind in range(len(case.members)):
        for place in range(bins):
            if state.status[place, kind] != wanted or tree.tried[kind * bins + place] == node:
                continue
            score = 1.0
            if ranked:
                score = state.near[place, kind] / case.scale + state.fullness[place]
            if score * TOP > best:
                best, found = score, 0
            if score >= best * TOP:
                found += 1
                if found == 1 or below(state.random, found) == 0:
                    action = kind * bins + place
    new = int(tree.numbers[NODES])
    tree.numbers[NODES] += 1
    tree.action[new] = action
    tree.sibling[new] = tree.child[node]
    tree.child[node] = new
    if biased:
        tree.biased[node] -= 1
        tree.visits[new] = 1
        tree.cost[new] = rules.worst
    else:
        tree.untried[node] -= 1
    return new


@compiled
def best_child(tree: Tree, rules: Rules, node: int) -> int:
    """The child with the lowest mean; ties: more visits, then the smaller action. -1: none."""
    found, best = -1, np.inf
    more = 1 if rules.printed else 0
    child = tree.child[node]
    while child >= 0:
        visits = tree.visits[child]
        if visits > 0 and tree.closed[child] == 0:
            mean = tree.cost[child] / (visits + more)
            better = mean < best
            if found >= 0 and mean == best:
                better = visits > tree.visits[found] or (
                    visits == tree.visits[found] and tree.action[child] < tree.action[found]
                )
            if better:
                found, best = child, mean
        child = tree.sibling[child]
    return found
