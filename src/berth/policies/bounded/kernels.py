"""Loops over paths and hosts, compiled: what a path takes now, and what it would take elsewhere.

Delays come gathered: a network may be too large for a matrix. One that is NaN (no link) counts as endless.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@compiled
def hop_ms(delay: float, unit_bytes: float, card: float, apart: bool, loaded: bool) -> float:
    """N + T of a link: the delay and, with loads, what its sender's card takes; nothing within a host."""
    if not apart:
        return 0.0
    if loaded and np.isfinite(card):
        delay += 1000.0 * unit_bytes / card
    return np.inf if np.isnan(delay) else delay


@compiled
def stay_ms(work: float, speed: float, queue: float, loaded: bool) -> float:
    """P of an operator: its work at the host's speed and, with loads, as often as others are in the queue."""
    return work / speed * max(1.0, queue) if loaded else work / speed


@compiled
def longest_path(
    offsets: IndexArray,
    receivers: IndexArray,
    order: IndexArray,
    sources: IndexArray,
    delay: FloatArray,
    unit_bytes: FloatArray,
    work: FloatArray,
    node: IndexArray,
    speed: FloatArray,
    card: FloatArray,
    queue: FloatArray,
    loaded: bool,
) -> tuple[float, IndexArray, IndexArray]:
    """The path that takes longest: its latency, its instances, its pairs; ties: the first in order.

    Instance i sends pairs `offsets[i]` to `offsets[i + 1]`, in the order of their receivers; `order` has
    receivers before senders.
    """
    tail = np.zeros(len(order))
    following = np.full(len(order), -1, dtype=np.intp)
    for here in order:
        most = 0.0
        for pair in range(offsets[here], offsets[here + 1]):
            there = receivers[pair]
            apart = node[here] != node[there]
            hop = hop_ms(delay[pair], unit_bytes[pair], card[node[here]], apart, loaded)
            if following[here] < 0 or hop + tail[there] > most:
                following[here] = pair
                most = hop + tail[there]
        tail[here] = most + stay_ms(work[here], speed[node[here]], queue[node[here]], loaded)
    first = sources[0]
    for source in sources:
        if tail[source] > tail[first]:
            first = source
    instances = np.empty(len(order), dtype=np.intp)
    pairs = np.empty(len(order), dtype=np.intp)
    instances[0] = first
    length = 1
    while following[instances[length - 1]] >= 0:
        pair = following[instances[length - 1]]
        pairs[length - 1] = pair
        instances[length] = receivers[pair]
        length += 1
    return tail[first], instances[:length], pairs[: length - 1]


@compiled
def latencies_elsewhere(
    hosts: IndexArray,
    here: int,
    size: int,
    moved: BoolArray,
    node: IndexArray,
    work: FloatArray,
    unit_bytes: FloatArray,
    delay: FloatArray,
    delay_elsewhere: FloatArray,
    speed: FloatArray,
    card: FloatArray,
    queue: FloatArray,
    loaded: bool,
) -> FloatArray:
    """What a path would take with some of its instances on each of some hosts instead of `here`.

    The instances that move are `size` in all, on this path (`moved`) or not; both queues change by that.
    `delay_elsewhere[i, j]` is the delay of the path's link i with one end on `hosts[j]`.
    """
    found = np.zeros(len(hosts))
    for j in range(len(hosts)):
        host = hosts[j]
        total = 0.0
        for i in range(len(node)):
            place = host if moved[i] else node[i]
            waiting = queue[place]
            if host != here:
                if place == host:
                    waiting += size
                elif place == here:
                    waiting -= size
            total += stay_ms(work[i], speed[place], waiting, loaded)
            if i + 1 < len(node):
                following = host if moved[i + 1] else node[i + 1]
                hop = delay_elsewhere[i, j] if moved[i] != moved[i + 1] else delay[i]
                total += hop_ms(hop, unit_bytes[i], card[place], place != following, loaded)
        found[j] = total
    return found


@compiled
def costs_ms(
    first: int,
    last: int,
    moved: BoolArray,
    node: IndexArray,
    work: FloatArray,
    unit_bytes: FloatArray,
    delay: FloatArray,
    speed: FloatArray,
    card: FloatArray,
    queue: FloatArray,
    loaded: bool,
) -> float:
    """N + T of a path's links between two of its positions, and P of those between that move."""
    total = 0.0
    for i in range(first, last + 1):
        if moved[i]:
            total += stay_ms(work[i], speed[node[i]], queue[node[i]], loaded)
        if i < last:
            total += hop_ms(delay[i], unit_bytes[i], card[node[i]], node[i] != node[i + 1], loaded)
    return total


@compiled
def distances_from(
    place: FloatArray, hosts: IndexArray, positions: FloatArray, heights: FloatArray
) -> FloatArray:
    """How far each of some hosts is from a place, its height included."""
    found = np.empty(len(hosts))
    for j in range(len(hosts)):
        square = 0.0
        for axis in range(len(place)):
            square += (positions[hosts[j], axis] - place[axis]) ** 2
        found[j] = np.sqrt(square) + heights[hosts[j]]
    return found
