"""What others have taken already of the nodes that a plan may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Occupied:
    """Amounts that are gone, in the order of the network's nodes."""

    amounts: Mapping[str, FloatArray]
    """By resource; one that is not named here is untouched."""
    busy: FloatArray
    """The share of every node's processor."""
    operators: FloatArray
    """How many operators with a choice each node has."""
