"""Chance in experiments: a generator for each seed and name, the same in every process."""

from __future__ import annotations

from zlib import crc32

import numpy as np


def named_generator(seed: int, name: str) -> np.random.Generator:
    """The generator of a seed and a name, such as that of a run: other names draw other numbers."""
    return np.random.default_rng([seed % 2**64, crc32(name.encode())])
