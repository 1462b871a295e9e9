"""What tasks report: where they ran and what they did, brought to the driver by an accumulator of Spark's."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.accumulators import AccumulatorParam

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Report:
    """One task's word about one input, or the output, of an operator's instance."""

    operator: str
    role: str
    """`in`: rows that came from `sender`; `out`: the operator's own rows; `split`: on their way elsewhere."""
    sender: str
    instance: int
    node: str
    """Where it really ran."""
    planned: str
    host: str
    batch: str | None
    stage: int
    partition: int
    rows_in: int
    bytes_in: int
    rows_out: int | None
    """Where a function over batches gives rows; None: the same rows went on."""
    bytes_out: int | None
    waited_ms: float
    began_ms: float
    ended_ms: float


class Reports:
    """All reports that have arrived and that nobody has taken yet."""

    def __init__(self, session: SparkSession) -> None:
        self._lock = threading.Lock()
        self._arrived: list[Report] = []
        accumulator = session.sparkContext.accumulator([], _Posting(self._arrive))

        def tell(report: dict[str, Any]) -> None:
            accumulator.add([report])

        self.tell = tell
        """For the workers: it sends a report home with the task's result."""

    def take(self) -> list[Report]:
        """The reports that came in since the last time, the last one of each task that was done again."""
        with self._lock:
            arrived, self._arrived = self._arrived, []
        latest = {_task_of(each): each for each in arrived}
        return list(latest.values())

    def _arrive(self, reports: list[dict[str, Any]]) -> None:
        with self._lock:
            self._arrived += [Report(**report) for report in reports]


def _task_of(report: Report) -> tuple[object, ...]:
    place = report.operator, report.role, report.sender, report.instance, report.node
    return *place, report.batch, report.stage, report.partition


class _Posting(AccumulatorParam[list[dict[str, Any]]]):
    """Adds up lists on the workers; on the driver it hands them over instead of keeping them for ever."""

    def __init__(self, arrive: Any) -> None:
        self._arrive = arrive

    def __reduce__(self) -> tuple[Any, ...]:
        return _Posting, (None,)

    def zero(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return []

    def addInPlace(  # noqa: N802
        self, value1: list[dict[str, Any]], value2: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        if self._arrive is None:
            return value1 + value2
        self._arrive(value2)
        return value1
