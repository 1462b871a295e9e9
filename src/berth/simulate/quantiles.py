"""Quantiles from counts of latencies in classes that grow by a constant factor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from berth.simulate.state import BINS_PER_DECADE, DECADES, FIRST_DECADE

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

EDGES_MS: FloatArray = 1000.0 * 10.0 ** (
    FIRST_DECADE + np.arange(DECADES * BINS_PER_DECADE + 1) / BINS_PER_DECADE
)


def quantile_ms(counts: IntArray, share: float) -> float:
    """The latency that a share of all is not above, within 1.2 %; NaN without any."""
    total = int(counts.sum())
    if total == 0:
        return float("nan")
    reached = np.cumsum(counts)
    wanted = share * total
    place = int(np.searchsorted(reached, wanted))
    before = int(reached[place] - counts[place])
    part = (wanted - before) / int(counts[place])
    return float(EDGES_MS[place] * (EDGES_MS[place + 1] / EDGES_MS[place]) ** part)
