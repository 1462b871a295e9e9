"""How far a latency space is from what was measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from berth.model.randomness import generator_for
from berth.space.vivaldi_kernel import SHORTEST_MS

if TYPE_CHECKING:
    from berth.space.samples import Samples

FloatArray = NDArray[np.float64]

MOST_PAIRS = 200_000
"""Of more measured pairs than these, a seeded sample of this size is judged."""


@dataclass(frozen=True)
class ErrorFigures:
    """Absolute errors in ms (of one-way delays) and relative ones, over pairs of nodes that were measured."""

    absolute_mean_ms: float
    absolute_median_ms: float
    absolute_p90_ms: float
    absolute_p99_ms: float
    absolute_max_ms: float
    relative_median: float
    relative_p90: float
    pairs: int
    """The pairs that these figures are of."""
    measured_pairs: int
    """All pairs that were measured; more than `pairs` where a sample of them was judged."""

    def as_trace(self) -> dict[str, float | int]:
        """The figures for a plan's trace, rounded to what matters."""
        return {
            name: value if isinstance(value, int) else float(f"{value:.4g}")
            for name, value in asdict(self).items()
        }


def error_figures(
    positions: FloatArray, heights: FloatArray, samples: Samples, seed: int = 0
) -> ErrorFigures | None:
    """Compare distances with measured delays; None where nothing was measured.

    Args:
        positions: where the nodes are, in ms.
        heights: what every node adds to each of its distances, in ms.
        samples: the measured pairs.
        seed: which of very many pairs are judged.
    """
    count = len(samples.delay_ms)
    if count == 0:
        return None
    chosen: slice | NDArray[np.int64] = slice(None)
    if count > MOST_PAIRS:
        chosen = generator_for(seed).choice(count, MOST_PAIRS, replace=False)
    first, second, delay = samples.first[chosen], samples.second[chosen], samples.delay_ms[chosen]
    apart = np.sqrt(((positions[first] - positions[second]) ** 2).sum(axis=1))
    absolute = np.abs(apart + heights[first] + heights[second] - delay)
    relative = absolute / np.maximum(delay, SHORTEST_MS)
    median, p90, p99 = np.percentile(absolute, (50, 90, 99))
    relative_median, relative_p90 = np.percentile(relative, (50, 90))
    return ErrorFigures(
        float(absolute.mean()),
        float(median),
        float(p90),
        float(p99),
        float(absolute.max()),
        float(relative_median),
        float(relative_p90),
        len(delay),
        count,
    )
