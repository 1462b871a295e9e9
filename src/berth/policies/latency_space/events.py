"""MOPA's events (paper 003, algorithm 1; card 1.3): units move to their Weber points until none wants to."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from berth.policies.latency_space.weber import COINCIDENT, ENDLESS, copy_to, weber_point

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

EVENTS, ROUNDS, MESSAGES, MOVES, TIES, REOPENED, STUCK, ROWS = range(8)
"""What `run_events` counts; STUCK is 1 + the unit whose search never ended, or -1: too many events."""
COUNTERS = 8


@njit(cache=True)
def virtual_usage(
    offsets: IndexArray, neighbours: IndexArray, weights: FloatArray, positions: FloatArray
) -> float:
    """The sum of rate x distance over all streams, each once."""
    total = 0.0
    for unit in range(len(offsets) - 1):
        for at in range(offsets[unit], offsets[unit + 1]):
            if neighbours[at] > unit:
                square = 0.0
                for axis in range(positions.shape[1]):
                    square += (positions[unit, axis] - positions[neighbours[at], axis]) ** 2
                total += weights[at] * math.sqrt(square)
    return total


@njit(cache=True)
def _distance(first: FloatArray, second: FloatArray) -> float:
    square = 0.0
    for axis in range(len(first)):
        square += (first[axis] - second[axis]) ** 2
    return math.sqrt(square)


@njit(cache=True)
def run_events(
    offsets: IndexArray,
    neighbours: IndexArray,
    weights: FloatArray,
    free: BoolArray,
    first: IndexArray,
    positions: FloatArray,
    tolerance: float,
    most_events: int,
    paper: bool,
    cluster: IndexArray,
    log: FloatArray,
) -> IndexArray:
    """Move free units until a fixed point; clusters are opened again there until usage stops falling.

    Args:
        offsets: with `neighbours` and `weights`, the units' streams.
        neighbours: see there.
        weights: see there.
        free: the units that may move.
        first: the units whose events come first; all free ones follow when clusters are opened.
        positions: where units are; moved ones are changed.
        tolerance: shorter ways are not gone.
        most_events: after so many it is given up.
        paper: the Weber point by the printed loop.
        cluster: gets the cluster of each unit, named by one of its members.
        log: gets rows of a unit and its place for every move, as far as it has room.
    """
    size = len(offsets) - 1
    counters = np.zeros(COUNTERS, dtype=np.intp)
    queue = np.empty(size + 1, dtype=np.intp)
    queued = np.zeros(size, dtype=np.bool_)
    following = np.arange(size)
    points = np.empty((len(neighbours), positions.shape[1]))
    pulls = np.empty(len(neighbours))
    owners = np.empty(len(neighbours), dtype=np.intp)
    place = np.empty(positions.shape[1])
    head, count = 0, 0
    for unit in range(size):
        cluster[unit] = unit
    for unit in first:
        if free[unit] and not queued[unit]:
            queue[count] = unit
            queued[unit] = True
            count += 1
    if count == 0:
        return counters
    before = virtual_usage(offsets, neighbours, weights, positions)
    while True:
        while count:
            unit = queue[head]
            head = (head + 1) % (size + 1)
            count -= 1
            queued[unit] = False
            if counters[EVENTS] >= most_events:
                counters[STUCK] = -1
                return counters
            counters[EVENTS] += 1
            links = 0
            member = unit
            while True:
                for at in range(offsets[member], offsets[member + 1]):
                    other = neighbours[at]
                    if weights[at] > 0.0 and cluster[other] != cluster[unit]:
                        copy_to(positions[other], points[links])
                        pulls[links] = weights[at]
                        owners[links] = other
                        links += 1
                member = following[member]
                if member == unit:
                    break
            if links == 0:
                continue
            kind, rounds, tied = weber_point(points, pulls, links, place, paper)
            counters[ROUNDS] += rounds
            counters[TIES] += tied
            if kind == ENDLESS:
                counters[STUCK] = unit + 1
                return counters
            joined = -1
            for link in range(links):
                if free[owners[link]] and _distance(points[link], place) <= COINCIDENT:
                    joined = owners[link]
                    copy_to(points[link], place)
                    break
            if _distance(place, positions[unit]) > tolerance or joined >= 0:
                stays = _distance(place, positions[unit]) <= COINCIDENT
                member = unit
                while not stays:
                    counters[MOVES] += 1
                    copy_to(place, positions[member])
                    if counters[ROWS] < len(log):
                        log[counters[ROWS], 0] = member
                        for axis in range(len(place)):
                            log[counters[ROWS], axis + 1] = place[axis]
                        counters[ROWS] += 1
                    for at in range(offsets[member], offsets[member + 1]):
                        other = neighbours[at]
                        if free[other] and cluster[other] != cluster[unit]:
                            counters[MESSAGES] += 1
                            # A cluster waits in the queue once, whichever of its members is told.
                            waiting = queued[other]
                            mate = following[other]
                            while mate != other:
                                waiting = waiting or queued[mate]
                                mate = following[mate]
                            if not waiting:
                                queue[(head + count) % (size + 1)] = other
                                queued[other] = True
                                count += 1
                    member = following[member]
                    if member == unit:
                        break
            if joined >= 0:
                name = cluster[joined]
                member = unit
                while True:
                    cluster[member] = name
                    member = following[member]
                    if member == unit:
                        break
                following[unit], following[joined] = following[joined], following[unit]
                if not queued[unit]:
                    queue[(head + count) % (size + 1)] = unit
                    queued[unit] = True
                    count += 1
        usage = virtual_usage(offsets, neighbours, weights, positions)
        if not usage < before * (1.0 - 1e-9) and counters[REOPENED] > 0:
            return counters
        if counters[MOVES] == 0:
            return counters
        before = usage
        counters[REOPENED] += 1
        for unit in range(size):
            following[unit] = unit
            cluster[unit] = unit
            if free[unit]:
                queue[(head + count) % (size + 1)] = unit
                queued[unit] = True
                count += 1
