"""Failovers by local search: soon good, for plans of any size and whoever made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from berth.core import engine
from berth.engine.case import case_of, sizes_of_blocks
from berth.evaluation import Setting
from berth.exact.placement import Placement
from berth.exact.survival.failovers import FASTEST
from berth.model import Loss

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

REPAIRS = (0.3, 1.0, 3.0)
"""How hot one repair after the other begins: so many units too many are taken lightly."""
HOT, COLD = 0.2, 4e-3
"""Temperatures of the search for a fast one, as shares of what a move changes on average."""
STEPS, MOST_STEPS = 300, 20_000
"""For each block that moves, in a repair or in the search for a fast one, and in all."""
SAMPLE = 200
"""Moves from which the temperatures are learnt."""


@dataclass(frozen=True, eq=False)
class Survivors:
    """A plan after a loss, as a placement of what is left: what has to move is free, the rest stays."""

    loss: Loss
    placement: Placement
    nodes: IndexArray
    """The node of each block in the failover that was found."""
    whole: bool
    """Whether it breaks nothing, as far as the engine can see."""
    moves: dict[str, str]


def search_failover(
    setting: Setting, loss: Loss, nodes: IndexArray, seed: int, known: Mapping[str, str] | None = None
) -> Survivors | None:
    """Where everything goes that has to move after a loss; None where some of it has no node at all.

    The same seed gives the same failover.

    Args:
        setting: what plans are judged in.
        loss: what is lost.
        nodes: the node of each instance before.
        seed: of the search.
        known: a failover that is known already; what is found is no worse.
    """
    if len(loss.kept) == 0:
        return None
    left = loss.left
    staying = nodes[loss.kept]
    moving = np.isin(staying, loss.nodes)
    placement = Placement(
        Setting(left, occupied=setting.occupied), staying=np.where(moving, -1, staying), prune=False
    )
    case = case_of(placement, FASTEST)
    if (case.choices == 0).any():
        return None
    search = engine.Search(case, seed)
    free = case.choices > 1
    order = np.argsort(np.where(free, -sizes_of_blocks(placement), -np.inf), kind="stable")
    search.place_in_order(order, np.full(len(order), -1, dtype=np.int64))
    if known is not None:
        search.go_to(_with_moves(placement, loss, search.best_nodes, known))
    steps = int(min(STEPS * free.sum(), MOST_STEPS))
    for heat in REPAIRS:
        if not search.best_whole and steps:
            _cycle(search, heat, 0.02, steps, until_whole=True)
    if search.best_whole and steps:
        mean = search.typical_change(SAMPLE) or 1.0
        search.go_to_best()
        _cycle(search, HOT * mean, COLD * mean, steps, mean)
    machines, names = loss.of.network.nodes, loss.of.instances.names
    found = search.best_nodes.astype(np.intp)
    after = placement.nodes_of_instances(found)
    moves = {
        names[loss.kept[number]]: machines[after[number]].name for number in np.flatnonzero(moving).tolist()
    }
    return Survivors(loss, placement, found, search.best_whole, moves)


def _with_moves(
    placement: Placement, loss: Loss, blocks: NDArray[np.int64], moves: Mapping[str, str]
) -> NDArray[np.int64]:
    """The nodes of blocks after these moves."""
    index, names = loss.of.network.index, placement.graph.names
    goals = [moves.get(names[instances[0]]) for instances in placement.blocks]
    return np.array(
        [node if goal is None else index[goal] for node, goal in zip(blocks.tolist(), goals, strict=True)]
    )


def _cycle(
    search: engine.Search, hot: float, cold: float, length: int, mean: float = 1.0, until_whole: bool = False
) -> None:
    value, price, least, most = (0.0, 1.0, 1.0, 1.0) if until_whole else (1.0, 2.0, 0.01, 1e6)
    search.begin_cycle(
        hot=hot,
        cold=cold,
        length=length,
        period=50,
        until_whole=until_whole,
        value_price=value,
        broken_price=price * mean,
        least_price=least * mean,
        most_price=most * mean,
    )
    while not search.cycle_over:
        search.run(length)
