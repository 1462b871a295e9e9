"""From many values to one: exact sums, a robust level, a moving average.

**Sums** of values that were rounded to fractions of a power of two are exact, so they don't depend on the
order in which values come and are added up.

**The robust level.** A value's logarithm falls into a bucket of fixed width; a bucket keeps its number of
values and the sums of their first two powers. That is one cheap pass, and partial sums from anywhere can be
merged. From the buckets of one link, `with_level` starts at the median's bucket and takes the mean of the
logarithms within a few deviations around it, again and again: values far off don't count, however far they
are. For log-normal noise this is the median.

**The moving average** is exponential, over the time windows of what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812


def window_of(time: Column, window_ms: int | None) -> Column:
    """The start of the window that a time falls into, in epoch milliseconds; 0 if there is only one."""
    if window_ms is None:
        return F.lit(0).cast("bigint")
    return (F.floor(time / window_ms) * window_ms).cast("bigint")


def amount(name: str, fraction: float) -> Column:
    """The sum of a column, exact in any order since each value is rounded to a fraction first."""
    return F.sum(F.rint(F.col(name) * fraction) / fraction).alias(name)


def ordered_sum(value: Column) -> Column:
    """The sum of a few values in the order of their size: the same to the last bit every time."""
    return F.aggregate(F.array_sort(F.collect_list(value)), F.lit(0.0), lambda total, item: total + item)


BUCKET_WIDTH = 0.5
"""Of natural logarithms: a bucket's end is 65 % above its start."""

SMALLEST = 1e-6
"""What is smaller has this level's logarithm; a level this small is 0."""

REACH = 3.5
"""Deviations within which a value counts."""

_ROUNDS = 12
_STILL = 1e-12
"""A round that moves less is the last one."""
_UNITS = float(2**26)
"""Sums are of whole numbers of units: they are exact in any order, so results don't depend on it."""


def with_bucket(rows: DataFrame, value: str) -> DataFrame:
    """The rows with the number of a value's `bucket`, and how far `inside` it the value lies, from 0 to 1.

    Both are null where there is no value.
    """
    logarithm = F.when(F.col(value).isNotNull(), F.log(F.greatest(F.col(value), F.lit(SMALLEST))))
    return (
        rows.withColumn("inside", logarithm / BUCKET_WIDTH)
        .withColumn("bucket", F.floor("inside").cast("int"))
        .withColumn("inside", F.col("inside") - F.col("bucket"))
    )


def bucket_sums() -> list[Column]:
    """The aggregates `n`, `first_power` and `second_power` of rows that share a bucket."""
    inside = F.col("inside")
    return [
        F.count(inside).alias("n"),
        F.sum(F.rint(inside * _UNITS)).alias("first_power"),
        F.sum(F.rint(inside * inside * _UNITS)).alias("second_power"),
    ]


def with_level(sums: DataFrame, keys: list[str]) -> DataFrame:
    """From rows of keys, `bucket` and its sums to rows of keys, `level`, `spread` and `samples`.

    `spread` is the standard deviation of the values that count, in their own unit; `samples` counts all of
    them.
    """
    inside, square = (F.col(power) / F.col("n") / _UNITS for power in ("first_power", "second_power"))
    mean = (F.col("bucket") + inside) * BUCKET_WIDTH
    variance = F.greatest(square - inside * inside, F.lit(0.0)) * BUCKET_WIDTH**2
    point = F.struct(mean.alias("mean"), variance.alias("variance"), F.col("n").cast("double").alias("n"))
    points = F.array_sort(F.collect_list(point))
    grouped = sums.groupBy(*keys).agg(points.alias("points"), F.sum("n").alias("samples"))
    fitted = grouped.withColumn("fit", _fit(F.col("points"))).withColumn(
        "level", _from_logarithm(F.col("fit.centre"))
    )
    return fitted.select(*keys, "level", (F.col("level") * F.col("fit.deviation")).alias("spread"), "samples")


def _from_logarithm(logarithm: Column) -> Column:
    """The value to eight digits that matter, since the units give no more; 0 at the smallest level."""
    value = F.exp(logarithm)
    scale = F.pow(F.lit(10.0), 7 - F.floor(F.log10(value)))
    return F.when(value > SMALLEST * 1.001, F.rint(value * scale) / scale).otherwise(0.0)


def _fit(points: Column) -> Column:
    start = F.struct(
        _median_mean(points).alias("centre"),
        F.lit(0.0).alias("deviation"),
        F.lit(1.5 * BUCKET_WIDTH).alias("reach"),
        F.lit(False).alias("still"),
    )
    rounds = F.sequence(F.lit(1), F.lit(_ROUNDS))

    def step(state: Column, _: Column) -> Column:
        return F.when(state["still"], state).otherwise(_closer(points, state))

    return F.aggregate(rounds, start, step)


def _median_mean(points: Column) -> Column:
    """The mean of the bucket that the median falls into."""
    half = F.aggregate(points, F.lit(0.0), lambda total, point: total + point["n"]) / 2
    start = F.struct(F.lit(0.0).alias("passed"), F.lit(None).cast("double").alias("mean"))

    def step(state: Column, point: Column) -> Column:
        passed = state["passed"] + point["n"]
        reached = state["mean"].isNull() & (passed >= half)
        mean = F.when(reached, point["mean"]).otherwise(state["mean"])
        return F.struct(passed.alias("passed"), mean.alias("mean"))

    return F.aggregate(points, start, step)["mean"]


def _closer(points: Column, state: Column) -> Column:
    """The mean and deviation of what lies within reach of the state's centre, and a new reach."""

    def add(sums: Column, point: Column) -> Column:
        off = point["mean"] - state["centre"]
        more = F.struct(
            (sums["n"] + point["n"]).alias("n"),
            (sums["off"] + point["n"] * off).alias("off"),
            (sums["square"] + point["n"] * (point["variance"] + off * off)).alias("square"),
        )
        return F.when(F.abs(off) <= state["reach"], more).otherwise(sums)

    def finish(sums: Column) -> Column:
        off = sums["off"] / sums["n"]
        deviation = F.sqrt(F.greatest(sums["square"] / sums["n"] - off * off, F.lit(0.0)))
        reach = F.greatest(REACH * deviation, F.lit(BUCKET_WIDTH))
        return F.struct(
            (state["centre"] + off).alias("centre"),
            deviation.alias("deviation"),
            reach.alias("reach"),
            (F.abs(off) + F.abs(reach - state["reach"]) < _STILL).alias("still"),
        )

    nothing = F.struct(F.lit(0.0).alias("n"), F.lit(0.0).alias("off"), F.lit(0.0).alias("square"))
    return F.aggregate(points, nothing, add, finish)


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
