"""What every block would cost on every node, kept up to date: then moves need not look at streams."""

from __future__ import annotations

from berth.policies.local_search.between import flow_between
from berth.policies.local_search.case import Case
from berth.policies.local_search.fields import (
    BLOCK_COUNT,
    EDGE_FIRST,
    EDGE_OTHER,
    EDGE_RATE,
    EDGE_SENDS,
    FLOW,
    FLOW_BACK,
    NODES,
)
from berth.policies.local_search.inner import inner
from berth.policies.local_search.prices import price_of
from berth.policies.local_search.state import NODE, PENDING, TABLE, TRIAL_BLOCK, TRIAL_NODE, State


@inner
def empty_table(case: Case, state: State) -> None:
    """Nothing is placed: there are only prices."""
    ints = case.ints
    own, sums = state.ints, state.reals
    for block in range(ints[BLOCK_COUNT]):
        for node in range(ints[NODES]):
            sums[own[TABLE] + block * ints[NODES] + node] = price_of(case, block, node)


@inner
def table_cost(case: Case, state: State, block: int, node: int) -> float:
    """A block's price and streams, were it on a node: the table's, with the moves of the trial so far."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    cost = sums[own[TABLE] + block * ints[NODES] + node]
    for step in range(own[PENDING]):
        moved, was = own[own[TRIAL_BLOCK] + step], own[own[TRIAL_NODE] + step]
        now = own[own[NODE] + moved]
        for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
            if ints[ints[EDGE_OTHER] + edge] == moved:
                if ints[ints[EDGE_SENDS] + edge]:
                    change = flow_between(case, node, now) - flow_between(case, node, was)
                else:
                    change = flow_between(case, now, node) - flow_between(case, was, node)
                cost += reals[ints[EDGE_RATE] + edge] * change
    return float(cost)


@inner
def follow_table(case: Case, state: State, block: int, was: int) -> None:
    """A block has moved, from a node or from none: its neighbours' rows follow."""
    ints, reals = case.ints, case.reals
    own, sums = state.ints, state.reals
    nodes, now = ints[NODES], own[own[NODE] + block]
    for edge in range(ints[ints[EDGE_FIRST] + block], ints[ints[EDGE_FIRST] + block + 1]):
        flow = ints[FLOW] if ints[ints[EDGE_SENDS] + edge] else ints[FLOW_BACK]
        rate, row = reals[ints[EDGE_RATE] + edge], own[TABLE] + ints[ints[EDGE_OTHER] + edge] * nodes
        added = reals[flow + now * nodes : flow + (now + 1) * nodes]
        costs = sums[row : row + nodes]
        if was < 0:
            for node in range(nodes):
                costs[node] += rate * added[node]
        else:
            taken = reals[flow + was * nodes : flow + (was + 1) * nodes]
            for node in range(nodes):
                costs[node] += rate * (added[node] - taken[node])
