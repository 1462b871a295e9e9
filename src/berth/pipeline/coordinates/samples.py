"""One delay for each measured pair of nodes, and what is typical of them."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.space.errors import MOST_PAIRS


def pooled(records: DataFrame) -> DataFrame:
    """The median delay of every pair (columns first, second, delay_ms), which needs no order of records."""
    return records.groupBy("first", "second").agg(F.median("delay_ms").alias("delay_ms"))


def averaged(pairs: DataFrame) -> DataFrame:
    """The mean of the delays of every pair that occurs twice at most, which is quicker than a median."""
    mean = (F.min("delay_ms") + F.max("delay_ms")) / 2
    return pairs.groupBy("first", "second").agg(mean.alias("delay_ms"))


def some_pairs(pairs: DataFrame, count: int, seed: int) -> DataFrame:
    """All of few pairs, about 200,000 of many: always the same ones for a seed."""
    if count <= MOST_PAIRS:
        return pairs
    chance = F.pmod(F.xxhash64(F.lit(seed), "first", "second"), F.lit(count))
    return pairs.where(chance < MOST_PAIRS)


def typical_delay(pairs: DataFrame) -> float:
    """The median of the delays above 0; 1 where there is none."""
    found = pairs.where(F.col("delay_ms") > 0).agg(F.median("delay_ms")).first()
    return 1.0 if found is None or found[0] is None else float(found[0])
