"""What streams cost between nodes: measured where that is known, estimated elsewhere."""

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


class Streams(NamedTuple):
    """The units' streams, as in `UnitGraph`."""

    offsets: IndexArray
    neighbours: IndexArray
    forward: FloatArray
    backward: FloatArray
    sends: BoolArray
    receives: BoolArray


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
def usage_at(
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
def measure(nodes: Nodes, here: int, there: int) -> None:
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
