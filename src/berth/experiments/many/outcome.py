"""What came out of a sweep, as arrays: plans found and relative performance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from berth.experiments.many.ways import HEURISTICS, REUSE
from berth.policies.sharing.heuristics import STRATEGIES

Shares = NDArray[np.float64]
"""By run and strategy: means over values of what is varied."""
WAYS = (2, len(STRATEGIES), len(HEURISTICS))


@dataclass(frozen=True)
class Outcome:
    """By value, run, reuse, strategy and heuristic.

    Attributes:
        values: of what is varied.
        found: 1 where there is a plan, 0 where there is none.
        quality: the least cost of any way for this forest over the way's own; 0 where it found no plan.
    """

    values: NDArray[np.float64]
    found: NDArray[np.float64]
    quality: NDArray[np.float64]

    def success(
        self,
        heuristics: int | Sequence[int],
        low: float = -np.inf,
        high: float = np.inf,
        reuse: int = REUSE,
    ) -> Shares:
        """Shares of plans found, the mean over heuristics and over values from `low` to `high`."""
        return self._mean(self.found, heuristics, low, high, reuse)

    def performance(
        self,
        heuristics: int | Sequence[int],
        low: float = -np.inf,
        high: float = np.inf,
        reuse: int = REUSE,
    ) -> Shares:
        """Relative performance, likewise."""
        return self._mean(self.quality, heuristics, low, high, reuse)

    def _mean(
        self, table: NDArray[np.float64], heuristics: int | Sequence[int], low: float, high: float, reuse: int
    ) -> Shares:
        chosen = [heuristics] if isinstance(heuristics, int) else list(heuristics)
        part = table[(self.values >= low) & (self.values <= high)][:, :, reuse]
        return np.asarray(part[..., chosen].mean(axis=(0, -1)))


def outcome_of(table: pd.DataFrame) -> Outcome:
    """The outcome of a table of one variant, with all ways of each forest."""
    places = {
        "strategy": pd.Categorical(table["strategy"], STRATEGIES).codes,
        "heuristic": pd.Categorical(table["heuristic"], list(HEURISTICS)).codes,
    }
    ordered = table.assign(**places).sort_values(["value", "forest", "reuse", "strategy", "heuristic"])
    values = np.unique(ordered["value"].to_numpy(dtype=np.float64))
    found = ordered["found"].to_numpy(dtype=bool).reshape(len(values), -1, *WAYS)
    speed = ordered["enrolled_speed"].to_numpy(dtype=np.float64).reshape(found.shape)
    least = np.where(found, speed, np.inf).min(axis=(2, 3, 4), keepdims=True)
    quality = np.divide(least, speed, out=np.zeros(found.shape), where=found)
    return Outcome(values, found.astype(np.float64), quality)
