"""What an operator does to a stream, learnt from the plan that its function makes over empty inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from berth.model import BadInput
from berth.runtime.application import Operator
from berth.runtime.plans import (
    NO_STATE,
    ONE_STAGE,
    children_of,
    is_pinned,
    java_of,
    logical_plan,
    name_of,
    shuffles,
    subqueries_of,
)
from berth.runtime.sessions import another_session, in_session_of

_EMPTY_INPUT = {"Scan ExistingRDD", "LocalTableScan", "WholeStageCodegen", "InputAdapter"}


@dataclass(frozen=True)
class Shape:
    """An operator's rows, and whether it needs several stages or keeps state between batches."""

    schema: StructType
    streams: bool = False
    shuffles: bool = False
    states: int = 0
    """How many of its steps keep state."""


def source_shape(frame: DataFrame) -> Shape:
    """Of what a source gave."""
    return Shape(frame.schema, streams=frame.isStreaming)


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
        raise BadInput([f"operator {operator.name!r}: schema {operator.schema!r}: {reason}"]) from error


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
        raise BadInput([f"operator {operator.name!r}: {type(error).__name__}: {reason}"]) from error
    if not isinstance(result, DataFrame):
        raise BadInput(
            [f"operator {operator.name!r}: gave {type(result).__name__}, expected a DataFrame of Spark"]
        )
    return result


def check_stages(operator: Operator, frame: DataFrame) -> None:
    """Refuse a function with a stage that nothing pins: one inside of a single step.

    Raises:
        BadInput: there is such a stage.
    """
    try:
        plan = java_of(frame).queryExecution().executedPlan()
    except (PySparkException, Py4JError):
        # some steps with state can't be planned without a stream; they have one shuffle each
        return
    if not all(_stages(plan)):
        raise BadInput(
            [
                f"operator {operator.name!r}: a part of its plan can't be pinned: a step that shuffles "
                "several times (count_distinct with several instances), a subquery, or a table that it reads "
                "by itself; make that an operator or a source of its own"
            ]
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
