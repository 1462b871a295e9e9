"""From judged records to sums: small, and the same whatever the order in which records come and are added up.

Every sum has the keys of its folder, the time window (its start in epoch milliseconds; 0 if there is only
one) and the times of its first and last record. `merged` adds sums up, so one batch over everything and a
stream of many small batches end with the same numbers.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feed import HEARTBEATS, OPERATORS, PROBES, STREAMS, Folder
from berth.pipeline.level import bucket_sums, with_bucket

KEYS = {
    PROBES.name: ("window", "from", "to", "bucket"),
    HEARTBEATS.name: ("window", "node", "up", "bucket"),
    OPERATORS.name: ("window", "application", "operator", "instance", "node"),
    STREAMS.name: ("window", "application", "from", "to"),
}
_COMMON = "records bigint, first bigint, last bigint"
_LEVEL = f"{_COMMON}, n bigint, first_power double, second_power double"
SCHEMAS = {
    PROBES.name: f"window bigint, `from` string, `to` string, bucket int, {_LEVEL}",
    HEARTBEATS.name: f"window bigint, node string, up boolean, bucket int, {_LEVEL}, run_queue double",
    OPERATORS.name: (
        "window bigint, application string, operator string, instance string, node string, "
        f"{_COMMON}, tuples double, busy_ms double"
    ),
    STREAMS.name: (
        "window bigint, application string, `from` string, `to` string, "
        f"{_COMMON}, tuples double, bytes double, window_ms double"
    ),
}
_FRACTIONS = {"busy_ms": 2.0**20}
_FRACTION = 2.0**10
"""Amounts are rounded to such fractions: in doubles, sums of these are exact in any order."""


def window_of(time: Column, window_ms: int | None) -> Column:
    """The start of the window that a time falls into."""
    if window_ms is None:
        return F.lit(0).cast("bigint")
    return (F.floor(time / window_ms) * window_ms).cast("bigint")


def sums_of(judged: DataFrame, folder: Folder, window_ms: int | None) -> DataFrame:
    """Sums of the records that make sense (`reason` is null), and a row with their number for every reason.

    One pass gives both: what makes no sense has no values, so each reason is one group.
    """
    sensible = F.col("reason").isNull()
    names = [field.name for field in folder.fields]
    rows = judged.select("reason", *(F.when(sensible, F.col(f"`{name}`")).alias(name) for name in names))
    level = {PROBES.name: "rtt_ms", HEARTBEATS.name: "mips"}.get(folder.name)
    if level is not None:
        rows = with_bucket(rows, level)
    sums = _amounts(folder) if level is None else bucket_sums()
    if folder is HEARTBEATS:
        sums.append(_amount("run_queue"))
    keys = KEYS[folder.name]
    if window_ms is None:  # a constant among the keys would cost something in every record
        keys = keys[1:]
    else:
        rows = rows.withColumn("window", window_of(F.col("ts"), window_ms))
    grouped = rows.groupBy("reason", *keys).agg(
        F.count(F.lit(1)).alias("records"), F.min("ts").alias("first"), F.max("ts").alias("last"), *sums
    )
    return grouped.withColumn("window", F.lit(0).cast("bigint")) if window_ms is None else grouped


def _amounts(folder: Folder) -> list[Column]:
    return [_amount(field.name) for field in folder.fields if field.kind == "number"]


def _amount(name: str) -> Column:
    fraction = _FRACTIONS.get(name, _FRACTION)
    return F.sum(F.rint(F.col(name) * fraction) / fraction).alias(name)


def ordered_sum(value: Column) -> Column:
    """The sum of a few values in the order of their size: the same to the last bit every time."""
    return F.aggregate(F.array_sort(F.collect_list(value)), F.lit(0.0), lambda total, item: total + item)


def merged(sums: DataFrame, folder: Folder) -> DataFrame:
    """Sums of the same keys added up."""
    keys = KEYS[folder.name]
    others = [name for name in sums.columns if name not in keys]
    return sums.groupBy(*keys).agg(*(_MERGE.get(name, F.sum)(name).alias(name) for name in others))


_MERGE = {"first": F.min, "last": F.max}
