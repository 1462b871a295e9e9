"""Places that differ in nothing: exchanging them changes no plan's costs, nor whether it fits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.exact.additive.tables import Tables

IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


class Twins:
    """For every place, the first one that is like it."""

    def __init__(self, tables: Tables) -> None:
        count = len(tables.nodes)
        self._kind = np.arange(count)
        for place in range(1, count):
            for earlier in np.unique(self._kind[:place]).tolist():
                if _equal(tables, earlier, place):
                    self._kind[place] = earlier
                    break

    def firsts(self, places: IndexArray, allowed: BoolArray) -> IndexArray:
        """Of some ascending places, the first of those that are alike and allowed to the same blocks."""
        seen: set[tuple[int, bytes]] = set()
        kept = []
        for place in places.tolist():
            key = int(self._kind[place]), allowed[:, place].tobytes()
            if key not in seen:
                seen.add(key)
                kept.append(place)
        return np.array(kept, dtype=np.intp)


def _equal(tables: Tables, one: int, other: int) -> bool:
    """Whether exchanging two places leaves all tables as they are."""
    order = np.arange(len(tables.nodes))
    order[[one, other]] = other, one
    rows = (tables.cost[:, [one, other]], tables.allowed[:, [one, other]], tables.limit[:, [one, other]])
    if not all(np.array_equal(part[:, 0], part[:, 1]) for part in rows):
        return False
    # Whose limit counts: only where each place stands for itself, so no label binds it to others.
    for group in tables.group:
        if (np.flatnonzero(group == group[one]) != one).any() or (
            np.flatnonzero(group == group[other]) != other
        ).any():
            return False
    near = [one, other]
    return np.array_equal(
        tables.pair[:, near, :], tables.pair[:, order[near], :][:, :, order]
    ) and np.array_equal(tables.pair[:, :, near], tables.pair[:, order, :][:, :, order[near]])
