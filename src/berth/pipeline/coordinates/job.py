"""Coordinates on Spark, from measurements to the table of positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from berth.core import space as core
from berth.pipeline.coordinates.measurements import averaged, judged, pooled, some_pairs, typical_delay
from berth.pipeline.coordinates.rounds import (
    Blocks,
    IntegerArray,
    Round,
    Rounds,
    Step,
    flattened,
    needs_of,
    neighbourhoods_of,
)
from berth.pipeline.storage import Batches, Scratch
from berth.space.coordinates import ErrorFigures
from berth.space.vivaldi import CLOSENESS, EXACT_SHARE, LIFT, LONGEST, PERFECT, VivaldiOptions

SPRING_SWEEPS = 10
POLISH_SWEEPS = 3
LIFTED_ROUNDS, FLAT_ROUNDS, POLISH_ROUNDS = 14, 6, 5
"""The most rounds of each kind; passes over the samples cost little, the exchange of positions seconds.
One block or few nodes need about half of them; many blocks are slow to agree on where everything is."""
STABLE = 0.98
POLISHED = 0.995
COLUMNS = {
    "node": "bigint",
    "name": "string",
    "coordinates": "array<double>",
    "height_ms": "double",
    "error": "double",
    "island": "int",
}
SAMPLES_PER_BLOCK = 4_000_000
"""A block's size depends on the samples alone, so that the same positions come out of any cluster."""


@dataclass(frozen=True)
class Measurements:
    """What was measured."""

    probes: DataFrame | None
    """The columns from, to and rtt_ms or delay_ms; see `measurements.judged`."""
    nodes: DataFrame | None = None
    """The columns node (0, 1, ...) and name; None: all that occur, in the order of names."""
    known: DataFrame | None = None
    """Delays besides: first, second (numbers, first below second) and delay_ms, each pair once."""


@dataclass(frozen=True)
class Located:
    """Where the nodes are, and how it went; the tables are there as long as the folder is."""

    coordinates: DataFrame
    """node, name, coordinates, height_ms, error (the node's own estimate, relative) and island (0: the
    largest), for all nodes with samples."""
    errors: ErrorFigures | None
    """None where nothing was measured."""
    rounds: list[Round] = field(default_factory=list)
    records: int = 0
    """All that was read, good or bad."""
    probed_pairs: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    """How many records make no sense, by reason."""


def spark_coordinates(
    measured: Measurements,
    folder: Path,
    options: VivaldiOptions | None = None,
    seed: int = 0,
    samples_per_block: int = SAMPLES_PER_BLOCK,
    report: Callable[[Round], None] = lambda done: None,
) -> Located:
    """Points for all nodes, from some of the delays between them; nothing that grows comes to the driver.

    Nodes are dealt to blocks. In a round each block moves its own nodes, by the kernels that one machine
    uses, against the positions that all others had before the round. The same measurements, options and
    seed give the same points whatever the number of partitions.

    Args:
        measured: probes, and what else is known.
        folder: for tables in between; all workers must see it, and it belongs to whoever calls.
        options: dimensions, heights and so on; `starts` is left out, it is always one.
        seed: for the start, the order of nodes, the choice of neighbours and of pairs that are judged.
        samples_per_block: the size of a block.
        report: hears of every round.
    """
    options = options or VivaldiOptions()
    scratch = Scratch(folder)
    pairs, nodes, found = _pairs(measured, scratch)
    count = pairs.count()
    if not count:
        schema = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        return replace(found, coordinates=pairs.sparkSession.createDataFrame([], schema))
    some = some_pairs(pairs, count, seed)
    typical = typical_delay(some)
    most = options.neighbours_for(count)
    blocks = _blocks(pairs, most, typical, seed, samples_per_block, scratch)
    step = Step(
        polish=False,
        sweeps=SPRING_SWEEPS,
        height=options.height,
        c_c=options.c_c,
        c_e=options.c_e,
        exact_ms=EXACT_SHARE * typical,
        closeness=0.0 if blocks.samples < 2 * count else CLOSENESS,
        seed=seed,
        number=0,
    )
    rounds = Rounds(blocks, PERFECT * typical, scratch, report)
    positions = _settled(rounds, step, options, typical)
    errors = error_figures_of(positions, options.dimensions, some, count)
    table = positions.join(islands_of(pairs), "node").join(nodes, "node")
    table = table.withColumnRenamed("position", "coordinates").select(*COLUMNS)
    return replace(found, coordinates=scratch.keep("coordinates", table), errors=errors, rounds=rounds.done)


def _pairs(measured: Measurements, scratch: Scratch) -> tuple[DataFrame, DataFrame, Located]:
    """One delay for each pair, the nodes, and what is to be said of records."""
    if measured.probes is None:
        if measured.known is None or measured.nodes is None:
            raise ValueError("measured: needs probes, or nodes and known delays")
        pairs = scratch.keep("pairs", measured.known)
        return pairs, measured.nodes, Located(pairs, None)
    records, nodes = judged(measured.probes, measured.nodes, scratch)
    counts = {row["reason"]: row["count"] for row in records.groupBy("reason").count().collect()}
    total = sum(counts.values())
    counts.pop(None, None)
    pairs = scratch.keep("probed", pooled(records.where("reason IS NULL")))
    found = Located(pairs, None, [], total, pairs.count(), dict(sorted(counts.items())))
    if measured.known is not None:
        pairs = scratch.keep("pairs", averaged(pairs.unionByName(measured.known)))
    return pairs, nodes, found


def _blocks(
    pairs: DataFrame, most: int | None, typical: float, seed: int, size: int, scratch: Scratch
) -> Blocks:
    chosen = scratch.keep("neighbourhoods", neighbourhoods_of(pairs, most, LONGEST * typical, seed))
    counted = chosen.agg(F.sum(F.size("others"))).first()
    samples = 0 if counted is None else int(counted[0] or 0)
    count = max(1, math.ceil(samples / size))
    return Blocks(chosen, scratch.keep("needs", needs_of(chosen, count)), count, samples)


def _settled(rounds: Rounds, step: Step, options: VivaldiOptions, typical: float) -> DataFrame:
    """Springs with room to unfold, springs in the dimensions that are wanted, polish."""

    def go(positions: DataFrame, step: Step, most: int, stable: float) -> DataFrame:
        return rounds.settled(positions, step, min(most, math.ceil(options.rounds / step.sweeps)), stable)

    scratch = rounds.scratch
    dimensions = options.dimensions + (LIFT if options.refine else 0)
    positions = _start(rounds.blocks, dimensions, options.height, typical, step.seed)
    positions = scratch.keep("positions-0", positions)
    if not options.refine:
        return go(positions, step, LIFTED_ROUNDS + FLAT_ROUNDS, STABLE)
    positions = go(positions, step, LIFTED_ROUNDS, STABLE)
    positions = scratch.keep("flat", flattened(positions, dimensions, options.dimensions, typical))
    positions = go(positions, step, FLAT_ROUNDS, STABLE)
    return go(positions, replace(step, polish=True, sweeps=POLISH_SWEEPS), POLISH_ROUNDS, POLISHED)


def _start(blocks: Blocks, dimensions: int, height: bool, typical: float, seed: int) -> DataFrame:
    """Random points: all at one place would need rounds only to leave it."""
    extent = typical / 2.0 / 2.0**63
    axes = [F.xxhash64(F.lit(seed), "node", F.lit(axis)) * F.lit(extent) for axis in range(dimensions)]
    return blocks.neighbourhoods.select(
        "node",
        F.array(*axes).alias("position"),
        F.lit(core.LEAST_HEIGHT_MS if height else 0.0).alias("height_ms"),
        F.lit(core.LARGEST_ERROR).alias("error"),
    )


ERROR_UNITS = 2**20
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
    absolute = F.round(F.abs(apart - F.col("delay_ms")) * ERROR_UNITS) / ERROR_UNITS
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


def _forest(batches: Batches) -> Iterator[pa.RecordBatch]:
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
