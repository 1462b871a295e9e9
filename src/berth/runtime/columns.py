"""Columns on their way: names that Spark can't send to Python, and watermarks that it would lose sight of."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from berth.runtime.plans import children_of, frame_of, keeps_state, logical_plan, name_of, with_children

_WATERMARK = "spark.watermarkDelayMs"


def with_plain_names(frame: DataFrame) -> DataFrame:
    """The same columns, as c0, c1, ... if Spark would take their names for paths or can't tell two apart."""
    names = frame.columns
    twins = len({name.lower() for name in names}) < len(names)
    if not twins and not any("." in name or "`" in name for name in names):
        return frame
    return frame.toDF(*(f"c{number}" for number in range(len(names))))


def can_be_hashed(kind: DataType) -> bool:
    """Whether Spark has a hash of such values: not of maps and variants, nor of what has one inside."""
    if isinstance(kind, StructType):
        return all(can_be_hashed(field.dataType) for field in kind)
    if isinstance(kind, ArrayType):
        return can_be_hashed(kind.elementType)
    return not isinstance(kind, (MapType, VariantType))


def without_watermark_steps(frame: DataFrame) -> DataFrame:
    """The same rows of a stream, no watermark stated above its sources or state; its columns still show them.

    Spark allows one statement of a watermark on each way through a plan. Where several read these rows, each
    states it by itself: see `with_watermarks_again`. State needs the watermark that is stated below it.
    """
    if not frame.isStreaming:
        return frame
    session: Any = frame.sparkSession

    def change(node: Any) -> Any:
        if keeps_state(node):
            return node
        whole = with_children(session, node, change)
        return children_of(whole)[0] if name_of(whole) == "EventTimeWatermark" else whole

    plan = logical_plan(frame)
    bare = change(plan)
    if bare is plan:
        return frame
    shown = {field.name: field.metadata for field in with_plain_names(frame).schema}
    plain = with_plain_names(frame_of(session, bare))
    # a step that is gone no longer shows its watermark on the columns above it
    marked = plain.select(*(F.col(name).alias(name, metadata=shown[name]) for name in plain.columns))
    return marked.toDF(*frame.columns)


def with_watermarks_again(frame: DataFrame) -> DataFrame:
    """The same rows of a stream, with its watermarks stated once more.

    Spark looks for watermarks along the plan, and doesn't look behind a shuffle that several read. All rows
    pass here, also those that are only for others, so every reader has the same watermark.
    """
    if not frame.isStreaming:
        return frame
    plain = with_plain_names(frame)
    marked = plain
    for field in plain.schema:
        if _WATERMARK not in field.metadata:
            continue
        delay = field.metadata[_WATERMARK]
        others = {key: value for key, value in field.metadata.items() if key != _WATERMARK}
        # Spark refuses a second watermark on a column that shows its first
        bare = marked.withColumn(field.name, F.col(field.name).alias(field.name, metadata=others))
        marked = bare.withWatermark(field.name, f"{delay} milliseconds")
    if marked is plain:
        return frame
    return marked if plain is frame else marked.toDF(*frame.columns)
