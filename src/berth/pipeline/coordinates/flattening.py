"""Points seen along the axes in which they lie widest; sums come to the driver, points don't."""

from __future__ import annotations

from functools import reduce

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

UNITS = 2**20
"""Summands are rounded to such parts of a typical delay (of its square): their sums are exact."""


def flattened(positions: DataFrame, now: int, wanted: int, typical_ms: float) -> DataFrame:
    """Positions with fewer dimensions.

    Args:
        positions: with the column position.
        now: how many dimensions there are.
        wanted: how many there shall be.
        typical_ms: what is a long way.
    """
    axes = [F.col("position")[axis] for axis in range(now)]
    shares = [axis / F.lit(typical_ms) for axis in axes]
    pairs = [(a, b) for a in range(now) for b in range(a, now)]
    summands = [*shares, *(shares[a] * shares[b] for a, b in pairs)]
    sums = positions.agg(F.count("*"), *(F.sum(F.round(each * UNITS)) for each in summands)).first()
    assert sums is not None
    count = max(sums[0], 1)
    means = np.array(sums[1 : 1 + now], dtype=np.float64) / UNITS / count
    products = np.zeros((now, now))
    for (a, b), total in zip(pairs, sums[1 + now :], strict=True):
        products[a, b] = products[b, a] = total / UNITS / count
    _, vectors = np.linalg.eigh(products - np.outer(means, means))
    chosen = vectors[:, -wanted:]
    centred = [axis - F.lit(float(mean * typical_ms)) for axis, mean in zip(axes, means, strict=True)]
    return positions.withColumn("position", F.array(*(_along(centred, axis) for axis in chosen.T)))


def _along(centred: list[Column], direction: np.ndarray) -> Column:
    return reduce(
        Column.__add__, (axis * F.lit(float(part)) for axis, part in zip(centred, direction, strict=True))
    )
