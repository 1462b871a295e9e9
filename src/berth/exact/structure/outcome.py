"""What a search over a pipeline or a fan comes to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FINE = 1e-10
"""Costs that differ by less than this share are the same."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a search has found: a place for each block, its costs, and a bound on all plans' costs."""

    places: NDArray[np.intp] | None
    costs: float
    bound: float
    work: int
