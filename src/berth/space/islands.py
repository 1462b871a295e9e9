"""Groups of nodes that no measured delay joins: nothing is known of how they lie to each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

GAP = 10.0
"""How far islands are apart, in extents of the largest one: farther than any node from its own island."""


def apart(positions: FloatArray, islands: IndexArray) -> FloatArray:
    """Each island around a centre of its own: the first around the origin, the others on the first axis.

    So no node of another island is ever nearest to a point among the nodes of one.
    """
    count = int(islands.max(initial=0)) + 1
    sizes = np.bincount(islands, minlength=count)
    centres = np.stack([np.bincount(islands, axis, count) / sizes for axis in positions.T], axis=1)
    centred = positions - centres[islands]
    if count > 1:
        extent = float(np.sqrt((centred**2).sum(axis=1)).max())
        centred[:, 0] += islands * (GAP * 2.0 * max(extent, 1.0))
    return np.asarray(centred)
