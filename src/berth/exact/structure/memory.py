"""What places remember of each other: the bits of near places, and what is left of them after a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]


def near_places(step: FloatArray, memory: int, itself: bool) -> IndexArray:
    """For every place those that are nearest to it, there and back; first or never the place itself."""
    way = step + step.T
    np.fill_diagonal(way, -1.0 if itself else np.inf)
    return np.ascontiguousarray(np.argsort(way, axis=1, kind="stable")[:, :memory]).astype(np.int64)


def passed_on(near: IndexArray, leaving: bool) -> IndexArray:
    """What is left of a memory on the way from one place to another: [here, there, memory] -> memory.

    With `leaving`, the place that is left is remembered, too, where it is near to the next one.
    """
    places, memory = near.shape
    flag = np.zeros((places, places), dtype=np.int64)
    """[place, other]: the bit of the other one in the place's memory."""
    np.put_along_axis(flag, near, 1 << np.arange(memory)[None, :], axis=1)
    bits = (np.arange(1 << memory)[None, :] >> np.arange(memory)[:, None]) & 1
    kept = flag[None, :, :][
        np.zeros(places, dtype=np.intp)[:, None, None], np.arange(places)[None, :, None], near[:, None, :]
    ]
    passed = kept @ bits
    return passed | flag.T[:, :, None] if leaving else passed
