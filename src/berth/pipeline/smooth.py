"""An exponential moving average of every measure over its time windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

_NEGLIGIBLE = 1e-15
"""Of an average: what weighs less is left out, so that long histories cost no more than short ones."""


def smoothed(
    table: DataFrame,
    keys: Sequence[str],
    measures: Sequence[str],
    weight: float,
    seeds: DataFrame | None = None,
) -> DataFrame:
    """The table with a column `smoothed_x` beside every measure x.

    A window without a value of x takes no part in the average of x, and has the average so far.

    Args:
        table: rows of `window`, the keys and the measures.
        keys: what is measured, without the window.
        measures: the columns to smooth.
        weight: of a new window, above 0 and at most 1; 1 takes every window's value as it is.
        seeds: the keys and `smoothed_x` up to the windows before these.
    """
    starts: dict[str, Column] = {name: F.lit(None).cast("double") for name in measures}
    if seeds is not None:
        renamed = [F.col(f"smoothed_{name}").alias(f"seed_{name}") for name in measures]
        table = table.join(seeds.select(*keys, *renamed), list(keys), "left")
        starts = {name: F.col(f"seed_{name}") for name in measures}
    reach = 0 if weight >= 1 else math.ceil(math.log(_NEGLIGIBLE) / math.log1p(-weight))
    past = Window.partitionBy(*keys).orderBy("window").rowsBetween(-reach, Window.currentRow)
    averages = [
        F.aggregate(F.collect_list(name).over(past), starts[name], _average(weight)).alias(f"smoothed_{name}")
        for name in measures
    ]
    kept = [name for name in table.columns if not name.startswith("seed_")]
    return table.select(*kept, *averages)


def _average(weight: float) -> Callable[[Column, Column], Column]:
    def step(average: Column, value: Column) -> Column:
        return F.when(average.isNull(), value).otherwise(weight * value + (1 - weight) * average)

    return step


def latest(table: DataFrame, keys: Sequence[str], measures: Sequence[str]) -> DataFrame:
    """The newest average of every measure, one row for each of what is measured, from finished tables."""
    newest = [
        F.max_by(
            F.col(f"smoothed_{name}"), F.when(F.col(f"smoothed_{name}").isNotNull(), F.col("window_start"))
        ).alias(f"smoothed_{name}")
        for name in measures
    ]
    return table.groupBy(*keys).agg(*newest)
