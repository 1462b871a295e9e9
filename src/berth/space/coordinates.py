"""Where the nodes are in the latency space."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from berth.space.errors import ErrorFigures

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]


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

    def distances(self, senders: IndexArray, receivers: IndexArray) -> FloatArray:
        """The estimated delay of every pair, heights included; 0 from a node to itself."""
        apart = np.sqrt(((self.positions[senders] - self.positions[receivers]) ** 2).sum(axis=-1))
        estimate = apart + self.heights[senders] + self.heights[receivers]
        return np.asarray(np.where(np.equal(senders, receivers), 0.0, estimate))
