"""A final polish of coordinates: nodes go where the sum of absolute errors is least, one after another.

Vivaldi's springs pull with the error itself, so a few delays that fit nowhere (detours, overloaded hosts)
bend everything around them. Here a sample counts less the worse it fits (weights 1 / error), which leads to
least absolute errors. A node's best place is then the weighted mean of the points that its samples want it
at, and needs no step size (majorisation: without heights, the sum of its own errors can't grow).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from berth.space.compiled import compiled

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]


@compiled
def refine_nodes(
    rows: IntegerArray,
    offsets: IntegerArray,
    neighbours: IntegerArray,
    delays: FloatArray,
    positions: FloatArray,
    heights: FloatArray,
    with_height: bool,
    exact_ms: float,
    closeness: float,
    least_height_ms: float,
) -> float:
    """Move every row's node to its best place among its neighbours; arrays as for `update_nodes`.

    Args:
        rows: the node of every row.
        offsets: where each row's samples begin, and one more entry.
        neighbours: the other node of every sample.
        delays: its one-way delay in ms.
        positions: of all nodes that occur; changed in place for the rows' nodes.
        heights: likewise; left alone unless `with_height`.
        with_height: whether nodes have heights.
        exact_ms: errors below count as this, above 0: no sample gets all the weight by fitting.
        closeness: how much more short delays count: a weight of 1 / delay^closeness.
        least_height_ms: no height is below.

    Returns:
        The mean absolute error of the samples in ms, each before its node moved.
    """
    dimensions = positions.shape[1]
    place = np.empty(dimensions)
    total, count = 0.0, 0
    for row in range(len(rows)):
        node = rows[row]
        place[:] = 0.0
        rise, weights = 0.0, 0.0
        for sample in range(offsets[row], offsets[row + 1]):
            other, delay = neighbours[sample], delays[sample]
            squares = 0.0
            for axis in range(dimensions):
                squares += (positions[node, axis] - positions[other, axis]) ** 2
            plain = math.sqrt(squares)
            upward = heights[node] + heights[other] if with_height else 0.0
            missed = abs(plain + upward - delay)
            weight = 1.0 / max(missed, exact_ms)
            if closeness > 0.0:
                weight /= max(delay, exact_ms) ** closeness
            wanted = max(delay - upward, 0.0)
            scale = wanted / plain if plain > 0.0 else 0.0
            for axis in range(dimensions):
                there = positions[other, axis]
                place[axis] += weight * (there + scale * (positions[node, axis] - there))
            rise += weight * (delay - plain - upward)
            weights += weight
            total += missed
            count += 1
        if weights > 0.0:
            for axis in range(dimensions):
                positions[node, axis] = place[axis] / weights
            if with_height:
                # half of what is missing on average: the other half is the position's, which moved as well
                heights[node] = max(heights[node] + 0.5 * rise / weights, least_height_ms)
    return total / max(count, 1)
