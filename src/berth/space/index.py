"""Which nodes are where in the latency space: nearest, nearest with room, and ellipse."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from berth.core import space as core
from berth.model.arrays import FloatArray

IndexArray = NDArray[np.int64]


class SpaceIndex:
    """Nodes by their positions in ms; one whose position is not finite is never found.

    A node's distance from a point is Euclidean plus the node's height. Ties go to the smaller number.
    """

    def __init__(self, positions: ArrayLike, heights: ArrayLike | None = None) -> None:
        """Index the rows of `positions`.

        Raises:
            ValueError: The shapes don't fit, or a height is negative or not finite.
        """
        places = np.ascontiguousarray(positions, dtype=np.float64)
        if places.ndim != 2:
            raise ValueError(
                f"positions: need a row for each node and a column for each axis, not {places.shape}"
            )
        above = np.zeros(len(places)) if heights is None else np.asarray(heights, dtype=np.float64)
        if above.shape != (len(places),):
            raise ValueError(f"heights: need one for each of {len(places)} nodes, got shape {above.shape}")
        known = np.flatnonzero(np.isfinite(places).all(axis=1)).astype(np.int64)
        above = above[known]
        if not (np.isfinite(above) & (above >= 0.0)).all():
            raise ValueError("heights: must be finite and not negative")
        self._tree = core.KdTree(places[known], above, known)
        self.dimensions = places.shape[1]

    def __len__(self) -> int:
        """How many nodes can be found."""
        return len(self._tree)

    def nearest(self, point: ArrayLike, count: int) -> tuple[IndexArray, FloatArray]:
        """The `count` nearest nodes, or all if there are fewer, and their distances."""
        numbers, distances = self.nearest_many(self._point(point)[None], count)
        found = numbers[0] >= 0
        return numbers[0][found], distances[0][found]

    def nearest_many(
        self, points: ArrayLike, count: int, room: core.Room | None = None, units: IndexArray | None = None
    ) -> tuple[IndexArray, FloatArray]:
        """The same for every row of `points`; rows end with -1 at distance infinity if nodes are fewer.

        With room, of the nodes that have it for the row's unit.
        """
        rows = np.ascontiguousarray(points, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.dimensions or np.isnan(rows).any():
            raise ValueError(f"points: need rows of {self.dimensions} numbers, got shape {rows.shape}")
        if room is None or units is None:
            room, units = None, np.zeros(0, dtype=np.int64)
        elif len(units) != len(rows):
            raise ValueError(f"room: {len(units)} units don't fit {len(rows)} points")
        return self._tree.nearest(rows, max(count, 0), room, units)

    def in_ellipse(self, first: ArrayLike, second: ArrayLike, length: float) -> IndexArray:
        """The nodes, by number, whose distances from two foci sum up to at most `length`.

        A node's height counts on both ways. If the foci are nodes, too, the caller takes their heights
        off the length.
        """
        return self._tree.in_ellipse(self._point(first), self._point(second), float(length))

    def _point(self, point: ArrayLike) -> FloatArray:
        here = np.ascontiguousarray(point, dtype=np.float64)
        if here.shape != (self.dimensions,) or np.isnan(here).any():
            raise ValueError(f"point: need {self.dimensions} numbers, got {point!r}")
        return here
