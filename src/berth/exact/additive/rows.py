"""Blocks in a row whose streams all cost the same: the methods for pipelines know these."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from berth.exact.additive.rest import IndexArray
from berth.exact.additive.tables import Tables
from berth.exact.structure.chain import Chain


@dataclass(frozen=True, eq=False)
class Row:
    """The blocks in order, and what a pipeline of them costs."""

    blocks: IndexArray
    chain: Chain


def row_of(tables: Tables) -> Row | None:
    """The row that the blocks form; None: none, or streams that cost different amounts."""
    order = _order(tables)
    if order is None or (tables.group != np.arange(len(tables.nodes))).any():
        return None
    edge_at = {tuple(ends): number for number, ends in enumerate(tables.ends.tolist())}
    steps = []
    for one, other in pairwise(order):
        number = edge_at.get((one, other))
        steps.append(tables.pair[number] if number is not None else tables.pair[edge_at[other, one]].T)
    step = steps[0]
    equal = all(np.array_equal(step, item) for item in steps[1:])
    if not equal or step.min() < 0 or tables.cost.min() < 0 or np.diagonal(step).any():
        return None
    cost = np.where(tables.allowed, tables.cost, np.inf)[order]
    chain = Chain(
        tables.nodes,
        cost,
        np.where(step >= tables.beyond, np.inf, step),
        np.ascontiguousarray(tables.demand[:, order]),
        tables.limit.copy(),
    )
    return Row(np.array(order, dtype=np.intp), chain)


def _order(tables: Tables) -> list[int] | None:
    blocks = len(tables.cost)
    beside: list[list[int]] = [[] for _ in range(blocks)]
    for first, second in tables.ends.tolist():
        beside[first].append(second)
        beside[second].append(first)
    ends = [block for block in range(blocks) if len(beside[block]) == 1]
    if len(ends) != 2 or max(map(len, beside)) > 2:
        return None
    order = [ends[0]]
    while len(order) < blocks:
        following = [block for block in beside[order[-1]] if len(order) < 2 or block != order[-2]]
        if not following:
            return None
        order.append(following[0])
    return order
