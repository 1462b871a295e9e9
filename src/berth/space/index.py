"""Which nodes are where in the latency space: nearest, nearest with room, range and ellipse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from berth.space.kd_tree import Tree, build_tree
from berth.space.tree_search import (
    nearest_of_many,
    nearest_points,
    nearest_with_room,
    points_between,
    points_in_ellipse,
)

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

FIRST_TRY = 16
"""As many of the nearest nodes are offered at once before the search grows."""


class SpaceIndex:
    """Nodes by their positions in ms; one whose position is not finite is never found.

    A node's distance from a point is Euclidean plus the node's height. Ties go to the smaller number.
    """

    tree: Tree
    """For compiled code: the searches of `berth.space.tree_search` take it."""

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
        self.tree = build_tree(places[known], above, known)
        self.dimensions = places.shape[1]
        self._size = len(places)

    def __len__(self) -> int:
        """How many nodes can be found."""
        return len(self.tree.numbers)

    def nearest(self, point: ArrayLike, count: int) -> tuple[IndexArray, FloatArray]:
        """The `count` nearest nodes, or all if there are fewer, and their distances."""
        return nearest_points(self.tree, self._point(point), count)

    def nearest_many(self, points: ArrayLike, count: int) -> tuple[IndexArray, FloatArray]:
        """The same for every row of `points`; rows end with -1 at distance infinity if nodes are fewer."""
        rows = np.ascontiguousarray(points, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.dimensions or np.isnan(rows).any():
            raise ValueError(f"points: need rows of {self.dimensions} numbers, got shape {rows.shape}")
        return nearest_of_many(self.tree, rows, max(count, 0))

    def nearest_where(self, point: ArrayLike, accepted: Callable[[IndexArray], BoolArray]) -> int:
        """The nearest node that is accepted; -1: none is.

        `accepted` is asked about nodes in groups, no node twice, and says which ones will do as things
        are at that moment: rooms may change from one search to the next.
        """
        here = self._point(point)
        numbers, distances = nearest_points(self.tree, here, FIRST_TRY)
        fitting = np.flatnonzero(accepted(numbers)) if len(numbers) else numbers
        if len(fitting):
            return int(numbers[fitting[0]])
        return self._farther(here, accepted, numbers, distances) if len(numbers) < len(self) else -1

    def _farther(
        self,
        here: FloatArray,
        accepted: Callable[[IndexArray], BoolArray],
        refused: IndexArray,
        distances: FloatArray,
    ) -> int:
        """Search in shells around what was refused, each with some eight times the nodes."""
        growth = 8.0 ** (1.0 / max(self.dimensions, 1))
        least_step = self._reach(here) * 2.0**-20
        asked, last = len(refused), int(refused[-1])
        within, radius = float(distances[-1]), float(distances[-1])
        while asked < len(self):
            radius = max(radius * growth, radius + least_step)
            numbers, distances = points_between(self.tree, here, within, radius)
            new = (distances > within) | (numbers > last)
            numbers, distances = numbers[new], distances[new]
            fitting = np.flatnonzero(accepted(numbers)) if len(numbers) else numbers
            if len(fitting):
                return int(numbers[fitting[np.lexsort((numbers[fitting], distances[fitting]))[0]]])
            asked += len(numbers)
            within, last = radius, self._size
        return -1

    def nearest_with_room(
        self, point: ArrayLike, room: FloatArray, demand: FloatArray, allowed: BoolArray | None = None
    ) -> int:
        """The nearest node whose room [nodes, resources] holds a demand [resources]; -1: none does."""
        everywhere = np.ones(self._size, dtype=np.bool_) if allowed is None else allowed
        return int(nearest_with_room(self.tree, self._point(point), room, demand, everywhere))

    def within(self, point: ArrayLike, radius: float) -> IndexArray:
        """The nodes within a radius, by distance and then number."""
        numbers, distances = points_between(self.tree, self._point(point), -np.inf, float(radius))
        return numbers[np.lexsort((numbers, distances))]

    def in_ellipse(self, first: ArrayLike, second: ArrayLike, length: float) -> IndexArray:
        """The nodes, by number, whose distances from two foci sum up to at most `length`.

        A node's height counts on both ways. If the foci are nodes, too, the caller takes their heights
        off the length.
        """
        numbers = points_in_ellipse(self.tree, self._point(first), self._point(second), float(length))
        return np.sort(numbers)

    def _reach(self, here: FloatArray) -> float:
        """No node is farther than this, but for rounding."""
        corner = np.maximum(np.abs(self.tree.low[0] - here), np.abs(self.tree.high[0] - here))
        return float(np.sqrt((corner**2).sum()) + self.tree.heights.max())

    def _point(self, point: ArrayLike) -> FloatArray:
        here = np.ascontiguousarray(point, dtype=np.float64)
        if here.shape != (self.dimensions,) or np.isnan(here).any():
            raise ValueError(f"point: need {self.dimensions} numbers, got {point!r}")
        return here
