"""Spark's own form of a query, as its Java side has it: looked at, taken apart and put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import DataFrame


def java_of(frame: DataFrame) -> Any:
    """A DataFrame as Spark's Java side has it."""
    found: Any = frame
    return found._jdf


def logical_plan(frame: DataFrame) -> Any:
    """The steps of a DataFrame, with all names resolved."""
    return java_of(frame).queryExecution().analyzed()


def frame_of(session: Any, plan: Any) -> DataFrame:
    """A DataFrame of these steps."""
    datasets = session._jvm.org.apache.spark.sql.classic.Dataset
    return DataFrame(datasets.ofRows(session._jsparkSession, plan), session)


def name_of(node: Any) -> str:
    """What a step does: `Filter`, `Aggregate`, `MapInArrow`, ..."""
    return str(node.nodeName())


def children_of(node: Any) -> Sequence[Any]:
    """The steps whose rows a step takes."""
    children = node.children()
    return [children.apply(number) for number in range(children.size())]


def is_pinned(node: Any) -> bool:
    """Whether a step, logical or physical, is one of ours."""
    return name_of(node) in ("MapInArrow", "MapInPandas") and bool(node.profile().isDefined())


def with_children(session: Any, node: Any, change: Callable[[Any], Any]) -> Any:
    """A step above changed ones; the same object where none has changed."""
    children = children_of(node)
    changed = [change(child) for child in children]
    if all(new is old for new, old in zip(changed, children, strict=True)):
        return node
    return node.withNewChildren(session._jvm.PythonUtils.toSeq(changed))
