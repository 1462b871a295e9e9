"""Vivaldi's update of nodes, compiled: arrays in, the same arrays changed.

It needs nothing but arrays, so it serves one machine and many: a partition has its nodes as rows, all nodes'
positions at hand, and gives back those of its own.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]

LEAST_HEIGHT_MS = 0.01
LARGEST_ERROR = 1.5
"""A node's error at the start, and the most that a sample's counts for: wholly wrong is wrong enough."""
LEAST_ERROR = 1e-9
FARTHEST_MS = 1e60
"""A coordinate beyond is a failure of the arithmetic, not a place: its square would soon overflow."""
TOGETHER_MS = 1e-12
"""Nodes as close as this have no direction between them."""
SHORTEST_MS = 0.01
"""Shorter delays count as this long where an error is a share of the delay: two nodes may be at one place."""


@compiled
def update_nodes(
    order: IntegerArray,
    rows: IntegerArray,
    offsets: IntegerArray,
    neighbours: IntegerArray,
    delays: FloatArray,
    positions: FloatArray,
    heights: FloatArray,
    errors: FloatArray,
    with_height: bool,
    c_c: float,
    c_e: float,
    generator: np.random.Generator,
) -> tuple[float, int]:
    """Take every sample of some nodes once; each moves its node (card 1.1, the paper's height algebra).

    Args:
        order: the rows to go through, in this order.
        rows: the node of every row.
        offsets: where each row's samples begin in `neighbours` and `delays`, and one more entry.
        neighbours: the other node of every sample.
        delays: its one-way delay in ms, at least 0.
        positions: of all nodes that occur; changed in place for the rows' nodes.
        heights: likewise; left alone unless `with_height`.
        errors: likewise: every node's estimate of its own relative error, above 0.
        with_height: whether nodes have heights.
        c_c: the share of a sample's error that a node moves by, if it is as uncertain as can be.
        c_e: the share of a sample's relative error that goes into a node's estimate, likewise.
        generator: for directions between nodes at one place.

    Returns:
        The mean absolute error of the samples in ms, each before its update, and the number of resets: nodes
        that went out of all bounds and start again at the origin.
    """
    dimensions = positions.shape[1]
    direction = np.empty(dimensions)
    total, resets, count = 0.0, 0, 0
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
            missed = abs(norm - delay)
            weight = errors[node] / (errors[node] + errors[other])
            share = c_e * weight
            relative = min(missed / max(delay, SHORTEST_MS), LARGEST_ERROR)
            estimate = share * relative + (1.0 - share) * errors[node]
            errors[node] = min(max(estimate, LEAST_ERROR), LARGEST_ERROR)
            force = c_c * weight * (delay - norm)
            if plain > TOGETHER_MS:
                scale = force / norm
                if with_height:
                    heights[node] = max(heights[node] + scale * upward, LEAST_HEIGHT_MS)
            else:
                length = 0.0
                for axis in range(dimensions):
                    direction[axis] = generator.standard_normal()
                    length += direction[axis] * direction[axis]
                scale = force / math.sqrt(length) if length > 0.0 else 0.0
            sound = heights[node] < FARTHEST_MS and estimate < FARTHEST_MS
            for axis in range(dimensions):
                positions[node, axis] += scale * direction[axis]
                # comparisons with NaN are false: what isn't a number isn't sound either
                sound = sound and abs(positions[node, axis]) < FARTHEST_MS
            if sound:
                total += missed
                count += 1
            else:
                resets += 1
                errors[node] = LARGEST_ERROR
                heights[node] = LEAST_HEIGHT_MS if with_height else 0.0
                for axis in range(dimensions):
                    positions[node, axis] = 0.0
    return total / max(count, 1), resets
