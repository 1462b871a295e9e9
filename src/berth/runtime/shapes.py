"""What an operator does to a stream, learnt from the plan that its function makes over empty inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from berth.model import BadInput
from berth.runtime.application import Operator
from berth.spark.internals import (
    NO_STATE,
    ONE_STAGE,
    another_session,
    children_of,
    executed_plan,
    frame_of,
    in_session_of,
    is_pinned,
    keeps_state,
    logical_plan,
    name_of,
    shuffles,
    step_above,
    subqueries_of,
    with_children,
)

_WATERMARK = "spark.watermarkDelayMs"
_EMPTY_INPUT = {"Scan ExistingRDD", "LocalTableScan", "WholeStageCodegen", "InputAdapter"}


@dataclass(frozen=True)
class Shape:
    """An operator's rows, and whether it needs several stages or keeps state between batches."""

    schema: StructType
    streams: bool = False
    shuffles: bool = False
    states: int = 0
    """How many of its steps keep state."""


def shape_of(session: SparkSession, operator: Operator, inputs: Mapping[str, Shape]) -> Shape:
    """Of an operator that takes rows of these shapes."""
    streaming = sum(shape.streams for shape in inputs.values())
    if operator.kind in ("arrow", "pandas"):
        return Shape(_given_schema(session, operator), streams=streaming > 0)
    if operator.kind == "sink":
        return Shape(StructType(), streams=streaming > 0)
    # in a session of their own: a view that the function makes of them must not stay behind
    with another_session(session) as apart:
        frame = call(operator, *(apart.createDataFrame([], shape.schema) for shape in inputs.values()))
    nodes = list(_logical_nodes(logical_plan(frame)))
    names = [name_of(node) for node in nodes]
    states = sum(name not in ONE_STAGE | NO_STATE and (name != "Join" or streaming > 1) for name in names)
    return Shape(
        frame.schema,
        streams=streaming > 0,
        shuffles=any(shuffles(node) for node in nodes),
        states=states if streaming else 0,
    )


def _given_schema(session: SparkSession, operator: Operator) -> StructType:
    if isinstance(operator.schema, StructType):
        return operator.schema
    try:
        return session.createDataFrame([], str(operator.schema)).schema
    except PySparkException as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"operator {operator.name!r}: schema {operator.schema!r}: {reason}") from error


def call(operator: Operator, *arguments: Any, **named: Any) -> DataFrame:
    """The DataFrame that an operator's function makes of its inputs.

    Raises:
        BadInput: it raised, or gave something else.
    """
    try:
        with in_session_of(*(each for each in arguments if isinstance(each, DataFrame))):
            result = operator.function(*arguments, **named)
    except BadInput:
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"operator {operator.name!r}: {type(error).__name__}: {reason}") from error
    if not isinstance(result, DataFrame):
        raise BadInput(
            f"operator {operator.name!r}: gave {type(result).__name__}, expected a DataFrame of Spark"
        )
    return result


def check_stages(operator: Operator, frame: DataFrame) -> None:
    """Refuse a function with a stage that nothing pins: one inside of a single step.

    Raises:
        BadInput: there is such a stage.
    """
    try:
        plan = executed_plan(frame)
    except (PySparkException, Py4JError):
        # some steps with state can't be planned without a stream; they have one shuffle each
        return
    if not all(_stages(plan)):
        raise BadInput(
            f"operator {operator.name!r}: a part of its plan can't be pinned: a step that shuffles "
            "several times (count_distinct with several instances), a subquery, or a table that it reads "
            "by itself; make that an operator or a source of its own"
        )


def _stages(root: Any) -> Iterator[bool]:
    """For every stage of a physical plan, whether a pinned step is in it; empty inputs need none."""
    below: list[Any] = []
    names: set[str] = set()
    pinned = False
    rest = [root]
    while rest:
        node = rest.pop()
        name = name_of(node)
        if name in ("Exchange", "BroadcastExchange"):
            below.append(node)
            continue
        names.add(name.partition(" (")[0])
        pinned = pinned or is_pinned(node)
        below.extend(subqueries_of(node))
        rest.extend(children_of(node))
    yield pinned or names <= _EMPTY_INPUT
    for exchange in below:
        for child in children_of(exchange):
            yield from _stages(child)


def _logical_nodes(root: Any) -> Iterator[Any]:
    rest = [root]
    while rest:
        node = rest.pop()
        yield node
        rest.extend(children_of(node))


def with_inner_stages(frame: DataFrame, passed: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """The same rows; every step that shuffles and that another one stands above is followed by a pinned one.

    A user's function has put its steps together long before: they are taken apart and put together again in
    Spark's own form of a plan. Columns keep their identity, so that what is above still finds them.
    """
    session: Any = frame.sparkSession
    plan = logical_plan(frame)

    def rebuilt(node: Any, *, below_shuffle: bool) -> Any:
        if is_pinned(node):
            return node
        shuffling = shuffles(node)
        whole = with_children(
            session, node, lambda child: rebuilt(child, below_shuffle=below_shuffle or shuffling)
        )
        return step_above(session, whole, passed) if below_shuffle and shuffling else whole

    changed = rebuilt(plan, below_shuffle=False)
    return frame if changed is plan else frame_of(session, changed)


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
