"""Numbers for names: 0, 1, 2, ... in the order of names, however many partitions there are."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.coordinates.scratch import Scratch

_BITS = 33
"""`monotonically_increasing_id` has the partition above so many bits, and the row's number in it below."""


def numbered(names: DataFrame, scratch: Scratch) -> DataFrame:
    """The columns node and name, for every name in the column name.

    A number of rows for each partition comes to the driver, nothing else.
    """
    ordered = names.distinct().orderBy("name").withColumn("place", F.monotonically_increasing_id())
    kept = scratch.keep("names", ordered)
    partition = F.shiftright("place", _BITS)
    counts = kept.groupBy(partition.alias("partition")).count().orderBy("partition").collect()
    starts, total = {}, 0
    for row in counts:
        starts[row["partition"]] = total
        total += row["count"]
    if not starts:
        return kept.select(F.col("place").alias("node"), "name")
    start = F.create_map(*(F.lit(value).cast("bigint") for pair in starts.items() for value in pair))
    number = start[partition] + F.col("place").bitwiseAND(F.lit(2**_BITS - 1))
    return scratch.keep("nodes", kept.select(number.cast("bigint").alias("node"), "name"))
