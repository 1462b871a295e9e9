"""Draws that several generators make."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

DECIMALS = 4
"""Of drawn numbers: files are shorter, and nothing that is measured is known better."""


def uniform(
    rng: np.random.Generator, low: float, high: float, size: int | tuple[int, ...] = ()
) -> FloatArray:
    """Numbers between two bounds, both included."""
    return np.clip(np.round(rng.uniform(low, high, size), DECIMALS), low, high)


def symmetric(matrix: FloatArray) -> FloatArray:
    """The upper half of a matrix, mirrored to the lower one."""
    upper = np.triu(matrix, 1)
    return upper + upper.T
