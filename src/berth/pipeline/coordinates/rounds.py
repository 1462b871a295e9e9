"""Rounds: all blocks move their nodes at once, then positions are exchanged by a join.

First which samples each node uses and which positions a block needs for them, then what a task does to its
block (`moved`), how dimensions are taken away (`flattened`), and the rounds themselves (`Rounds`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from berth.core import space as core
from berth.pipeline.storage import Scratch
from berth.space.vivaldi import NEAR_SHARE


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


FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]

LARGEST_TOTAL_MS = 2.0**40
"""A block's total error is cut here, so that the sum over all blocks is a number whatever happens."""


@dataclass(frozen=True)
class Step:
    """How a round moves nodes."""

    polish: bool
    """Least absolute errors; False: Vivaldi's springs."""
    sweeps: int
    """So often a block goes through its samples before positions are exchanged again."""
    height: bool
    c_c: float
    c_e: float
    exact_ms: float
    closeness: float
    seed: int
    number: int
    """Of the round."""


def moved(step: Step, neighbourhoods: pa.Table, there: pa.Table) -> pa.Table:
    """New positions of a block's nodes; its total error and its resets are in its first row.

    Args:
        step: how.
        neighbourhoods: block, node, others and delays of every node of the block.
        there: node, position, height_ms and error of all that occur in it.
    """
    own, there = neighbourhoods.sort_by("node"), there.sort_by("node")
    nodes = there["node"].to_numpy()
    rows = np.searchsorted(nodes, own["node"].to_numpy()).astype(np.int64)
    places = there["position"].combine_chunks().flatten().to_numpy()
    positions = places.reshape(len(nodes), -1).copy()
    heights, errors = there["height_ms"].to_numpy().copy(), there["error"].to_numpy().copy()
    samples = _samples(rows, nodes, own)
    generator = np.random.default_rng([step.seed % 2**64, step.number, own["block"][0].as_py()])
    means, resets = [], 0
    for _ in range(step.sweeps):
        if step.polish:
            mean = samples.polish(
                positions,
                heights,
                with_height=step.height,
                exact_ms=step.exact_ms,
                closeness=step.closeness,
            )
        else:
            mean, again = samples.spring(
                generator.permutation(len(rows)),
                positions,
                heights,
                errors,
                with_height=step.height,
                c_c=step.c_c,
                c_e=step.c_e,
                generator=generator,
            )
            resets += again
        means.append(mean)
    first = np.arange(len(rows)) == 0
    return pa.table(
        {
            "node": own["node"],
            "position": _lists(positions[rows]),
            "height_ms": heights[rows],
            "error": errors[rows],
            "total_ms": np.where(first, min(means[0] * samples.samples, LARGEST_TOTAL_MS), 0.0),
            "resets": np.where(first, resets, 0),
        }
    )


def _samples(rows: IntegerArray, nodes: IntegerArray, own: pa.Table) -> core.Neighbourhoods:
    others = own["others"].combine_chunks()
    sizes = pc.list_value_length(others).to_numpy(zero_copy_only=False)
    return core.Neighbourhoods(
        rows,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.searchsorted(nodes, others.flatten().to_numpy()).astype(np.int64),
        own["delays"].combine_chunks().flatten().to_numpy(),
    )


def _lists(places: FloatArray) -> pa.Array:
    count, dimensions = places.shape
    offsets = np.arange(0, (count + 1) * dimensions, dimensions, dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.ascontiguousarray(places).ravel()))


SUMMAND_UNITS = 2**20
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
    sums = positions.agg(F.count("*"), *(F.sum(F.round(each * SUMMAND_UNITS)) for each in summands)).first()
    assert sums is not None
    count = max(sums[0], 1)
    means = np.array(sums[1 : 1 + now], dtype=np.float64) / SUMMAND_UNITS / count
    products = np.zeros((now, now))
    for (a, b), total in zip(pairs, sums[1 + now :], strict=True):
        products[a, b] = products[b, a] = total / SUMMAND_UNITS / count
    _, vectors = np.linalg.eigh(products - np.outer(means, means))
    chosen = vectors[:, -wanted:]
    centred = [axis - F.lit(float(mean * typical_ms)) for axis, mean in zip(axes, means, strict=True)]
    along = [
        reduce(Column.__add__, (axis * F.lit(part) for axis, part in zip(centred, direction, strict=True)))
        for direction in chosen.T.tolist()
    ]
    return positions.withColumn("position", F.array(*along))


POSITIONS = "node bigint, position array<double>, height_ms double, error double"
MOVED = f"{POSITIONS}, total_ms double, resets bigint"
TOTAL_UNITS = 2**10
"""Totals are added up in whole parts of a ms: such sums don't depend on the order."""


@dataclass(frozen=True)
class Round:
    """How far it is: the mean error of the samples before the round's moves."""

    number: int
    polish: bool
    mean_error_ms: float
    resets: int


@dataclass(frozen=True)
class Blocks:
    """What stays the same in all rounds."""

    neighbourhoods: DataFrame
    needs: DataFrame
    count: int
    samples: int
    """Of all nodes: twice as many as pairs if all are used."""


@dataclass(frozen=True)
class Rounds:
    """Rounds over the same blocks, one after the other."""

    blocks: Blocks
    perfect_ms: float
    """A mean error below needs no further round."""
    scratch: Scratch
    """For the positions between rounds."""
    report: Callable[[Round], None]
    """Hears of every round."""
    done: list[Round] = field(default_factory=list)

    def settled(self, positions: DataFrame, step: Step, most: int, stable: float) -> DataFrame:
        """Positions after rounds of one kind.

        Args:
            positions: the columns of `POSITIONS`, stored.
            step: what kind of rounds.
            most: how many, at most.
            stable: they end when a round's error is not below this share of that of the round before.
        """
        before = math.inf
        for _ in range(most):
            numbered = replace(step, number=len(self.done))
            positions, mean, resets = self._round(positions, numbered)
            self.done.append(Round(len(self.done) + 1, step.polish, mean, resets))
            self.report(self.done[-1])
            if mean <= self.perfect_ms or mean >= stable * before:
                break
            before = mean
        return positions

    def _round(self, positions: DataFrame, step: Step) -> tuple[DataFrame, float, int]:
        def moving(own: pa.Table, there: pa.Table) -> pa.Table:
            return moved(step, own, there)

        blocks = self.blocks
        own = blocks.neighbourhoods.withColumn("block", block_of("node", blocks.count))
        there = blocks.needs.join(positions, "node").select("block", *positions.columns)
        rows = own.groupBy("block").cogroup(there.groupBy("block")).applyInArrow(moving, MOVED)
        stored = self.scratch.keep(f"positions-{step.number + 1}", rows)
        self.scratch.drop(f"positions-{step.number}")
        units = F.sum(F.round(F.col("total_ms") * TOTAL_UNITS).cast("bigint"))
        sums = stored.agg(units, F.sum("resets")).first()
        assert sums is not None
        return stored.drop("total_ms", "resets"), sums[0] / TOTAL_UNITS / blocks.samples, int(sums[1])
