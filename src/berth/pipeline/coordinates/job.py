"""Coordinates on Spark, from measurements to the table of positions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.core import space as core
from berth.pipeline.coordinates.measurements import averaged, judged, pooled, some_pairs, typical_delay
from berth.pipeline.coordinates.outcome import error_figures_of, islands_of
from berth.pipeline.coordinates.rounds import (
    Blocks,
    Phase,
    Round,
    Step,
    flattened,
    needs_of,
    neighbourhoods_of,
    settled,
)
from berth.pipeline.storage import Scratch
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
    step = _step(options, typical, 0.0 if blocks.samples < 2 * count else CLOSENESS, seed)
    rounds: list[Round] = []
    positions = _settled(blocks, step, options, typical, scratch, rounds, report)
    errors = error_figures_of(positions, options.dimensions, some, count)
    table = positions.join(islands_of(pairs), "node").join(nodes, "node")
    table = table.withColumnRenamed("position", "coordinates").select(*COLUMNS)
    return replace(found, coordinates=scratch.keep("coordinates", table), errors=errors, rounds=rounds)


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


def _step(options: VivaldiOptions, typical: float, closeness: float, seed: int) -> Step:
    return Step(
        polish=False,
        sweeps=SPRING_SWEEPS,
        height=options.height,
        c_c=options.c_c,
        c_e=options.c_e,
        exact_ms=EXACT_SHARE * typical,
        closeness=closeness,
        seed=seed,
        number=0,
    )


def _settled(
    blocks: Blocks,
    step: Step,
    options: VivaldiOptions,
    typical: float,
    scratch: Scratch,
    done: list[Round],
    report: Callable[[Round], None],
) -> DataFrame:
    """Springs with room to unfold, springs in the dimensions that are wanted, polish."""

    def go(positions: DataFrame, step: Step, most: int, stable: float) -> DataFrame:
        allowed = min(most, math.ceil(options.rounds / step.sweeps))
        phase = Phase(step, allowed, stable)
        return settled(positions, blocks, phase, PERFECT * typical, scratch, done, report)

    dimensions = options.dimensions + (LIFT if options.refine else 0)
    positions = _start(blocks, dimensions, options.height, typical, step.seed)
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
