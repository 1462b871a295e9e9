"""Spark's own form of a query, as its Java side has it: looked at, taken apart and put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import DataFrame

# the steps of a plan that need no shuffle: a function of these alone is one stage
ONE_STAGE = frozenset(
    [
        *("Project", "Filter", "Union", "Generate", "Expand", "Sample", "View"),
        *("SubqueryAlias", "ResolvedHint"),
        *("MapInArrow", "MapInPandas", "ArrowEvalPython", "BatchEvalPython", "EventTimeWatermark"),
        *("LocalRelation", "LogicalRDD", "OneRowRelation", "MapPartitions", "MapElements"),
        *("DeserializeToObject", "SerializeFromObject", "WithCTE", "CTERelationDef", "CTERelationRef"),
    ]
)
# those that shuffle and remember nothing from one batch to the next
NO_STATE = frozenset(["Repartition", "RepartitionByExpression", "RebalancePartitions", "Sort"])


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
    return _elements(node.children())


def subqueries_of(node: Any) -> Sequence[Any]:
    """The plans inside of a step's expressions: `where exists (...)`, `where id > (select ...)`."""
    return _elements(node.subqueries())


def shuffles(node: Any) -> bool:
    """Whether a logical step may need a shuffle; Spark makes joins of subqueries."""
    return name_of(node) not in ONE_STAGE or bool(subqueries_of(node))


def keeps_state(node: Any) -> bool:
    """Whether a logical step of a stream remembers rows from one batch to the next."""
    name, children = name_of(node), children_of(node)
    if not children or name in ONE_STAGE | NO_STATE or not node.isStreaming():
        return False
    return name != "Join" or all(child.isStreaming() for child in children)


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


def _elements(sequence: Any) -> list[Any]:
    return [sequence.apply(number) for number in range(sequence.size())]
