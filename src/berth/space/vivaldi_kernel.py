"""Vivaldi's update of nodes, compiled: arrays in, the same arrays changed.

It needs nothing but arrays, so that it serves one machine and, with the nodes of a partition as rows and all
positions at hand, many of them.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]

SHORTEST_MS = 0.01
"""Delays below count as this long in the relative error of a sample: a delay of 0 is legal."""
LEAST_HEIGHT_MS = 0.01
LARGEST_ERROR = 1.5
LEAST_ERROR = 1e-9
FARTHEST_MS = 1e12
"""A coordinate beyond is a failure of the arithmetic, not a place."""


@njit(cache=True)  # type: ignore[untyped-decorator]
def update_nodes(
    order: IndexArray,
    rows: IndexArray,
    offsets: IndexArray,
    neighbours: IndexArray,
    delays: FloatArray,
    positions: FloatArray,
    heights: FloatArray,
    errors: FloatArray,
    with_height: bool,
    c_c: float,
    c_e: float,
    generator: np.random.Generator,
) -> tuple[float, int]:
    """Take every sample of some nodes once: each moves its node (card 1.1, the paper's height algebra).

    Args:
        order: the rows to go through, in this order.
        rows: the node of every row.
        offsets: where each row's samples begin in `neighbours` and `delays`, and one more entry.
        neighbours: the other node of every sample.
        delays: its one-way delay in ms.
        positions: of all nodes that occur, changed in place for the rows' nodes.
        heights: likewise; left alone unless `with_height`.
        errors: likewise, every node's estimate of its own relative error.
        with_height: whether nodes have heights.
        c_c: how much of a sample's error a node moves by.
        c_e: how much of a sample's relative error goes into a node's estimate.
        generator: for directions between nodes at one place.

    Returns:
        The mean absolute error of the samples in ms, each before its update, and the number of resets.
    """
    dimensions = positions.shape[1]
    direction = np.empty(dimensions)
    total, resets = 0.0, 0
    count = 0
    for row in order:
        node = rows[row]
        for sample in range(offsets[row], offsets[row + 1]):
            other, delay = neighbours[sample], delays[sample]
            squares = 0.0
            for axis in range(dimensions):
                direction[axis] = positions[node, axis] - positions[other, axis]
                squares += direction[axis] * direction[axis]
            plain = math.sqrt(squares)
            upward = heights[node] + heights[other] if with_height else 0.0
            norm = plain + upward
            total += abs(norm - delay)
            count += 1
            weight = errors[node] / (errors[node] + errors[other])
            relative = abs(norm - delay) / max(delay, SHORTEST_MS)
            share = c_e * weight
            error = share * min(relative, LARGEST_ERROR) + (1.0 - share) * errors[node]
            errors[node] = min(max(error, LEAST_ERROR), LARGEST_ERROR)
            force = c_c * weight * (delay - norm)
            if plain < 1e-12:
                squares = 0.0
                for axis in range(dimensions):
                    direction[axis] = generator.standard_normal()
                    squares += direction[axis] * direction[axis]
                scale = force / math.sqrt(squares) if squares > 0.0 else 0.0
            else:
                scale = force / norm
                if with_height:
                    heights[node] = max(heights[node] + scale * upward, LEAST_HEIGHT_MS)
            sound = heights[node] < FARTHEST_MS
            for axis in range(dimensions):
                positions[node, axis] += scale * direction[axis]
                sound = sound and abs(positions[node, axis]) < FARTHEST_MS
            if not sound:
                resets += 1
                errors[node] = LARGEST_ERROR
                heights[node] = LEAST_HEIGHT_MS if with_height else 0.0
                for axis in range(dimensions):
                    positions[node, axis] = 0.0
    return total / max(count, 1), resets
