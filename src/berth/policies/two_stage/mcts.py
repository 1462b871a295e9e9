"""Monte Carlo tree search for a packing (paper 001, algorithms 1 and 2; with its errata repaired)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from berth.budget import Budget
from berth.policies.two_stage.mcts_case import IndexArray, Packing, case_of
from berth.policies.two_stage.mcts_polish import polished
from berth.policies.two_stage.mcts_rollout import advance
from berth.policies.two_stage.mcts_round import sample_round
from berth.policies.two_stage.mcts_state import new_state
from berth.policies.two_stage.mcts_tree import (
    DEAD_ENDS,
    DONE,
    NODES,
    ROLL_OUTS,
    Rules,
    Tree,
    best_child,
    new_tree,
)

LARGEST_TREE = 1_000_000
"""Nodes; beyond, roll-outs start from the nodes that there are."""
STEPS_AT_ONCE = 10_000_000
"""After about so many steps, a small fraction of a second, dead ends or not, the search looks at the time."""
ATTEMPTS = 10
"""A round ends after so many times its samples in dead ends in a row."""
PATIENCE = 2
"""Once a map is known, it ends after so many times its samples in dead ends altogether."""


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found."""

    committed: IndexArray | None
    """The bin of every item by the decisions round by round; None: they ended in a dead end."""
    best_leaf: IndexArray | None
    """The best of all maps that were seen; None: all roll-outs were dead ends."""
    polished: IndexArray | None
    """The best of what local steps make of such maps; None: not asked for, or no map was seen."""
    rounds: int
    figures: dict[str, Any]
    """Nodes, roll-outs and dead ends."""
    cut_short: bool
    """Whether the time was over before the last round."""


def search(
    packing: Packing,
    seed: int,
    *,
    samples: int,
    exploration: float,
    symmetry: bool,
    printed: bool,
    polish: bool,
    budget: Budget,
) -> Found:
    """Decide one item after another, each after so many samples; the tree is kept between the rounds.

    With `polish`, local steps start from the best map of the first round, the best of all and the committed
    one. The tree doesn't hear of it.
    """
    case, kind = case_of(packing, symmetry, near=not printed)
    items, bins = len(kind), len(case.room)
    bound = packing.bound or 1.0
    rules = Rules(
        samples,
        ATTEMPTS * samples,
        PATIENCE * samples,
        exploration,
        1.0 if printed else bound,
        bound if printed else 1.0,
        float(packing.traffic.sum()),
        packing.farthest,
        printed,
    )
    root, state = new_state(case, seed), new_state(case, seed)
    tree = new_tree(case, min(2 * samples * items + 2, LARGEST_TREE))
    at_once = max(1, STEPS_AT_ONCE // (items * bins * len(case.members)))
    early: IndexArray | None = None
    node, rounds = 0, 0
    while rounds < items and not (rounds and budget.over):
        tree.numbers[DONE:] = 0
        while sample_round(case, root, state, tree, rules, node, at_once) and not budget.over:
            pass
        if early is None and tree.best[0, 0] >= 0:
            early = _bins(tree.best, kind)
        node = int(best_child(tree, rules, node))
        if node < 0:
            break
        advance(case, root, int(tree.action[node]) // bins, int(tree.action[node]) % bins)
        rounds += 1
    leaf = None if tree.best[0, 0] < 0 else _bins(tree.best, kind)
    committed = _bins(root.path, kind) if rounds == items else None
    starts = [bins for bins in (early, leaf, committed) if bins is not None] if polish else []
    better = _best_polished(packing, starts)
    return Found(committed, leaf, better, rounds, _figures(tree), rounds < items and node >= 0)


def _best_polished(packing: Packing, maps: list[IndexArray]) -> IndexArray | None:
    """The best of what local steps make of these maps."""
    best: IndexArray | None = None
    for bins in {bins.tobytes(): bins for bins in maps}.values():
        found = polished(packing, bins)
        if best is None or packing.better(found, best):
            best = found
    return best


def _figures(tree: Tree) -> dict[str, Any]:
    return {
        "nodes": int(tree.numbers[NODES]),
        "rollouts": int(tree.numbers[ROLL_OUTS]),
        "dead_ends": int(tree.numbers[DEAD_ENDS]),
    }


def _bins(path: IndexArray, kind: IndexArray) -> IndexArray:
    """The bin of every item: of each kind, the first item goes where the first one of its kind went."""
    found = np.empty(len(kind), dtype=np.intp)
    found[np.argsort(kind, kind="stable")] = path[np.argsort(path[:, 0], kind="stable"), 1]
    return found
