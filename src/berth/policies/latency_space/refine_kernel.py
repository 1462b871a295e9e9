"""Better nodes by measured delays of a few near ones: the compiled search.

Units are in the problem's numbers, nodes in the numbers of a small selection. A delay between two nodes
costs a probe unless it is known: because two units exchange a stream over it, or from an earlier probe.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

NO_LINK = 1e300
"""What a stream between two nodes without a link costs: more than any usage."""
LESS = 1.0 - 1e-9
"""A gain is more than rounding."""


@njit(cache=True)
def _estimate(
    places: FloatArray, extra: FloatArray, remembered: FloatArray, here: int, there: int
) -> tuple[float, bool]:
    """A delay as it was measured before, or else by coordinates; and which of the two it is."""
    if len(remembered) and not math.isnan(remembered[here, there]):
        return float(remembered[here, there]), True
    square = 0.0
    for axis in range(places.shape[1]):
        square += (places[here, axis] - places[there, axis]) ** 2
    return float(max(math.sqrt(square) + extra[here] + extra[there], 0.0)), False


@njit(cache=True)
def _measured(
    at: int,
    here: int,
    there: int,
    forward: FloatArray,
    backward: FloatArray,
    sends: BoolArray,
    receives: BoolArray,
    delays: FloatArray,
    squared: bool,
) -> float:
    """What a unit's streams with one neighbour cost between two nodes."""
    total = 0.0
    if sends[at]:
        delay = delays[here, there]
        if math.isnan(delay):
            total += NO_LINK
        else:
            total += forward[at] * (delay * delay if squared else delay)
    if receives[at]:
        delay = delays[there, here]
        if math.isnan(delay):
            total += NO_LINK
        else:
            total += backward[at] * (delay * delay if squared else delay)
    return total


@njit(cache=True)
def refine(
    offsets: IndexArray,
    neighbours: IndexArray,
    forward: FloatArray,
    backward: FloatArray,
    sends: BoolArray,
    receives: BoolArray,
    movable: BoolArray,
    first: IndexArray,
    host: IndexArray,
    near: IndexArray,
    may_host: BoolArray,
    demand: FloatArray,
    room: FloatArray,
    places: FloatArray,
    extra: FloatArray,
    delays: FloatArray,
    remembered: FloatArray,
    known: BoolArray,
    most_nodes: int,
    most_tries: int,
    doubt: float,
    squared: bool,
) -> tuple[int, int, int]:
    """Move units, alone or with all that share their node, to nodes where measured usage is lower.

    Args:
        offsets: with the next five, the units' streams.
        neighbours: see there.
        forward: see there.
        backward: see there.
        sends: see there.
        receives: see there.
        movable: the units that may move.
        first: those of them that try first; neighbours of what moves follow.
        host: the units' nodes; changed.
        near: for each unit the nodes that it may try, -1 behind the last.
        may_host: whether a unit may ever be on a node [units, nodes].
        demand: what units need of each resource.
        room: what nodes have left of it; changed.
        places: the nodes' positions.
        extra: what each node's delays are longer than distances say, half of it.
        delays: between the nodes, as measured; NaN: no link.
        remembered: delays as they were measured for earlier plans, NaN elsewhere; empty: none.
        known: the delays that are known already; changed.
        most_nodes: so many nodes are probed in a try.
        most_tries: so often may a unit try.
        doubt: nodes are probed whose estimated usage is at most 1 + this x the present one; what is not yet
            measured counts with 1 - this of its estimate.
        squared: usage by squared delays.

    Returns:
        Probes, moves and tries.
    """
    size, count_nodes = len(offsets) - 1, len(places)
    probes, moves, steps = 0, 0, 0
    inside = np.zeros(size, dtype=np.bool_)
    members = np.empty(size, dtype=np.intp)
    tried = np.zeros(size, dtype=np.intp)
    queue = np.empty(size + 1, dtype=np.intp)
    queued = np.zeros(size, dtype=np.bool_)
    listed = np.zeros(count_nodes, dtype=np.bool_)
    nodes = np.empty(count_nodes, dtype=np.intp)
    estimates = np.empty(count_nodes)
    needed = np.empty(demand.shape[1])
    head, count = 0, 0
    for unit in first:
        if movable[unit] and not queued[unit]:
            queue[count] = unit
            queued[unit] = True
            count += 1
    while count:
        unit = queue[head]
        head = (head + 1) % (size + 1)
        count -= 1
        queued[unit] = False
        if tried[unit] >= most_tries:
            continue
        tried[unit] += 1
        steps += 1
        for together in range(2):
            # The unit alone, then with all movable ones at its node that it hangs together with.
            members[0] = unit
            inside[unit] = True
            group = 1
            k = 0
            while together and k < group:
                for at in range(offsets[members[k]], offsets[members[k] + 1]):
                    other = neighbours[at]
                    if movable[other] and not inside[other] and host[other] == host[unit]:
                        inside[other] = True
                        members[group] = other
                        group += 1
                k += 1
            if together and group == 1:
                inside[unit] = False
                break
            present = host[unit]
            needed[:] = 0.0
            usage = 0.0
            found = 0
            listed[present] = True
            for k in range(group):
                member = members[k]
                for column in range(len(needed)):
                    needed[column] += demand[member, column]
                for at in range(offsets[member], offsets[member + 1]):
                    other = neighbours[at]
                    if inside[other]:
                        continue
                    there = host[other]
                    if there != present:
                        if not known[present, there]:
                            known[present, there] = True
                            known[there, present] = True
                            probes += 1
                        usage += _measured(
                            at, present, there, forward, backward, sends, receives, delays, squared
                        )
                    if not listed[there]:
                        listed[there] = True
                        nodes[found] = there
                        found += 1
                for k_near in range(near.shape[1]):
                    node = near[member, k_near]
                    if node >= 0 and not listed[node]:
                        listed[node] = True
                        nodes[found] = node
                        found += 1
            listed[present] = False
            for k in range(found):
                listed[nodes[k]] = False
            kept = 0
            for k in range(found):
                node = nodes[k]
                fits = True
                for j in range(group):
                    fits = fits and may_host[members[j], node]
                for column in range(len(needed)):
                    fits = fits and room[node, column] >= needed[column]
                if not fits:
                    continue
                total = 0.0
                for j in range(group):
                    for at in range(offsets[members[j]], offsets[members[j] + 1]):
                        other = neighbours[at]
                        there = host[other]
                        if inside[other] or there == node:
                            continue
                        if known[node, there]:
                            total += _measured(
                                at, node, there, forward, backward, sends, receives, delays, squared
                            )
                        else:
                            guess, _ = _estimate(places, extra, remembered, node, there)
                            total += (forward[at] + backward[at]) * (guess * guess if squared else guess)
                nodes[kept] = node
                estimates[kept] = total
                kept += 1
            order = np.argsort(estimates[:kept], kind="mergesort")
            best, lowest = -1, usage
            for rank in range(min(kept, most_nodes)):
                node = nodes[order[rank]]
                if estimates[order[rank]] > lowest * (1.0 + doubt) or lowest <= 0.0:
                    break
                while True:
                    # Measure what weighs most, until all is known or it can't be better any more.
                    heaviest, weight = -1, -1.0
                    total = 0.0
                    for j in range(group):
                        for at in range(offsets[members[j]], offsets[members[j] + 1]):
                            other = neighbours[at]
                            there = host[other]
                            if inside[other] or there == node:
                                continue
                            if known[node, there]:
                                total += _measured(
                                    at, node, there, forward, backward, sends, receives, delays, squared
                                )
                            else:
                                guess, sure = _estimate(places, extra, remembered, node, there)
                                part = (forward[at] + backward[at]) * (guess * guess if squared else guess)
                                total += part if sure else (1.0 - doubt) * part
                                if part > weight:
                                    heaviest, weight = there, part
                    if heaviest < 0:
                        if total < lowest * LESS:
                            best, lowest = node, total
                        break
                    if total >= lowest:
                        break
                    known[node, heaviest] = True
                    known[heaviest, node] = True
                    probes += 1
            if best >= 0:
                moves += group
                for column in range(len(needed)):
                    room[present, column] += needed[column]
                    room[best, column] -= needed[column]
                for j in range(group):
                    host[members[j]] = best
                for j in range(group):
                    member = members[j]
                    for at in range(offsets[member], offsets[member + 1]):
                        other = neighbours[at]
                        if movable[other] and not inside[other] and not queued[other]:
                            queue[(head + count) % (size + 1)] = other
                            queued[other] = True
                            count += 1
                    if not queued[member]:
                        queue[(head + count) % (size + 1)] = member
                        queued[member] = True
                        count += 1
            for k in range(group):
                inside[members[k]] = False
            if best >= 0:
                break
    return probes, moves, steps
