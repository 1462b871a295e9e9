"""MOPA's events (paper 003, algorithm 1; card 1.3): units move to their Weber points until none wants to."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from berth.policies.latency_space.weber import COINCIDENT, ENDLESS, copy_to, usage_at, weber_point
from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]

EVENTS, ROUNDS, MESSAGES, MOVES, TIES, REOPENED, STUCK, ROWS, HEAD, WAITING = range(10)
"""What `run_events` counts; STUCK is 1 + the unit whose search never ended, or -1: too many events."""
COUNTERS = 10
FALLING = 1.0 - 1e-12
"""Usage that falls by less than this share has not fallen: sums of floats are not exact."""


class Scene(NamedTuple):
    """Units in the space, and what changes while they move."""

    offsets: IndexArray
    neighbours: IndexArray
    weights: FloatArray
    free: BoolArray
    """The units that may move."""
    positions: FloatArray
    cluster: IndexArray
    """Each unit's cluster, named by one of its members."""
    following: IndexArray
    """The next member of the same cluster, in a circle."""
    queue: IndexArray
    queued: BoolArray
    counters: IndexArray
    log: FloatArray
    """Rows of a unit and its place for every move, as far as there is room."""


def scene(
    offsets: IndexArray,
    neighbours: IndexArray,
    weights: FloatArray,
    free: BoolArray,
    positions: FloatArray,
    log_rows: int,
) -> Scene:
    """The scene before the first event: every unit is a cluster of its own."""
    size = len(free)
    return Scene(
        offsets,
        neighbours,
        weights,
        free,
        positions,
        np.arange(size),
        np.arange(size),
        np.zeros(size + 1, dtype=np.intp),
        np.zeros(size, dtype=np.bool_),
        np.zeros(COUNTERS, dtype=np.intp),
        np.zeros((log_rows, positions.shape[1] + 1)),
    )


@compiled
def virtual_usage(
    offsets: IndexArray, neighbours: IndexArray, weights: FloatArray, positions: FloatArray
) -> float:
    """The sum of rate x distance over all streams, each once."""
    total = 0.0
    for unit in range(len(offsets) - 1):
        for at in range(offsets[unit], offsets[unit + 1]):
            if neighbours[at] > unit:
                total += weights[at] * _distance(positions[unit], positions[neighbours[at]])
    return total


@compiled
def _distance(first: FloatArray, second: FloatArray) -> float:
    square = 0.0
    for axis in range(len(first)):
        square += (first[axis] - second[axis]) ** 2
    return math.sqrt(square)


@compiled
def _wait(scene: Scene, unit: int) -> None:
    """Put a unit into the queue, unless its cluster waits there already, whichever member it is."""
    waiting = scene.queued[unit]
    mate = scene.following[unit]
    while mate != unit:
        waiting = waiting or scene.queued[mate]
        mate = scene.following[mate]
    if not waiting:
        size = len(scene.queue)
        scene.queue[(scene.counters[HEAD] + scene.counters[WAITING]) % size] = unit
        scene.queued[unit] = True
        scene.counters[WAITING] += 1


@compiled
def _next(scene: Scene) -> int:
    unit = scene.queue[scene.counters[HEAD]]
    scene.counters[HEAD] = (scene.counters[HEAD] + 1) % len(scene.queue)
    scene.counters[WAITING] -= 1
    scene.queued[unit] = False
    return int(unit)


@compiled
def _external_links(
    scene: Scene, unit: int, points: FloatArray, weights: FloatArray, owners: IndexArray
) -> int:
    """The neighbours of a unit's cluster, with their places and the weights of the streams to them."""
    links = 0
    member = unit
    while True:
        for at in range(scene.offsets[member], scene.offsets[member + 1]):
            other = scene.neighbours[at]
            if scene.weights[at] > 0.0 and scene.cluster[other] != scene.cluster[unit]:
                copy_to(scene.positions[other], points[links])
                weights[links] = scene.weights[at]
                owners[links] = other
                links += 1
        member = scene.following[member]
        if member == unit:
            return links


@compiled
def _move(scene: Scene, unit: int, place: FloatArray) -> None:
    """Bring a unit's cluster to a place, and tell every free neighbour of each member."""
    counters, log = scene.counters, scene.log
    member = unit
    while True:
        counters[MOVES] += 1
        copy_to(place, scene.positions[member])
        if counters[ROWS] < len(log):
            log[counters[ROWS], 0] = member
            for axis in range(len(place)):
                log[counters[ROWS], axis + 1] = place[axis]
            counters[ROWS] += 1
        for at in range(scene.offsets[member], scene.offsets[member + 1]):
            other = scene.neighbours[at]
            if scene.free[other] and scene.cluster[other] != scene.cluster[unit]:
                counters[MESSAGES] += 1
                _wait(scene, other)
        member = scene.following[member]
        if member == unit:
            return


@compiled
def _join(scene: Scene, unit: int, other: int) -> None:
    """Make two clusters one, which waits for an event of its own."""
    member = unit
    while True:
        scene.cluster[member] = scene.cluster[other]
        member = scene.following[member]
        if member == unit:
            break
    # Two circles become one by a swap.
    swapped = scene.following[unit]
    scene.following[unit] = scene.following[other]
    scene.following[other] = swapped
    _wait(scene, unit)


@compiled
def _open_clusters(scene: Scene) -> None:
    """Make every unit a cluster of its own, and let all free ones wait."""
    for unit in range(len(scene.free)):
        scene.following[unit] = unit
        scene.cluster[unit] = unit
    for unit in range(len(scene.free)):
        if scene.free[unit]:
            _wait(scene, unit)


@compiled
def run_events(scene: Scene, first: IndexArray, tolerance: float, most_events: int, paper: bool) -> None:
    """Move free units until a fixed point; clusters are opened again there until usage stops falling.

    Args:
        scene: the units; what becomes of them is there, too.
        first: the units whose events come first; all free ones follow when clusters are opened.
        tolerance: shorter ways are not gone.
        most_events: after so many it is given up.
        paper: the Weber point by the printed loop.
    """
    counters, positions = scene.counters, scene.positions
    points = np.empty((len(scene.neighbours), positions.shape[1]))
    weights = np.empty(len(scene.neighbours))
    owners = np.empty(len(scene.neighbours), dtype=np.intp)
    place = np.empty(positions.shape[1])
    for unit in first:
        if scene.free[unit]:
            _wait(scene, unit)
    before = virtual_usage(scene.offsets, scene.neighbours, scene.weights, positions)
    while True:
        while counters[WAITING]:
            if counters[EVENTS] >= most_events:
                counters[STUCK] = -1
                return
            unit = _next(scene)
            counters[EVENTS] += 1
            links = _external_links(scene, unit, points, weights, owners)
            if links == 0:
                continue
            kind, rounds, tied = weber_point(points, weights, links, place, paper)
            counters[ROUNDS] += rounds
            counters[TIES] += tied
            if kind == ENDLESS:
                counters[STUCK] = unit + 1
                return
            joined = -1
            for link in range(links):
                if scene.free[owners[link]] and _distance(points[link], place) <= COINCIDENT:
                    joined = owners[link]
                    copy_to(points[link], place)
                    break
            way = _distance(place, positions[unit])
            if way > tolerance or (joined >= 0 and way > COINCIDENT):
                here = usage_at(points, weights, links, positions[unit])
                if not paper and usage_at(points, weights, links, place) >= here * FALLING:
                    # As good as here: on ties units would wander without end.
                    continue
                _move(scene, unit, place)
            if joined >= 0:
                _join(scene, unit, joined)
        usage = virtual_usage(scene.offsets, scene.neighbours, scene.weights, positions)
        falling = usage < before * (1.0 - 1e-9) or counters[REOPENED] == 0
        if counters[MOVES] == 0 or not falling:
            return
        before = usage
        counters[REOPENED] += 1
        _open_clusters(scene)
