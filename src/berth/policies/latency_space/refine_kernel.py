"""Better nodes by measured delays of a few near ones: the compiled search.

Units are in the problem's numbers, nodes in the numbers of a small selection. A delay between two nodes
costs a probe unless it is known: because two units exchange a stream over it, or from an earlier probe.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

NO_LINK = 1e300
"""What a stream between two nodes without a link costs: more than any usage."""
LESS = 1.0 - 1e-9
"""A gain is more than rounding."""


class Streams(NamedTuple):
    """The units' streams, as in `UnitGraph`."""

    offsets: IndexArray
    neighbours: IndexArray
    forward: FloatArray
    backward: FloatArray
    sends: BoolArray
    receives: BoolArray


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


class Nodes(NamedTuple):
    """The nodes in question."""

    room: FloatArray
    """What is left of each resource; changed."""
    places: FloatArray
    extra: FloatArray
    """What each node's delays are longer than distances say, half of it."""
    numbers: IndexArray
    """Their numbers in `delays`."""
    delays: FloatArray
    """As measured; NaN: no link."""
    remembered: FloatArray
    """As measured for earlier plans, NaN elsewhere; empty: none."""
    known: BoolArray
    """Which delays are known; changed."""
    probed: IndexArray
    """Gets the pairs that are probed, as far as it has room."""
    probes: IndexArray
    """[how many these are]."""


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
def _measured(streams: Streams, at: int, nodes: Nodes, here: int, there: int, squared: bool) -> float:
    """What a unit's streams with one neighbour cost between two nodes."""
    total = 0.0
    if streams.sends[at]:
        delay = nodes.delays[nodes.numbers[here], nodes.numbers[there]]
        if math.isnan(delay):
            total += NO_LINK
        else:
            total += streams.forward[at] * (delay * delay if squared else delay)
    if streams.receives[at]:
        delay = nodes.delays[nodes.numbers[there], nodes.numbers[here]]
        if math.isnan(delay):
            total += NO_LINK
        else:
            total += streams.backward[at] * (delay * delay if squared else delay)
    return total


@compiled
def _estimate(nodes: Nodes, here: int, there: int) -> tuple[float, bool]:
    """A delay as it was measured before, or else by coordinates; and which of the two it is."""
    if len(nodes.remembered) and not math.isnan(nodes.remembered[here, there]):
        return float(nodes.remembered[here, there]), True
    square = 0.0
    for axis in range(nodes.places.shape[1]):
        square += (nodes.places[here, axis] - nodes.places[there, axis]) ** 2
    return float(max(math.sqrt(square) + nodes.extra[here] + nodes.extra[there], 0.0)), False


@compiled
def _usage_at(
    streams: Streams,
    host: IndexArray,
    nodes: Nodes,
    members: IndexArray,
    inside: BoolArray,
    node: int,
    doubt: float,
    squared: bool,
) -> tuple[float, int]:
    """The usage of a group of units on a node, as far as it is known, and estimated less the doubt elsewhere.

    Returns with it the other end of the delay that matters most of those not known; -1: all are known.
    """
    total, heaviest, weight = 0.0, -1, -1.0
    for member in members:
        for at in range(streams.offsets[member], streams.offsets[member + 1]):
            other = streams.neighbours[at]
            there = host[other]
            if inside[other] or there == node:
                continue
            if nodes.known[node, there]:
                total += _measured(streams, at, nodes, node, there, squared)
                continue
            guess, sure = _estimate(nodes, node, there)
            rate = streams.forward[at] + streams.backward[at]
            part = rate * (guess * guess if squared else guess)
            total += part if sure else (1.0 - doubt) * part
            if part > weight:
                heaviest, weight = there, part
    return total, heaviest


@compiled
def _measure(nodes: Nodes, here: int, there: int) -> None:
    """Measure a delay, both ways by one probe, unless it is known."""
    if nodes.known[here, there]:
        return
    nodes.known[here, there] = True
    nodes.known[there, here] = True
    count = nodes.probes[0]
    if count < len(nodes.probed):
        nodes.probed[count, 0] = here
        nodes.probed[count, 1] = there
    nodes.probes[0] += 1


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
                _measure(nodes, present, host[streams.neighbours[at]])
    lowest, _ = _usage_at(streams, host, nodes, members, inside, present, 0.0, effort.squared)
    choices = _choices(streams, units, nodes, members, inside, needed)
    estimates = np.empty(len(choices))
    open_ones = np.ones(len(choices), dtype=np.bool_)
    for k in range(len(choices)):
        estimates[k], _ = _usage_at(streams, host, nodes, members, inside, choices[k], 0.0, effort.squared)
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
            usage, heaviest = _usage_at(
                streams, host, nodes, members, inside, node, effort.doubt, effort.squared
            )
            if heaviest < 0 and usage < lowest * LESS:
                best, lowest = node, usage
            if heaviest < 0 or usage >= lowest:
                break
            _measure(nodes, node, heaviest)
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
