"""Which nodes are where in the latency space: nearest, nearest with room, range and ellipse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from berth.space.kd_tree import Tree, build_tree
from berth.space.tree_ranges import points_in_ellipse, points_within
from berth.space.tree_search import (
    begin_search,
    nearest_of_many,
    nearest_points,
    nearest_with_room,
    search_on,
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

    def nearest_many(
        self,
        points: ArrayLike,
        count: int,
        room: FloatArray | None = None,
        demands: FloatArray | None = None,
    ) -> tuple[IndexArray, FloatArray]:
        """The same for every row of `points`; rows end with -1 at distance infinity if nodes are fewer.

        With room [nodes, resources], of the nodes that have it for the row's demand [points, resources].
        """
        rows = np.ascontiguousarray(points, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.dimensions or np.isnan(rows).any():
            raise ValueError(f"points: need rows of {self.dimensions} numbers, got shape {rows.shape}")
        if room is None or demands is None:
            room, demands = np.zeros((0, 0)), np.zeros((len(rows), 0))
        elif len(demands) != len(rows) or room.shape != (self._size, demands.shape[1]):
            raise ValueError(f"room: shapes {room.shape} and {demands.shape} don't fit {len(rows)} points")
        return nearest_of_many(self.tree, rows, max(count, 0), room, demands)

    def nearest_where(self, point: ArrayLike, accepted: Callable[[IndexArray], BoolArray]) -> int:
        """The nearest node that is accepted; -1: none is.

        `accepted` is asked about nodes in groups, no node twice, and says which ones will do as things
        are at that moment: rooms may change from one search to the next.
        """
        here = self._point(point)
        numbers, distances = nearest_points(self.tree, here, FIRST_TRY)
        fitting = accepted(numbers) if len(numbers) else np.zeros(0, dtype=np.bool_)
        if fitting.any():
            return int(numbers[np.argmax(fitting)])
        return self._farther(here, accepted, numbers, distances) if len(numbers) < len(self) else -1

    def _farther(
        self,
        here: FloatArray,
        accepted: Callable[[IndexArray], BoolArray],
        refused: IndexArray,
        distances: FloatArray,
    ) -> int:
        """Beyond what was refused: leaf by leaf, the nearer ones first, until none can have a nearer node."""
        last, reached = int(refused[-1]), float(distances[-1])
        asked, best, least = len(refused), -1, np.inf
        parts, bounds, size = begin_search(self.tree, here)
        while size and -bounds[0] <= least:
            # Once there is one, all that could be nearer than it are asked for together.
            count = max(4 * FIRST_TRY, asked) if best < 0 else len(self)
            numbers, distances, size = search_on(self.tree, here, parts, bounds, size, count, least)
            new = (distances > reached) | ((distances == reached) & (numbers > last))
            numbers, distances = numbers[new], distances[new]
            asked += len(numbers)
            fitting = accepted(numbers) if len(numbers) else np.zeros(0, dtype=np.bool_)
            if fitting.any():
                numbers, distances = numbers[fitting], distances[fitting]
                nearest = float(distances.min())
                number = int(numbers[distances == nearest].min())
                if (nearest, number) < (least, best if best >= 0 else self._size):
                    best, least = number, nearest
        return best

    def nearest_with_room(
        self, point: ArrayLike, room: FloatArray, demand: FloatArray, allowed: BoolArray | None = None
    ) -> int:
        """The nearest node whose room [nodes, resources] holds a demand [resources]; -1: none does."""
        everywhere = np.ones(self._size, dtype=np.bool_) if allowed is None else allowed
        return int(nearest_with_room(self.tree, self._point(point), room, demand, everywhere))

    def within(self, point: ArrayLike, radius: float) -> IndexArray:
        """The nodes within a radius, by distance and then number."""
        numbers, distances = points_within(self.tree, self._point(point), float(radius))
        return numbers[np.lexsort((numbers, distances))]

    def in_ellipse(self, first: ArrayLike, second: ArrayLike, length: float) -> IndexArray:
        """The nodes, by number, whose distances from two foci sum up to at most `length`.

        A node's height counts on both ways. If the foci are nodes, too, the caller takes their heights
        off the length.
        """
        numbers = points_in_ellipse(self.tree, self._point(first), self._point(second), float(length))
        return np.sort(numbers)

    def _point(self, point: ArrayLike) -> FloatArray:
        here = np.ascontiguousarray(point, dtype=np.float64)
        if here.shape != (self.dimensions,) or np.isnan(here).any():
            raise ValueError(f"point: need {self.dimensions} numbers, got {point!r}")
        return here
