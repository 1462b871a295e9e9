"""A plan in the search: where blocks are, what that loads, and what it adds up to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from berth.policies.local_search.case import Case, FloatArray, IndexArray, Marks

COST, LOG_AVAILABILITY, BROKEN, TIME, LOADED, BUSIEST = range(6)
"""Positions in `State.totals`."""
TOTALS = 6
WORST, TOUCHED, SLOWEST = range(3)
"""Positions in `State.numbers`: the application with the longest path, how many blocks are noted as moved
and, for each application, the instance where its longest path ends."""
AFTER, BEFORE = range(2)
"""Columns of `State.chain`."""
LISTED, MARKED = range(2)
"""Columns of `State.noted`."""
HOSTED, FIRST = range(2)
"""Columns of `State.place`."""
CARD_USED, SENDING, RECEIVING = range(3)
"""Columns of `State.wire`."""
DONE, REST, QUEUED = range(3)
"""Columns of `State.times`."""
LOG_SUM, LONGEST = range(2)
"""Columns of `State.application`."""


class State(NamedTuple):
    """Everything that follows from the blocks' nodes, kept up to date with every move."""

    node: IndexArray
    """Of each block; -1: not placed."""
    chain: IndexArray
    """The blocks after and before each on its node."""
    noted: IndexArray
    """The blocks that were moved since the best plan was noted, and whether each is among them."""
    place: IndexArray
    """Of each node: instances, and the first block."""
    load: FloatArray
    """[nodes, resources]."""
    wire: FloatArray
    """Of each node: bytes over its card, and shares of links that it sends and receives by."""
    link_load: FloatArray
    times: FloatArray
    """Of each instance: when it is done, how long its results go on, when it is done with queues."""
    dirty: Marks
    application: FloatArray
    """Of each: the logarithm of its availability, and its longest path."""
    totals: FloatArray
    numbers: IndexArray


def new_state(case: Case, applications: int) -> State:
    """Nothing is placed."""
    return State(
        node=np.full(case.block_count, -1, dtype=np.int64),
        chain=np.full((case.block_count, 2), -1, dtype=np.int64),
        noted=np.zeros((case.block_count, 2), dtype=np.int64),
        place=np.tile(np.array([0, -1], dtype=np.int64), (case.nodes, 1)),
        load=np.zeros((case.nodes, case.resources)),
        wire=np.zeros((case.nodes, 3)),
        link_load=np.zeros(len(case.bandwidth)),
        times=np.zeros((case.instances, 3)),
        dirty=np.zeros(case.instances, dtype=np.uint8),
        application=np.zeros((applications, 2)),
        totals=np.zeros(TOTALS),
        numbers=np.zeros(SLOWEST + applications, dtype=np.int64),
    )
