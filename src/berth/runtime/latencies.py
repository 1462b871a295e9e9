"""Percentiles of many times in little memory."""

from __future__ import annotations

import math
from collections import Counter

_WIDTH = math.log(1.02)
"""A bucket's end is 2 % above its start."""
_SHORTEST_MS = 0.01


class Latencies:
    """Counts times by the bucket that their logarithm falls into: a percentile is off by 2 % at most."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._sums: dict[int, float] = {}
        self.longest = 0.0
        self.last = 0.0

    def add(self, milliseconds: float) -> None:
        """Count one."""
        bucket = math.floor(math.log(max(milliseconds, _SHORTEST_MS)) / _WIDTH)
        self._counts[bucket] += 1
        self._sums[bucket] = self._sums.get(bucket, 0.0) + milliseconds
        self.longest = max(self.longest, milliseconds)
        self.last = milliseconds

    def at(self, share: float) -> float:
        """The time that this share of them doesn't exceed: the mean of its bucket; 0 if there are none."""
        passed, total = 0, self._counts.total()
        for bucket in sorted(self._counts):
            passed += self._counts[bucket]
            if passed >= share * total:
                return self._sums[bucket] / self._counts[bucket]
        return 0.0
