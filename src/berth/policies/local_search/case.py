"""A problem for compiled code: blocks, what they need and exchange, and what nodes are to each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.int64]
Marks = NDArray[np.uint8]


class Case(NamedTuple):
    """All of it, in two arrays: see `fields.py`."""

    ints: IndexArray
    reals: FloatArray
