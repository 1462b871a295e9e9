"""Plain sums: nothing counts but prices, streams and capacities, so that a few dense arrays say it all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from berth.policies.local_search import fields, state
from berth.policies.local_search.case import Case, FloatArray, IndexArray, Marks
from berth.policies.local_search.fields import field_of
from berth.policies.local_search.state import State

MOST_BLOCKS, MOST_NODES = 128, 64
"""Beyond, trials must be chosen by what is near, and rates between all blocks are many."""
FEWEST_STREAMS = 2.5
"""Streams for each block; with fewer, blocks have few neighbours, and it is to them that they should go."""
OTHERWISE = (fields.USES_TIME, fields.HEAVY, fields.USES_CARDS, fields.USES_AVAILABILITY, fields.PAYS_NODES)
COST, BROKEN, PENALTY, LEAST_PENALTY, MOST_PENALTY, BEST, EVALUATED = range(7)
"""Entries of `Walk.numbers`."""


class Plain(NamedTuple):
    """A case of plain sums."""

    movable: IndexArray
    allowed: Marks
    first: IndexArray
    other: IndexArray
    sends: IndexArray
    rate: FloatArray
    between: FloatArray
    distance: FloatArray
    back: FloatArray
    need: FloatArray
    limit: FloatArray
    unit: FloatArray


class Walk(NamedTuple):
    """Where blocks are, the best that was seen, what every block would cost everywhere, loads, and sums."""

    node: IndexArray
    best: IndexArray
    table: FloatArray
    load: FloatArray
    numbers: FloatArray


def plain_of(case: Case) -> Plain | None:
    """The same case in dense arrays; None: more counts, or it is large, or streams are few."""
    ints = case.ints
    blocks, nodes, resources = (
        int(ints[name]) for name in (fields.BLOCK_COUNT, fields.NODES, fields.RESOURCES)
    )
    if not ints[fields.TABLED] or ints[list(OTHERWISE)].any() or len(field_of(case, fields.APART_RULE)):
        return None
    if blocks > MOST_BLOCKS or nodes > MOST_NODES or ints[fields.FREE] < 2:
        return None
    first = field_of(case, fields.EDGE_FIRST)
    if first[-1] < 2 * FEWEST_STREAMS * blocks:
        return None
    owner, other = np.repeat(np.arange(blocks), np.diff(first)), field_of(case, fields.EDGE_OTHER)
    sends, rate = field_of(case, fields.EDGE_SENDS), field_of(case, fields.EDGE_RATE)
    between = np.zeros((blocks, blocks))
    between[owner[sends > 0], other[sends > 0]] = rate[sends > 0]
    group, begins = field_of(case, fields.GROUP), field_of(case, fields.CANDIDATE_FIRST)
    by_group = np.zeros((len(begins) - 1, nodes), dtype=np.uint8)
    by_group[np.repeat(np.arange(len(by_group)), np.diff(begins)), field_of(case, fields.CANDIDATES)] = 1
    distance = field_of(case, fields.FLOW).reshape(nodes, nodes)
    return Plain(
        movable=field_of(case, fields.MOVABLE).copy(),
        allowed=by_group[group],
        first=first.copy(),
        other=other.copy(),
        sends=sends.copy(),
        rate=rate.copy(),
        between=between,
        distance=distance.copy(),
        back=distance.T.copy(),
        need=field_of(case, fields.DEMAND).reshape(blocks, resources).copy(),
        limit=field_of(case, fields.LIMIT).reshape(nodes, resources).copy(),
        unit=field_of(case, fields.UNIT).copy(),
    )


def walk_from(plain: Plain, plan: State) -> Walk:
    """A walk that begins where a search is."""
    (blocks, nodes), resources = plain.allowed.shape, len(plain.unit)
    own, sums = plan.ints, plan.reals
    numbers = np.zeros(7)
    numbers[[COST, BROKEN, BEST]] = sums[[state.COST, state.BROKEN, state.BEST_VALUE]]
    numbers[[PENALTY, LEAST_PENALTY, MOST_PENALTY]] = sums[state.PENALTY : state.MOST_PENALTY + 1]
    node, table, load = own[state.NODE], own[state.TABLE], own[state.LOAD]
    return Walk(
        node=own[node : node + blocks].copy(),
        best=own[own[state.BEST_NODE] : own[state.BEST_NODE] + blocks].copy(),
        table=sums[table : table + blocks * nodes].reshape(blocks, nodes).copy(),
        load=sums[load : load + nodes * resources].reshape(nodes, resources).copy(),
        numbers=numbers,
    )
