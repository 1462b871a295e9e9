"""What is known of the cheapest walk before the search: a first one, useful nodes, a table of bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.exact.structure import walk_kernel as kernel
from berth.exact.structure.memory import near_places, passed_on

FloatArray = NDArray[np.float64]

MOST_REMEMBERED = 4_000_000
"""Entries of the table of bounds, about: more nodes, shorter memory."""


def first_walk(step: FloatArray, sizes: NDArray[np.int64], needed: int) -> tuple[float, NDArray[np.int64]]:
    """From every node on to the nearest new one, until all is collected: the best of these walks."""
    count = len(step)
    starts = np.arange(count)
    walks, lengths = [starts], np.zeros(count)
    visited = np.eye(count, dtype=bool)
    collected = sizes.copy()
    while (going := collected < needed).any() and len(walks) < count:
        onward = np.where(visited, np.inf, step[walks[-1]])
        nearest = np.argmin(onward, axis=1)
        lengths = lengths + np.where(going, onward[starts, nearest], 0.0)
        visited[starts, nearest] = True
        collected = collected + np.where(going, sizes[nearest], 0)
        walks.append(nearest)
    lengths = np.where(collected >= needed, lengths, np.inf)
    best = int(np.argmin(lengths))
    walk = np.array([row[best] for row in walks], dtype=np.int64)
    visits = int(np.searchsorted(np.cumsum(sizes[walk]), needed)) + 1
    return float(lengths[best]), walk[:visits]


def useful_nodes(
    shortest: FloatArray, sizes: NDArray[np.int64], needed: int, most: float
) -> NDArray[np.bool_]:
    """The nodes on a walk, with any repetitions, that is at most so long and collects enough."""
    count = len(shortest)
    apart = shortest + np.where(np.eye(count, dtype=bool), np.inf, 0.0)
    after = np.zeros((needed + 1, count))
    for left in range(1, needed + 1):
        rest = after[np.maximum(left - sizes, 0), np.arange(count)]
        after[left] = (apart + rest[None, :]).min(axis=1)
    before = np.full((needed + 1, count), np.inf)
    before[np.minimum(sizes, needed), np.arange(count)] = 0.0
    for collected in range(1, needed):
        arriving = (before[collected][:, None] + apart).min(axis=0)
        reached = np.minimum(collected + sizes, needed), np.arange(count)
        before[reached] = np.minimum(before[reached], arriving)
    return np.asarray((before + after[::-1] <= most).any(axis=0))


def rest_of_walk(
    shortest: FloatArray, sizes: NDArray[np.int64], needed: int
) -> tuple[FloatArray, NDArray[np.int64]]:
    """The table of bounds, and the near nodes that its memory is about."""
    count = len(shortest)
    memory = max(min(count - 1, 8), 0)
    while memory > 1 and (count * count + needed * count) << memory > MOST_REMEMBERED:
        memory -= 1
    near = near_places(shortest, memory, itself=False)
    rest = np.zeros((needed + 1, count, 1 << memory))
    order = np.argsort(shortest, axis=1, kind="stable")
    kernel.rest_of_walk(
        shortest, sizes, near, passed_on(near, leaving=True), order, np.zeros(count, dtype=np.bool_), rest
    )
    return rest, near
