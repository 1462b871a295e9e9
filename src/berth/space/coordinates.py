"""Where the nodes are in the latency space, and how far that is from what was measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.core import space as core
from berth.model.arrays import FloatArray, IndexArray
from berth.model.randomness import generator_for
from berth.space.samples import Samples

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
    relative = absolute / np.maximum(delay, core.SHORTEST_MS)
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


def _nobody() -> IndexArray:
    return np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """A point for every node: distances are one-way delays in ms.

    Nodes in `unplaced` have no measured delay to the others (none at all, or only within an island of few
    nodes). Their points are far away from everything, so that no nearest node is ever one of them while
    others are there; how far means nothing.
    """

    positions: FloatArray
    """[nodes, dimensions], in ms."""
    heights: FloatArray
    """[nodes], in ms: what a node adds to each of its distances; zeros where heights are off."""
    errors: ErrorFigures | None
    """How well measured delays are met; None where positions were given and nothing was measured."""
    resets: int = 0
    """How often a point went out of all bounds and was started again."""
    rounds: int = 0
    """Passes over the samples until the error was stable, or as many as are allowed; 0: points were given."""
    polish_rounds: int = 0
    """Passes of the polish after it."""
    unplaced: IndexArray = field(default_factory=_nobody)
    """The nodes of which nothing is known that relates them to the others."""
    islands: IndexArray = field(default_factory=_nobody)
    """The island of every node, the largest being 0; empty where positions were given."""

    def distances_from(self, place: FloatArray, nodes: IndexArray) -> FloatArray:
        """How far some nodes are from a place, their heights included."""
        apart = np.sqrt(((self.positions[nodes] - place) ** 2).sum(axis=1))
        return np.asarray(apart + self.heights[nodes])

    def distances(self, senders: IndexArray, receivers: IndexArray) -> FloatArray:
        """The estimated delay of every pair, heights included; 0 from a node to itself."""
        apart = np.sqrt(((self.positions[senders] - self.positions[receivers]) ** 2).sum(axis=-1))
        estimate = apart + self.heights[senders] + self.heights[receivers]
        return np.asarray(np.where(np.equal(senders, receivers), 0.0, estimate))
