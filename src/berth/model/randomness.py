"""The one source of chance."""

from __future__ import annotations

import numpy as np


def generator_for(seed: int) -> np.random.Generator:
    """A generator for any whole number; numpy itself refuses those below 0."""
    return np.random.default_rng(seed % 2**64)
