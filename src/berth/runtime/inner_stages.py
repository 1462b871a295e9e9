"""Pinning what an operator computes between two shuffles of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame

from berth.runtime.plans import frame_of, is_pinned, logical_plan, shuffles, with_children

Pass = Callable[[DataFrame], DataFrame]


def with_inner_stages(frame: DataFrame, passed: Pass) -> DataFrame:
    """The same rows; every step that shuffles and that another one stands above is followed by a pinned one.

    A user's function has put its steps together long before: they are taken apart and put together again in
    Spark's own form of a plan. Columns keep their identity, so that what is above still finds them.
    """
    session: Any = frame.sparkSession
    plan = logical_plan(frame)
    rebuilt = _rebuilt(plan, _Pinning(session, passed), below_shuffle=False)
    return frame if rebuilt is plan else frame_of(session, rebuilt)


class _Pinning:
    def __init__(self, session: Any, passed: Pass) -> None:
        self.session = session
        self._passed = passed

    def above(self, node: Any) -> Any:
        """A pinned step above a node, with the columns of that node."""
        frame = frame_of(self.session, node)
        # two columns of one name can't go to Python
        plain = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
        step = logical_plan(self._passed(plain))
        function, _, child, barrier, profile = (step.productElement(number) for number in range(5))
        return step.copy(function, node.output(), child, barrier, profile)


def _rebuilt(node: Any, pinning: _Pinning, *, below_shuffle: bool) -> Any:
    if is_pinned(node):
        return node
    shuffling = shuffles(node)

    def change(child: Any) -> Any:
        return _rebuilt(child, pinning, below_shuffle=below_shuffle or shuffling)

    whole = with_children(pinning.session, node, change)
    return pinning.above(whole) if below_shuffle and shuffling else whole
