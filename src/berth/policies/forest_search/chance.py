"""Chance for compiled loops, in whole numbers that may index arrays."""

from __future__ import annotations

import numpy as np

from berth.policies.two_stage.mcts_case import Words
from berth.policies.two_stage.mcts_state import below
from berth.space.compiled import compiled

__all__ = ["Words", "drawn"]


@compiled
def drawn(random: Words, limit: int) -> int:
    """A whole number from 0 to below a limit."""
    return np.int64(below(random, limit))  # type: ignore[return-value]
