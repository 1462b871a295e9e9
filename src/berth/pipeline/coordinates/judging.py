"""Which records of probes make no sense, and why."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from berth.files.probes import LONGEST_MS
from berth.pipeline.coordinates.numbering import numbered
from berth.pipeline.coordinates.scratch import Scratch

MEASURES = {"rtt_ms": 0.5, "delay_ms": 1.0}
"""Columns that may be there, and which share of their value is a one-way delay."""


def judged(probes: DataFrame, nodes: DataFrame | None, scratch: Scratch) -> tuple[DataFrame, DataFrame]:
    """Records by the numbers of their nodes, and the nodes.

    Args:
        probes: the columns from, to and rtt_ms or delay_ms; where there is a column fault that isn't null, it
            says why a record could not be read.
        nodes: the columns node (0, 1, ...) and name; None: all names in records that make sense.
        scratch: for tables in between.

    Returns:
        Records with the columns first, second, delay_ms and reason (null where a record makes sense), and the
        nodes.
    """
    measure = next((name for name in MEASURES if name in probes.columns), None)
    if measure is None or not {"from", "to"} <= set(probes.columns):
        raise ValueError(f"probes: needs the columns from, to and {' or '.join(MEASURES)}")
    fault = F.col("fault") if "fault" in probes.columns else F.lit(None).cast("string")
    records = probes.select(
        F.col("from").alias("sender"),
        F.col("to").alias("receiver"),
        F.col(measure).cast("double").alias("value"),
        fault.alias("fault"),
    )
    if nodes is None:
        good = records.where(_reason(measure, None).isNull())
        both = good.select(F.explode(F.array("sender", "receiver")).alias("name"))
        nodes = numbered(both, scratch)
    here = nodes.select(F.col("name").alias("sender"), F.col("node").alias("from_node"))
    there = nodes.select(F.col("name").alias("receiver"), F.col("node").alias("to_node"))
    found = records.join(here, "sender", "left").join(there, "receiver", "left")
    unknown = F.col("from_node").isNull() | F.col("to_node").isNull()
    rows = found.select(
        F.least("from_node", "to_node").alias("first"),
        F.greatest("from_node", "to_node").alias("second"),
        (F.lit(MEASURES[measure]) * F.col("value")).alias("delay_ms"),
        _reason(measure, unknown).alias("reason"),
    )
    return scratch.keep("records", rows), nodes


def _reason(measure: str, unknown: Column | None) -> Column:
    """The first thing that is wrong with a record, in the words of `berth.files.probes`."""
    value = F.col("value")
    reason = F.when(F.col("fault").isNotNull(), F.col("fault"))
    reason = reason.when(F.col("sender").isNull() | F.col("receiver").isNull(), "no name in from or to")
    if unknown is not None:
        reason = reason.when(unknown, "no node of the problem")
    return (
        reason.when(F.col("sender") == F.col("receiver"), "from a node to itself")
        .when(value.isNull() | F.isnan(value), f"{measure} is no number")
        .when(value <= 0, f"{measure} is not above 0")
        .when(value > LONGEST_MS, f"{measure} is more than a day")
    )
