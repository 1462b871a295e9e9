"""What came out: how far positions are from the measured delays, and which nodes nothing joins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from berth.core import space as core
from berth.space.coordinates import ErrorFigures

UNITS = 2**20
"""Errors are rounded to such parts of a ms: their sum doesn't depend on the order."""


def error_figures_of(
    positions: DataFrame, dimensions: int, judged: DataFrame, measured_pairs: int
) -> ErrorFigures | None:
    """The figures of `berth.space.coordinates`, over some measured pairs.

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
    relative = F.col("absolute") / F.greatest("delay_ms", F.lit(core.SHORTEST_MS))
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


IntegerArray = NDArray[np.int64]

FORESTS = 8
"""Pairs are merged in so many tasks, then in one: a row for each node and task is all that it gets."""
MOST_EDGES = 4_000_000
"""A task puts its edges together whenever it has so many."""
_EDGES = "first bigint, second bigint"


def islands_of(pairs: DataFrame) -> DataFrame:
    """The island of every node in a pair, numbered by size (ties: by the smallest node): 0 is the largest."""
    edges = pairs.select("first", "second").repartition(FORESTS, "first")
    forests = edges.mapInArrow(_forest, _EDGES).repartition(1)
    nodes = forests.mapInArrow(_forest, _EDGES).toDF("root", "node")
    sizes = nodes.groupBy("root").count()
    rank = F.row_number().over(Window.orderBy(F.desc("count"), "root")) - 1
    ranks = sizes.select("root", rank.alias("island"))
    return nodes.join(ranks, "root").select("node", "island")


def _forest(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Every node with the smallest one that it is joined to, itself included."""
    parts: list[tuple[IntegerArray, IntegerArray]] = []
    waiting = 0
    for batch in batches:
        parts.append((batch["first"].to_numpy(), batch["second"].to_numpy()))
        waiting += batch.num_rows
        if waiting > MOST_EDGES:
            parts, waiting = [_merged(parts)], 0
    if parts:
        roots, nodes = _merged(parts)
        yield pa.RecordBatch.from_arrays([pa.array(roots), pa.array(nodes)], ["first", "second"])


def _merged(parts: list[tuple[IntegerArray, IntegerArray]]) -> tuple[IntegerArray, IntegerArray]:
    first, second = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    nodes, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    ends = places[: len(first)], places[len(first) :]
    graph = csr_array((np.ones(len(first), dtype=np.int8), ends), shape=(len(nodes), len(nodes)))
    _, labels = connected_components(graph, directed=False)
    _, smallest = np.unique(labels, return_index=True)
    return nodes[smallest[labels]], nodes
