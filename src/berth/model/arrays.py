"""The numpy arrays that occur everywhere, by what is in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
"""Numbers of nodes, instances, units and so on."""
BoolArray = NDArray[np.bool_]
