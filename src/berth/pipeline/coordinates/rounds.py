"""Rounds: all blocks move their nodes at once, then positions are exchanged by a join."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.coordinates.block import Step, moved
from berth.pipeline.coordinates.neighbours import block_of
from berth.pipeline.coordinates.scratch import Scratch

POSITIONS = "node bigint, position array<double>, height_ms double, error double"
MOVED = f"{POSITIONS}, total_ms double, resets bigint"
UNITS = 2**10
"""Totals are added up in whole parts of a ms: such sums don't depend on the order."""


@dataclass(frozen=True)
class Phase:
    """Rounds of one kind."""

    step: Step
    most: int
    stable: float
    """It ends when a round's error is not below this share of that of the round before."""


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


def settled(
    positions: DataFrame,
    blocks: Blocks,
    phase: Phase,
    perfect_ms: float,
    scratch: Scratch,
    done: list[Round],
    report: Callable[[Round], None],
) -> DataFrame:
    """Positions after the rounds of a phase, which are appended to those done.

    Args:
        positions: the columns of `POSITIONS`, stored.
        blocks: the samples.
        phase: what kind of rounds, and how many.
        perfect_ms: a mean error below needs no further round.
        scratch: for the positions between rounds.
        done: the rounds so far.
        report: hears of every round.
    """
    before = math.inf
    for _ in range(phase.most):
        step = replace(phase.step, number=len(done))
        positions, mean, resets = _round(positions, blocks, step, scratch)
        done.append(Round(len(done) + 1, step.polish, mean, resets))
        report(done[-1])
        if mean <= perfect_ms or mean >= phase.stable * before:
            break
        before = mean
    return positions


def _round(
    positions: DataFrame, blocks: Blocks, step: Step, scratch: Scratch
) -> tuple[DataFrame, float, int]:
    def moving(own: pa.Table, there: pa.Table) -> pa.Table:
        return moved(step, own, there)

    own = blocks.neighbourhoods.withColumn("block", block_of("node", blocks.count))
    there = blocks.needs.join(positions, "node").select("block", *positions.columns)
    rows = own.groupBy("block").cogroup(there.groupBy("block")).applyInArrow(moving, MOVED)
    stored = scratch.keep(f"positions-{step.number + 1}", rows)
    scratch.drop(f"positions-{step.number}")
    units = F.sum(F.round(F.col("total_ms") * UNITS).cast("bigint"))
    sums = stored.agg(units, F.sum("resets")).first()
    assert sums is not None
    return stored.drop("total_ms", "resets"), sums[0] / UNITS / blocks.samples, int(sums[1])
