"""Groups of nodes that no measured pair joins, by forests that are merged: no rounds over all pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

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
