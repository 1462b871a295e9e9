"""Lists of lists as two arrays: the bounds of the parts, and all that is in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def lists_of(group: NDArray[np.int64] | NDArray[np.intp], groups: int) -> tuple[IntArray, IntArray]:
    """Bounds of the groups and, group by group, the positions that belong to each."""
    order = np.argsort(group, kind="stable").astype(np.int64)
    return np.searchsorted(group[order], np.arange(groups + 1)).astype(np.int64), order


def joined(lists: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Lists of numbers as their bounds and one array."""
    first = np.concatenate([[0], np.cumsum([len(part) for part in lists])]).astype(np.int64)
    return first, np.array([number for part in lists for number in part], dtype=np.int64)
