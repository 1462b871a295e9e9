"""A bound for any graph: no plan is faster than the best one for the operators of a single path."""

from __future__ import annotations

import numpy as np

from berth.exact.placement import Placement
from berth.exact.structure.shape import Pipeline

MOST_BLOCKS, MOST_PLACES = 30, 60
"""Beyond this, a path alone may take longer than it helps."""


def demanding_path(placement: Placement) -> Pipeline | None:
    """The path whose operators need most room, so that it has to change nodes most; None: it is too long.

    Blocks of several instances are left out: what is between two of them is no whole path, but part of one.
    """
    graph = placement.graph
    size = np.full(len(placement.blocks), 1e-6)
    for limit in placement.limits:
        if limit.of.grows:
            most = float(limit.of.room.max(initial=0.0))
            size = np.maximum(size, limit.needed / most if most > 0 else 0.0)
    alone = [len(numbers) == 1 for numbers in placement.blocks]
    senders: dict[int, list[int]] = {}
    for one, other in zip(graph.pair_sender.tolist(), graph.pair_receiver.tolist(), strict=True):
        senders.setdefault(int(placement.block_of[other]), []).append(int(placement.block_of[one]))
    length, before = np.zeros(len(placement.blocks)), np.full(len(placement.blocks), -1)
    for operator in graph.operator_order:
        for instance in graph.operators[operator].instances:
            block = int(placement.block_of[instance])
            if not alone[block]:
                continue
            for sender in senders.get(block, ()):
                if alone[sender] and length[sender] > length[block]:
                    length[block], before[block] = length[sender], sender
            length[block] += size[block]
    path = [int(np.argmax(length))]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    places = len(np.unique(np.concatenate([placement.candidates[block] for block in path])))
    if not alone[path[0]] or len(path) < 2 or len(path) > MOST_BLOCKS or places > MOST_PLACES:
        return None
    return Pipeline(tuple(reversed(path)))
