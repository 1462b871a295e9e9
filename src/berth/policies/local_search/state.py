"""A plan in the search: where blocks are, what they load, and what it adds up to. Two arrays, as a case."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from berth.policies.local_search import fields
from berth.policies.local_search.case import Case, FloatArray, IndexArray

COST, LOG_AVAILABILITY, BROKEN, TIME, LOADED, BUSIEST = range(6)
TOTALS = 6
"""Numbers in `State.reals`: the sums of a plan, what it breaks, and its times."""
PENALTY, LEAST_PENALTY, MOST_PENALTY, COST_WEIGHT, BEST_VALUE, BEST_BROKEN, EVALUATED = range(6, 13)
"""Numbers in `State.reals`: prices of broken constraints and of the value; the best plan; moves evaluated."""
(
    NODE,
    AFTER,
    BEFORE,
    LISTED,
    MARKED,
    HOSTED,
    FIRST,
    DIRTY,
    SLOWEST,
    BEST_NODE,
    CRITICAL,
    TRIAL_BLOCK,
    TRIAL_NODE,
    MOVED,
    UNDO,
) = range(15)
"""Fields of whole numbers, by block, node, instance or application; -1 is no block and no node."""
(
    LOAD,
    CARD_USED,
    SENDING,
    RECEIVING,
    LINK_LOAD,
    DONE,
    REST,
    QUEUED,
    QUEUED_REST,
    UNDO_DONE,
    LOG_SUM,
    LONGEST,
    TRIAL_LOGARITHM,
    TRIAL_SAVED,
    TABLE,
) = range(15, 30)
"""Fields of other numbers."""
FIELDS = 30
WORST, TOUCHED, PENDING = range(30, 33)
SINGLE = 3
"""Numbers in `State.ints`: the application with the longest path, how many blocks have moved, and how many
moves of a trial are made."""
LARGEST = 16
"""Moves of a trial at most."""
LONGEST_PATH = 4_096


class State(NamedTuple):
    """Everything that follows from the blocks' nodes, kept up to date with every move."""

    ints: IndexArray
    reals: FloatArray


def new_state(case: Case) -> State:
    """Nothing is placed."""
    blocks, nodes, instances, applications, resources = (
        int(case.ints[name])
        for name in (
            fields.BLOCK_COUNT,
            fields.NODES,
            fields.INSTANCES,
            fields.APPLICATIONS,
            fields.RESOURCES,
        )
    )
    links = len(fields.field_of(case, fields.BANDWIDTH))
    whole = [blocks] * 5 + [nodes] * 2 + [instances, applications, blocks, LONGEST_PATH, LARGEST, LARGEST]
    whole += [instances] * 2
    real = [
        nodes * resources,
        nodes,
        nodes,
        nodes,
        links,
        *[instances] * 5,
        *[applications] * 2,
        LARGEST,
        TOTALS,
        blocks * nodes if case.ints[fields.TABLED] else 0,
    ]
    starts = np.concatenate([_starts(FIELDS + SINGLE, whole), _starts(13, real)])
    ints = np.zeros(FIELDS + SINGLE + sum(whole), dtype=np.int64)
    ints[:FIELDS] = starts
    for field, size in (
        (NODE, blocks),
        (AFTER, blocks),
        (BEFORE, blocks),
        (FIRST, nodes),
        (BEST_NODE, blocks),
    ):
        ints[ints[field] : ints[field] + size] = -1
    return State(ints, np.zeros(13 + sum(real)))


def _starts(head: int, sizes: list[int]) -> IndexArray:
    return head + np.cumsum([0, *sizes[:-1]])
