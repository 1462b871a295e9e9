"""What runs inside Spark's Python workers, around every operator: it pins, measures, waits, names errors.

These functions go to the workers by value, so berth need not be installed there: nothing here imports it.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.accumulators import Accumulator, AccumulatorParam

Batches = Iterator[Any]
Send = Callable[[dict[str, Any]], None]
NODE_VARIABLE = "BERTH_NODE"
MARK = "berth: "
"""What comes before a message of ours in the traceback of a worker."""

MISPLACED = "runs elsewhere than planned: "


@dataclass(frozen=True)
class CountingPoint:
    """A place where rows are counted: an input or the output of a branch of an operator."""

    operator: str
    role: str
    """`in`: rows that come in; `out`: rows that an operator gives; `split`: rows on their way elsewhere."""
    sender: str
    """Whose rows these are."""
    instances: tuple[int, ...]
    node: str
    resource: str
    wait_ms: float = 0.0
    """For how long the first rows of a batch are still under way, in an emulated network."""
    names: tuple[str, ...] | None = None
    """What the columns are called for the user's function, where Spark can't send them under these names."""
    keep: tuple[int, ...] | None = None
    """The instances whose rows go on, where rows are split; the last column says whose a row is."""


def unchanged(batches: Batches) -> Batches:
    """Pass all rows on, and do nothing else: for a job that only has to run somewhere."""
    yield from batches


def counting(
    point: CountingPoint, send: Send, function: Callable[[Batches], Iterable[Any]] | None = None
) -> Callable[[Batches], Batches]:
    """Run the stage around this where the point says, and measure it.

    It passes all rows on unchanged, or through a user's function over batches of Arrow or pandas.
    """

    def counted(batches: Batches) -> Batches:
        began = time.time()
        context, node = _here(point)
        count = _Count(point, batches)
        given = 0
        for batch in count.batches() if function is None else _named_errors(point, function, count):
            given += len(batch)
            yield batch
        send(
            {
                "operator": point.operator,
                "role": point.role,
                "sender": point.sender,
                "instance": point.instances[context.partitionId() % len(point.instances)],
                "node": node,
                "planned": point.node,
                "batch": context.getLocalProperty("streaming.sql.batchId"),
                "stage": context.stageId(),
                "partition": context.partitionId(),
                "rows_in": count.rows,
                "bytes_in": count.size,
                "rows_out": None if function is None else given,
                "waited_ms": count.waited_ms,
                "began_ms": began * 1000,
                "ended_ms": time.time() * 1000,
            }
        )

    return counted


def _here(point: CountingPoint) -> tuple[Any, str]:
    """The task's context and the node it really runs on; a difference from the plan is an error."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is None:
        raise RuntimeError("no task runs here")
    granted = set(context.resources())
    named = os.environ.get(NODE_VARIABLE)
    if point.resource not in granted or named not in (None, point.node):
        where = named or ", ".join(sorted(granted)) or socket.gethostname()
        raise RuntimeError(f"{MARK}operator {point.operator} {MISPLACED}on {where}, not on {point.node}")
    return context, named or point.node


class _Count:
    """The rows that come in, counted; in an emulated network the first of them come late."""

    def __init__(self, point: CountingPoint, batches: Batches) -> None:
        self._point = point
        self._batches = batches
        self.rows = 0
        self.size = 0
        self.waited_ms = 0.0
        self.last: Any = None

    def batches(self) -> Batches:
        for batch in self._batches:
            kept = _named(_share(batch, self._point.keep), self._point.names)
            if len(kept) and not self.rows and self._point.wait_ms:
                time.sleep(self._point.wait_ms / 1000)
                self.waited_ms = self._point.wait_ms
            self.rows += len(kept)
            self.size += _bytes(kept)
            self.last = kept
            yield kept


def _share(batch: Any, keep: tuple[int, ...] | None) -> Any:
    """The rows that go to some instances, without the column that says to which."""
    if keep is None:
        return batch
    import pyarrow
    import pyarrow.compute

    number = batch.num_columns - 1
    wanted = pyarrow.compute.is_in(batch.column(number), value_set=pyarrow.array(keep, pyarrow.int32()))
    kept = batch.filter(wanted)
    return pyarrow.RecordBatch.from_arrays(kept.columns[:-1], schema=kept.schema.remove(number))


def _named(batch: Any, names: tuple[str, ...] | None) -> Any:
    if names is None:
        return batch
    return (
        batch.rename_columns(list(names))
        if hasattr(batch, "rename_columns")
        else batch.set_axis(names, axis=1)
    )


def _bytes(batch: Any) -> int:
    if hasattr(batch, "nbytes"):
        return int(batch.nbytes)
    return sum(_column_bytes(batch.iloc[:, number]) for number in range(batch.shape[1]))


def _column_bytes(column: Any) -> int:
    """What a column of pandas is in Arrow's format: text has its characters and an offset for each."""
    if column.dtype != object:
        return int(column.memory_usage(index=False))
    sizes = (len(value) if isinstance(value, (str, bytes)) else 8 for value in column if value is not None)
    return 4 * len(column) + sum(sizes)


def _named_errors(
    point: CountingPoint, function: Callable[[Batches], Iterable[Any]], count: _Count
) -> Batches:
    """What the function gives; if it raises, the error names the operator and the row."""
    try:
        yield from function(count.batches())
    except Exception as error:
        row = _culprit(function, count.last)
        raise RuntimeError(
            f"{MARK}operator {point.operator} failed on {row}: {type(error).__name__}: {error}"
        ) from error


def _culprit(function: Callable[[Batches], Iterable[Any]], batch: Any) -> str:
    """The first row of a batch that makes the function raise by itself; found by halving."""
    if batch is None or not len(batch):
        return "no row: it raised before the first one"
    low, high = 0, len(batch)
    if not _raises(function, _slice(batch, low, high)):
        return f"one of {high} rows (none of this batch alone)"
    while high - low > 1:
        middle = (low + high) // 2
        if _raises(function, _slice(batch, low, middle)):
            high = middle
        elif _raises(function, _slice(batch, middle, high)):
            low = middle
        else:
            return f"one of {high - low} rows (only together)"
    return f"row {_row(_slice(batch, low, high))}"


def _raises(function: Callable[[Batches], Iterable[Any]], batch: Any) -> bool:
    try:
        for _ in function(iter([batch])):
            continue
    except Exception:
        return True
    return False


def _slice(batch: Any, low: int, high: int) -> Any:
    if hasattr(batch, "slice"):
        return batch.slice(low, high - low)
    return batch.iloc[low:high]


def _row(batch: Any) -> str:
    values = batch.to_pylist()[0] if hasattr(batch, "to_pylist") else batch.to_dict("records")[0]
    return str(values).replace("\n", " ")[:500]


def naming_rows(operator: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A user's function over the values of a row; if it raises, the error names operator and values."""

    def named(*values: Any, **others: Any) -> Any:
        try:
            return function(*values, **others)
        except Exception as error:
            row = repr((*values, *others.values())).replace("\n", " ")[:500]
            raise RuntimeError(
                f"{MARK}operator {operator} failed on row {row}: {type(error).__name__}: {error}"
            ) from error

    return named


class ReportAccumulator(AccumulatorParam[list[dict[str, Any]]]):
    """Adds up lists of reports on the workers; on the driver it hands them over instead of keeping them."""

    def __init__(self, arrive: Callable[[list[dict[str, Any]]], None] | None) -> None:
        """With the driver's function that takes reports; what workers get of this has none."""
        self._arrive = arrive

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (None,)

    def zero(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """No reports."""
        return []

    def addInPlace(  # noqa: N802
        self, value1: list[dict[str, Any]], value2: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Both, on a worker; on the driver only what nobody has taken: nothing."""
        if self._arrive is None:
            return value1 + value2
        self._arrive(value2)
        return value1


def sender_of(accumulator: Accumulator[list[dict[str, Any]]]) -> Send:
    """A function that sends a report home with the task's result."""

    def send(report: dict[str, Any]) -> None:
        accumulator.add([report])

    return send
