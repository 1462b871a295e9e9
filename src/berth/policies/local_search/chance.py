"""Chance for the compiled loops of the search."""

from __future__ import annotations

import numpy as np

from berth.policies.local_search.inner import inner
from berth.policies.two_stage.mcts_case import Words
from berth.policies.two_stage.mcts_state import below

__all__ = ["Words", "drawn", "uniform"]

FRACTIONS = 2**32


@inner
def drawn(random: Words, limit: int) -> int:
    """A whole number from 0 to below a limit, signed so that it may be added to positions."""
    return np.int64(below(random, limit))  # type: ignore[return-value]


@inner
def uniform(random: Words) -> float:
    """A number above 0 and up to 1."""
    return (np.float64(below(random, FRACTIONS)) + 1.0) / FRACTIONS
