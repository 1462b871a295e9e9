"""One round of samples: down the tree, out to a whole map, and back with what it costs."""

from __future__ import annotations

import numpy as np

from berth.policies.two_stage.mcts_case import EQUAL, Case, FloatArray, IndexArray
from berth.policies.two_stage.mcts_rollout import ROLL_OUT, advance, crossing_of
from berth.policies.two_stage.mcts_state import HOPELESS, OPENED, PLACED, PLAIN, PREFERRED, State, restore
from berth.policies.two_stage.mcts_tree import (
    DEAD,
    DEAD_ENDS,
    DONE,
    FAILED,
    NODES,
    NOT_YET,
    ROLL_OUTS,
    Rules,
    Tree,
    expand,
    lowest_bound,
)
from berth.space.compiled import compiled

SMALLEST = 1e-300


@compiled
def sample_round(
    case: Case, root: State, state: State, tree: Tree, rules: Rules, start: int, most: int
) -> bool:
    """At most so many roll-outs of a round from a node; whether there are more to come.

    A round ends with its samples, or where dead ends end it.
    """
    # the printed form stops before the root
    first = 1 if rules.printed else 0
    numbers = tree.numbers
    for _ in range(most):
        over = numbers[DONE] >= rules.samples or numbers[FAILED] >= rules.attempts
        if over or tree.closed[start] != 0:
            return False
        if numbers[DEAD] >= rules.patience and tree.lowest[0] < np.inf and not rules.printed:
            return False
        restore(state, root)
        depth = _descend(case, state, tree, rules, start)
        numbers[ROLL_OUTS] += 1
        cost = np.inf
        whole = state.numbers[PLACED] == len(state.path)
        if depth >= 0:
            # with plain literals it would be compiled once more, and not be faster
            advance(case, state, int(np.intp(ROLL_OUT)), int(np.intp(0)))
            if state.numbers[PLACED] == len(state.path):
                cost = _judge(case, state, tree, rules)
        if cost < np.inf and (cost > 0.0 or not rules.printed):
            numbers[DONE] += 1
            numbers[FAILED] = 0
            _back(tree.visits, tree.cost, tree.way, first, depth, cost / rules.unit)
        else:
            numbers[FAILED] += 1
            numbers[DEAD] += 1
            numbers[DEAD_ENDS] += 1
            if whole and cost == np.inf:
                tree.closed[tree.way[depth]] = 1
            if not rules.printed:
                _back(tree.visits, tree.cost, tree.way, first, depth, rules.worst)
    return True


@compiled
def _judge(case: Case, state: State, tree: Tree, rules: Rules) -> float:
    """What a whole map costs; the best one is kept, of equal ones that with less of what doesn't count."""
    crossing = crossing_of(case, state, rules.total)
    opened = state.numbers[OPENED]
    cost = case.per_traffic * crossing + case.per_bin * opened if crossing < np.inf else np.inf
    rest = crossing / max(rules.farthest, SMALLEST) + opened / len(state.used)
    margin = EQUAL * rules.unit * rules.worst
    better = cost < tree.lowest[0] - margin
    if better or (cost <= tree.lowest[0] + margin and rest < tree.lowest[1] * (1.0 - EQUAL)):
        tree.lowest[0] = cost
        tree.lowest[1] = rest
        for step in range(len(state.path)):
            tree.best[step, 0] = state.path[step, 0]
            tree.best[step, 1] = state.path[step, 1]
    return cost


@compiled
def _back(
    visits: IndexArray, cost: FloatArray, way: IndexArray, first: int, depth: int, value: float
) -> None:
    """Tell the nodes of a descent what it cost."""
    for level in range(first, depth + 1):
        visits[way[level]] += 1
        cost[way[level]] += value


@compiled
def _descend(case: Case, state: State, tree: Tree, rules: Rules, start: int) -> int:
    """Go down to a new node, or to a whole map; the depth, or -1 where there is no way on."""
    node, depth = start, 0
    tree.way[0] = start
    bins = len(case.room)
    while state.numbers[PLACED] < len(state.path):
        if state.numbers[HOPELESS] > 0:
            tree.closed[node] = 1
            return -1
        if tree.untried[node] == NOT_YET:
            # those with a score come first if there are any, else all
            plain, preferred = state.counts[bins, PLAIN - 1], state.counts[bins, PREFERRED - 1]
            tree.untried[node] = preferred if preferred > 0 else plain
            tree.biased[node] = plain if preferred > 0 else 0
        expands = tree.untried[node] > 0
        following = -1
        if not expands:
            following = lowest_bound(tree, rules, node)
            if following == -1:
                tree.closed[node] = 1
                return -1
            expands = following == -2
        if expands:
            if tree.numbers[NODES] == len(tree.visits):
                return depth
            following = expand(case, state, tree, rules, node)
        advance(case, state, tree.action[following] // bins, tree.action[following] % bins)
        node, depth = following, depth + 1
        tree.way[depth] = node
        if expands:
            return depth
    return depth
