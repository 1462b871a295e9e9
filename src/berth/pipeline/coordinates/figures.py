"""How far positions are from what was measured, by Spark's own functions."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.space.errors import ErrorFigures
from berth.space.vivaldi_kernel import SHORTEST_MS

UNITS = 2**20
"""Errors are rounded to such parts of a ms: their sum doesn't depend on the order."""


def error_figures_of(
    positions: DataFrame, dimensions: int, judged: DataFrame, measured_pairs: int
) -> ErrorFigures | None:
    """The figures of `berth.space.errors`, over some measured pairs.

    Args:
        positions: the columns node, position and height_ms.
        dimensions: of the positions.
        judged: the pairs, with the columns first, second and delay_ms.
        measured_pairs: how many there are in all.
    """
    first = positions.select(
        F.col("node").alias("first"), F.col("position").alias("here"), F.col("height_ms").alias("up")
    )
    second = positions.select(
        F.col("node").alias("second"), F.col("position").alias("there"), F.col("height_ms").alias("down")
    )
    squares = [(F.col("here")[axis] - F.col("there")[axis]) ** 2 for axis in range(dimensions)]
    apart = F.sqrt(reduce(Column.__add__, squares)) + F.col("up") + F.col("down")
    absolute = F.round(F.abs(apart - F.col("delay_ms")) * UNITS) / UNITS
    rows = judged.join(first, "first").join(second, "second").select(absolute.alias("absolute"), "delay_ms")
    relative = F.col("absolute") / F.greatest("delay_ms", F.lit(SHORTEST_MS))
    found = rows.agg(
        F.count("*"),
        F.avg("absolute"),
        F.percentile("absolute", F.array(*map(F.lit, (0.5, 0.9, 0.99)))),
        F.max("absolute"),
        F.percentile(relative, F.array(F.lit(0.5), F.lit(0.9))),
    ).first()
    if found is None or not found[0]:
        return None
    pairs, mean, (median, p90, p99), largest, (relative_median, relative_p90) = found
    return ErrorFigures(mean, median, p90, p99, largest, relative_median, relative_p90, pairs, measured_pairs)
