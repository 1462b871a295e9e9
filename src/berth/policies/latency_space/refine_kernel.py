"""Better nodes by measured delays of a few near ones: the compiled search.

Units are in the problem's numbers, nodes in the numbers of a small selection. A delay between two nodes
costs a probe unless it is known: because two units exchange a stream over it, or from an earlier probe.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.policies.latency_space.probing import Nodes, Streams, measure, usage_at
from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

LESS = 1.0 - 1e-9
"""A gain is more than rounding."""


class Units(NamedTuple):
    """Units that look for nodes."""

    movable: BoolArray
    """Those that may move."""
    host: IndexArray
    """Their nodes; changed."""
    near: IndexArray
    """For each unit the nodes that it may try, -1 where there are no more."""
    may_host: BoolArray
    """Whether a unit may ever be on a node [units, nodes]."""
    demand: FloatArray
    instances: IndexArray
    """How many instances a unit has."""


class Effort(NamedTuple):
    """How hard to try."""

    most_nodes: int
    """Nodes that are probed in a try."""
    most_tries: int
    """Tries of a unit."""
    doubt: float
    """Nodes are probed whose estimated usage is at most 1 + this x the present one; what is not yet measured
    counts with 1 - this of its estimate."""
    squared: bool
    """Usage by squared delays."""


@compiled
def _gather(
    streams: Streams, units: Units, unit: int, together: bool, members: IndexArray, inside: BoolArray
) -> int:
    """The unit alone or, together, with all movable ones at its node that it hangs together with."""
    members[0] = unit
    inside[unit] = True
    count, k = 1, 0
    while together and k < count:
        for at in range(streams.offsets[members[k]], streams.offsets[members[k] + 1]):
            other = streams.neighbours[at]
            if units.movable[other] and not inside[other] and units.host[other] == units.host[unit]:
                inside[other] = True
                members[count] = other
                count += 1
        k += 1
    return count


@compiled
def _choices(
    streams: Streams, units: Units, nodes: Nodes, members: IndexArray, inside: BoolArray, needed: FloatArray
) -> IndexArray:
    """The nodes that a group may try: near ones and its neighbours' that may host it and have room."""
    listed = np.zeros(len(nodes.places), dtype=np.bool_)
    listed[units.host[members[0]]] = True
    found = np.empty(len(nodes.places), dtype=np.intp)
    count = 0
    for member in members:
        first, last = streams.offsets[member], streams.offsets[member + 1]
        for k in range(last - first + units.near.shape[1]):
            if k < last - first:
                other = streams.neighbours[first + k]
                node = -1 if inside[other] else units.host[other]
            else:
                node = units.near[member, k - (last - first)]
            if node < 0 or listed[node]:
                continue
            listed[node] = True
            fits = True
            for mate in members:
                fits = fits and units.may_host[mate, node]
            for column in range(len(needed)):
                fits = fits and nodes.room[node, column] >= needed[column]
            if fits:
                found[count] = node
                count += 1
    return found[:count]


@compiled
def _better_node(
    streams: Streams, units: Units, nodes: Nodes, effort: Effort, members: IndexArray, inside: BoolArray
) -> int:
    """The best of the nodes that a group tries; -1: it is on the best one."""
    host, present = units.host, units.host[members[0]]
    needed = np.zeros(units.demand.shape[1])
    for member in members:
        for column in range(len(needed)):
            needed[column] += units.demand[member, column]
        for at in range(streams.offsets[member], streams.offsets[member + 1]):
            if not inside[streams.neighbours[at]]:
                measure(nodes, present, host[streams.neighbours[at]])
    lowest, _ = usage_at(streams, host, nodes, members, inside, present, 0.0, effort.squared)
    choices = _choices(streams, units, nodes, members, inside, needed)
    estimates = np.empty(len(choices))
    open_ones = np.ones(len(choices), dtype=np.bool_)
    for k in range(len(choices)):
        estimates[k], _ = usage_at(streams, host, nodes, members, inside, choices[k], 0.0, effort.squared)
    best = -1
    for _ in range(min(len(choices), effort.most_nodes)):
        chosen = -1
        for k in range(len(choices)):
            if open_ones[k] and (chosen < 0 or estimates[k] < estimates[chosen]):
                chosen = k
        open_ones[chosen] = False
        node = choices[chosen]
        if lowest <= 0.0 or estimates[chosen] > lowest * (1.0 + effort.doubt):
            break
        while True:
            # Measure what matters most, until all is known or it can't be better any more.
            usage, heaviest = usage_at(
                streams, host, nodes, members, inside, node, effort.doubt, effort.squared
            )
            if heaviest < 0 and usage < lowest * LESS:
                best, lowest = node, usage
            if heaviest < 0 or usage >= lowest:
                break
            measure(nodes, node, heaviest)
    return best


@compiled
def refine(streams: Streams, units: Units, nodes: Nodes, effort: Effort, first: IndexArray) -> int:
    """Move units, alone or with all that share their node, to nodes where measured usage is lower.

    The `first` ones try first; what moves tries again, and so do its neighbours. Returns the moves of
    instances.
    """
    size = len(units.host)
    moves = 0
    inside = np.zeros(size, dtype=np.bool_)
    members = np.empty(size, dtype=np.intp)
    tries = np.zeros(size, dtype=np.intp)
    queue = np.empty(size + 1, dtype=np.intp)
    queued = np.zeros(size, dtype=np.bool_)
    head, count = 0, 0
    for unit in first:
        if units.movable[unit] and not queued[unit]:
            queue[count] = unit
            queued[unit] = True
            count += 1
    while count:
        unit = queue[head]
        head = (head + 1) % (size + 1)
        count -= 1
        queued[unit] = False
        if tries[unit] >= effort.most_tries:
            continue
        tries[unit] += 1
        best = -1
        for together in (False, True):
            for k in range(size):
                inside[k] = False
            group = members[: _gather(streams, units, unit, together, members, inside)]
            if best >= 0 or (together and len(group) == 1):
                break
            best = _better_node(streams, units, nodes, effort, group, inside)
            if best < 0:
                continue
            for member in group:
                moves += units.instances[member]
                for column in range(units.demand.shape[1]):
                    nodes.room[units.host[member], column] += units.demand[member, column]
                    nodes.room[best, column] -= units.demand[member, column]
                units.host[member] = best
            for member in group:
                for at in range(streams.offsets[member] - 1, streams.offsets[member + 1]):
                    # Itself, and then its neighbours.
                    other = member if at < streams.offsets[member] else streams.neighbours[at]
                    if units.movable[other] and not queued[other]:
                        queue[(head + count) % (size + 1)] = other
                        queued[other] = True
                        count += 1
    return moves
