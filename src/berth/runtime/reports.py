"""What tasks report: where they ran and what they did, brought to the driver by an accumulator of Spark's."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from berth.runtime import on_worker

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
        accumulator = session.sparkContext.accumulator([], on_worker.Posting(self._arrive))
        self.tell = on_worker.telling(accumulator)
        """For the workers: it sends a report home with the task's result."""

    def take(self) -> list[Report]:
        """The reports that came in since the last time, the last one of each task that was done again."""
        with self._lock:
            arrived, self._arrived = self._arrived, []
        latest = {_task_of(each): each for each in arrived}
        return list(latest.values())

    def finished(self, operator: str, role: str) -> set[int]:
        """The instances of an operator that have reported in a role since reports were taken."""
        with self._lock:
            return {each.instance for each in self._arrived if (each.operator, each.role) == (operator, role)}

    def operators_in(self, stage: int) -> list[str]:
        """The operators with a task of a stage that has reported since reports were taken."""
        with self._lock:
            return sorted({each.operator for each in self._arrived if each.stage == stage})

    def heard(self, operator: str, senders: Iterable[str]) -> set[str]:
        """The senders of whose rows an operator has reported since the last time that reports were taken."""
        with self._lock:
            seen = {each.sender for each in self._arrived if each.operator == operator and each.role == "in"}
        return seen.intersection(senders)

    def _arrive(self, reports: list[dict[str, Any]]) -> None:
        with self._lock:
            self._arrived += [Report(**report) for report in reports]


def _task_of(report: Report) -> tuple[object, ...]:
    place = report.operator, report.role, report.sender, report.instance, report.node
    return *place, report.batch, report.stage, report.partition
