"""Which samples each node uses, and which nodes' positions a block needs for them."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from berth.space.neighbourhoods import NEAR_SHARE


def neighbourhoods_of(pairs: DataFrame, most: int | None, longest_ms: float, seed: int) -> DataFrame:
    """A row for each node: node, others and delays, by the others' numbers.

    Args:
        pairs: the columns first, second and delay_ms.
        most: how many neighbours a node has at most: a share of nearest ones, the rest random; None: all.
        longest_ms: longer delays count as this long.
        seed: which ones are random.
    """
    delay = F.least("delay_ms", F.lit(longest_ms)).alias("delay_ms")
    forth = pairs.select(F.col("first").alias("node"), F.col("second").alias("other"), delay)
    back = pairs.select(F.col("second").alias("node"), F.col("first").alias("other"), delay)
    samples = forth.unionByName(back)
    if most is not None:
        samples = _chosen(samples, most, round(NEAR_SHARE * most), seed)
    ordered = F.sort_array(F.collect_list(F.struct("other", "delay_ms")))
    rows = samples.groupBy("node").agg(ordered.alias("samples"))
    return rows.select(
        "node", F.col("samples.other").alias("others"), F.col("samples.delay_ms").alias("delays")
    )


def _chosen(samples: DataFrame, most: int, near: int, seed: int) -> DataFrame:
    by_delay = F.row_number().over(Window.partitionBy("node").orderBy("delay_ms", "other"))
    chance = F.xxhash64(F.lit(seed), "node", "other")
    ranked = samples.withColumn("nearness", by_delay)
    first = F.when(F.col("nearness") <= near, 0).otherwise(1)
    rank = F.row_number().over(Window.partitionBy("node").orderBy(first, chance, "other"))
    return ranked.withColumn("rank", rank).where(F.col("rank") <= most).select("node", "other", "delay_ms")


def block_of(node: str, blocks: int) -> Column:
    """The block that a node is in: of no meaning, so that each is a fair sample of all nodes."""
    return F.pmod(F.col(node), F.lit(blocks)).cast("bigint")


def needs_of(neighbourhoods: DataFrame, blocks: int) -> DataFrame:
    """Which positions every block needs: its own nodes' and their neighbours', each once."""
    own = block_of("node", blocks).alias("block")
    others = neighbourhoods.select(own, F.explode("others").alias("node"))
    return others.unionByName(neighbourhoods.select(own, "node")).distinct()
