"""Monte Carlo tree search for a packing (paper 001, algorithms 1 and 2; with its errata repaired)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from berth.budget import Budget
from berth.core import packing as core
from berth.model.arrays import IndexArray
from berth.policies.two_stage.packing import Packing, case_of
from berth.policies.two_stage.polish import polished

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
    bound = packing.bound or 1.0
    tree = core.TreeSearch(
        case,
        seed,
        samples=samples,
        attempts=ATTEMPTS * samples,
        patience=PATIENCE * samples,
        exploration=exploration,
        unit=1.0 if printed else bound,
        worst=bound if printed else 1.0,
        all_traffic=float(packing.traffic.sum()),
        farthest=packing.farthest,
        printed=printed,
        most_nodes=min(2 * samples * case.items + 2, LARGEST_TREE),
    )
    at_once = max(1, STEPS_AT_ONCE // (case.items * case.bins * case.kinds))
    early: IndexArray | None = None
    goes_on = True
    while goes_on and tree.rounds < case.items and not (tree.rounds and budget.over):
        while tree.sample(at_once) and not budget.over:
            pass
        early = _bins(tree.best, kind) if early is None else early
        goes_on = tree.decide()
    leaf = _bins(tree.best, kind)
    committed = _bins(tree.decided, kind)
    starts = [bins for bins in (early, leaf, committed) if bins is not None] if polish else []
    figures = {"nodes": tree.nodes, "rollouts": tree.roll_outs, "dead_ends": tree.dead_ends}
    cut_short = tree.rounds < case.items and goes_on
    return Found(committed, leaf, _best_polished(packing, starts), tree.rounds, figures, cut_short)


def _best_polished(packing: Packing, maps: list[IndexArray]) -> IndexArray | None:
    """The best of what local steps make of these maps."""
    best: IndexArray | None = None
    for bins in {bins.tobytes(): bins for bins in maps}.values():
        found = polished(packing, bins)
        if best is None or packing.better(found, best):
            best = found
    return best


def _bins(path: NDArray[np.int64], kind: IndexArray) -> IndexArray | None:
    """The bin of every item: of each kind, the first item goes where the first one of its kind went.

    None: not all of them have one.
    """
    if len(path) < len(kind):
        return None
    found = np.empty(len(kind), dtype=np.intp)
    found[np.argsort(kind, kind="stable")] = path[np.argsort(path[:, 0], kind="stable"), 1]
    return found
