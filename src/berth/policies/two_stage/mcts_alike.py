"""Which items, and which bins, can be swapped without any change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]

PROBED = 16


def alike(between: FloatArray, features: Sequence[NDArray[Any]]) -> IndexArray:
    """Groups of rows that can be swapped: the same features, and the same numbers between them and others.

    Where two rows can be swapped, and one of them with a third, the other one can, too: a look at one row of
    each group is enough.
    """
    size = len(between)
    group = np.full(size, -1, dtype=np.intp)
    found = 0
    for row in range(size):
        if group[row] >= 0:
            continue
        rest = np.flatnonzero(group < 0)
        for feature in features:
            rest = rest[(feature[rest] == feature[row]).all(axis=1)]
        # whole rows are compared only where the nearest ones agree: on large networks that are few
        near = np.argsort(between[row], kind="stable")[:PROBED]
        agree = (between[rest[:, None], near] == between[row, near]) | (near == row) | (near == rest[:, None])
        rest = rest[agree.all(axis=1)]
        same = _swappable(between, row, rest) & _swappable(between.T, row, rest)
        group[rest[same]] = found
        found += 1
    return group


def _swappable(between: FloatArray, row: int, others: IndexArray) -> NDArray[np.bool_]:
    equal = between[others] == between[row]
    equal[:, row] = True
    equal[np.arange(len(others)), others] = True
    crosswise = between[others, row] == between[row, others]
    return np.asarray(equal.all(axis=1) & crosswise & (between[others, others] == between[row, row]))


def examples(group: IndexArray) -> tuple[IndexArray, IndexArray]:
    """A member of each group, and another one of that group; the same where there is only one."""
    first = np.unique(group, return_index=True)[1]
    last = len(group) - 1 - np.unique(group[::-1], return_index=True)[1]
    return first, last


def previous_alike(group: IndexArray) -> IndexArray:
    """The member before each one in its group; -1: it is the first."""
    before = np.full(len(group), -1, dtype=np.intp)
    order = np.argsort(group, kind="stable")
    again = group[order][1:] == group[order][:-1]
    before[order[1:][again]] = order[:-1][again]
    return before
