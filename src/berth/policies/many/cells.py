"""Where everything that changes is, in the two flat arrays of a state: amounts and numbers.

One flat array for each kind, so that one log of cells can undo whatever was done. Loads come first, in
the same order among the amounts and in `limit`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import Setting

FloatArray = NDArray[np.float64]

MISPLACED, RULES, UNLINKED, UNFETCHED, CROSSED, MARKS = 0, 1, 2, 3, 4, 5
"""Loads that are counts of mistakes, of which none is allowed; and all bytes per second that cross links."""
BROKEN, UNPLACED, BLOCKED, FIGURES = 0, 1, 2, 3
"""How many loads are above their limit, how many wanted units have no node, the last load to exceed one."""


class Cells(NamedTuple):
    """Counts, and the first cell of each part."""

    nodes: int
    resources: int
    # loads: the first cell of each part, among the amounts and in `limit`
    busy: int
    card: int
    send: int
    receive: int
    marks: int
    capacity: int
    """By resource and node."""
    link: int
    loads: int
    """How many loads there are."""
    # other amounts
    error: int
    held: int
    crossing: int
    throughput: int
    read: int
    fetched: int
    amounts: int
    # numbers
    users: int
    node: int
    status: int
    provider: int
    uses: int
    hosted: int
    pair_from: int
    pair_to: int
    matches: int
    source: int
    figures: int
    numbers: int


def cells_of(
    *,
    nodes: int,
    resources: int,
    links: int,
    units: int,
    pairs: int,
    operators: int,
    reads: int,
    objects: int,
    matches: int,
) -> Cells:
    """The parts one after another."""
    loads = _starts(nodes, nodes, nodes, nodes, MARKS, resources * nodes, links)
    total = loads[-1]
    amounts = _starts(total, total, units * (1 + resources), pairs, operators, reads, objects * nodes)
    numbers = _starts(
        total, units, operators, operators, operators, nodes, pairs, pairs, matches, objects * nodes, FIGURES
    )
    return Cells(nodes, resources, *loads, *amounts[1:], *numbers)


def _starts(*sizes: int) -> list[int]:
    """The first cell of each part, and the end of the last."""
    return [0, *np.cumsum(sizes).tolist()]


def limits_of(setting: Setting, cells: Cells, link: NDArray[np.int64]) -> FloatArray:
    """What every load may be at most."""
    network, table = setting.problem.network, setting.problem.network.table
    limit = np.full(cells.loads, np.inf)
    limit[cells.busy : cells.card] = setting.processors
    limit[cells.card : cells.send] = network.nic_bytes_per_s
    if network.one_port:
        limit[cells.send : cells.marks] = 1.0
    limit[cells.marks : cells.marks + CROSSED] = 0.0
    for number, resource in enumerate(setting.problem.instances.resources):
        start = cells.capacity + number * cells.nodes
        limit[start : start + cells.nodes] = setting.capacity(resource)
    bound = link >= 0
    limit[cells.link + link[bound]] = np.asarray(table.physical_bandwidth)[bound]
    return limit
