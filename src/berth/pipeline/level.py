"""A robust level of noisy values, from sums that can be added up in any order.

A value's logarithm falls into a bucket of fixed width; a bucket keeps its number of values and the sums of
their first two powers. That is one cheap pass, and partial sums from anywhere can be merged. From the
buckets of one link, `level` starts at the median's bucket and takes the mean of the logarithms within a few
deviations around it, again and again: values far off don't count, however far they are. For log-normal
noise this is the median.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

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
    """The rows with the number of a value's `bucket`, and how far `inside` it the value lies, from 0 to 1."""
    return (
        rows.withColumn("inside", _position(F.col(value)))
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


def _position(value: Column) -> Column:
    return F.log(F.greatest(value, F.lit(SMALLEST))) / BUCKET_WIDTH


def with_level(sums: DataFrame, keys: list[str]) -> DataFrame:
    """From rows of keys, `bucket` and its sums to rows of keys, `level`, `spread` and `samples`.

    `spread` is the standard deviation of the values that count, in their own unit; `samples` counts all of
    them.
    """
    points = F.array_sort(
        F.collect_list(
            F.struct(
                _bucket_mean().alias("mean"),
                _bucket_variance().alias("variance"),
                F.col("n").cast("double").alias("n"),
            )
        )
    )
    grouped = sums.groupBy(*keys).agg(points.alias("points"), F.sum("n").alias("samples"))
    fitted = grouped.withColumn("fit", _fit(F.col("points"))).withColumn(
        "level", _from_logarithm(F.col("fit.centre"))
    )
    return fitted.select(*keys, "level", (F.col("level") * F.col("fit.deviation")).alias("spread"), "samples")


def _bucket_mean() -> Column:
    return (F.col("bucket") + F.col("first_power") / F.col("n") / _UNITS) * BUCKET_WIDTH


def _bucket_variance() -> Column:
    mean = F.col("first_power") / F.col("n") / _UNITS
    square = F.col("second_power") / F.col("n") / _UNITS
    return F.greatest(square - mean * mean, F.lit(0.0)) * BUCKET_WIDTH**2


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
