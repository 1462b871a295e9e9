"""Which samples each node uses: all of its own, or a few near and a few random ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from berth.space.compiled import compiled
from berth.space.samples import Samples

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]

NEAR_SHARE = 0.25
"""The share of a node's neighbours that are its nearest ones. The rest is random, so mostly far away: these
hold the whole together, the near ones tell what is close."""


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """Samples by node: those of row k are at `offsets[k]` to `offsets[k + 1]`."""

    offsets: IntegerArray
    neighbours: IntegerArray
    delays: FloatArray


def neighbourhoods(samples: Samples, most: int | None, generator: np.random.Generator) -> Neighbourhoods:
    """Every sample as one of both its nodes; at most so many for a node, None: all of them.

    A pair that one of its nodes leaves out can still be a sample of the other.
    """
    ends = (
        np.concatenate([samples.first, samples.second]),
        np.concatenate([samples.second, samples.first]),
    )
    table = csr_array((np.tile(samples.delay_ms, 2), ends), shape=(samples.nodes, samples.nodes))
    offsets, neighbours = table.indptr.astype(np.int64), table.indices.astype(np.int64)
    if most is None or np.diff(offsets).max(initial=0) <= most:
        return Neighbourhoods(offsets, neighbours, table.data)
    kept = np.empty(len(neighbours), dtype=np.int64)
    starts = _choose(offsets, table.data, most, round(NEAR_SHARE * most), generator, kept)
    kept = kept[: starts[-1]]
    return Neighbourhoods(starts, neighbours[kept], table.data[kept])


@compiled
def _choose(
    offsets: IntegerArray,
    delays: FloatArray,
    most: int,
    near: int,
    generator: np.random.Generator,
    kept: IntegerArray,
) -> IntegerArray:
    """Put the positions of the chosen samples into `kept`; returns where each row's begin."""
    starts = np.zeros(len(offsets), dtype=np.int64)
    for row in range(len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        size, at = end - begin, starts[row]
        if size <= most:
            for position in range(size):
                kept[at + position] = begin + position
            starts[row + 1] = at + size
            continue
        by_delay = np.argsort(delays[begin:end], kind="mergesort")
        for position in range(near, most):
            other = position + int(generator.random() * (size - position))
            by_delay[position], by_delay[other] = by_delay[other], by_delay[position]
        chosen = np.sort(by_delay[:most])
        for position in range(most):
            kept[at + position] = begin + chosen[position]
        starts[row + 1] = at + most
    return starts
