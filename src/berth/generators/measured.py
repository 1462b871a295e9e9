"""Delays between nodes: measured ones that a user gives, or synthetic ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from berth.generators.draws import DECIMALS, symmetric

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Delays:
    """What lies between every two of some nodes, one way, in ms; NaN: no link."""

    delay_ms: FloatArray
    given_names: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.delay_ms)

    @cached_property
    def names(self) -> list[str]:
        """The nodes' names; numbers where none are given."""
        return list(self.given_names or (f"n{number}" for number in range(len(self))))

    @property
    def matrices(self) -> dict[str, FloatArray]:
        """The delays as a network has them."""
        return {"delay_ms": self.delay_ms}

    def some(self, count: int, rng: np.random.Generator) -> Delays:
        """So many of the nodes, drawn at random; all in their order if they are not more."""
        if count >= len(self):
            return self
        chosen = np.sort(rng.permutation(len(self))[:count])
        names = None if self.given_names is None else [self.given_names[k] for k in chosen.tolist()]
        return Delays(self.delay_ms[np.ix_(chosen, chosen)], names)


def normal_delays(count: int, mean: float, deviation: float, rng: np.random.Generator) -> Delays:
    """Delays max(N(mean, deviation), 1), the same both ways (paper 000, table 2)."""
    drawn = np.maximum(rng.normal(mean, deviation, (count, count)), 1.0)
    return Delays(symmetric(drawn.round(DECIMALS)))


@dataclass(frozen=True)
class Space:
    """Where nodes are that have no measured delays: clusters in three dimensions (card X3.1)."""

    clusters: int = 5
    across_ms: float = 120.0
    cluster_ms: float = 12.0
    noise: float = 0.15
    height_ms: float = 4.0

    def places(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Nodes around the centres of clusters, in ms."""
        centres = rng.uniform(0, self.across_ms, (self.clusters, 3))
        around = centres[rng.integers(self.clusters, size=count)]
        return np.asarray(around + rng.normal(0, self.cluster_ms, (count, 3)))

    def heights(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Every node's own way into the network."""
        return rng.exponential(self.height_ms, count)

    def delays(self, count: int, rng: np.random.Generator) -> Delays:
        """Distances with log-normal noise, and both heights: a space meets them only roughly."""
        places = self.places(count, rng)
        squares = sum((axis[:, None] - axis) ** 2 for axis in places.T)
        noise = symmetric(rng.normal(0, self.noise, (count, count)))
        heights = self.heights(count, rng)
        delays = np.sqrt(squares) * np.exp(noise) + heights[:, None] + heights
        np.fill_diagonal(delays, 0.0)
        return Delays(np.round(delays, DECIMALS))
