"""What a batch measured: rows, bytes and busy times of instances and streams, as its tasks report."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from berth.runtime.application import Application, Operator
from berth.runtime.placement import Placement, instance_name

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
    batch: str | None
    stage: int
    partition: int
    rows_in: int
    bytes_in: int
    rows_out: int | None
    """Where a function over batches gives rows; None: the same rows went on."""
    waited_ms: float
    began_ms: float
    ended_ms: float

    @property
    def task(self) -> tuple[object, ...]:
        """What a task that is done again has in common with the first time."""
        place = self.operator, self.role, self.sender, self.instance, self.node
        return *place, self.batch, self.stage, self.partition


class Reports:
    """All reports that have arrived and that nobody has taken yet."""

    def __init__(self, session: SparkSession) -> None:
        # a run is measured and reported where Spark need not be
        from berth.runtime import on_worker

        self._lock = threading.Lock()
        self._arrived: list[Report] = []
        accumulator = session.sparkContext.accumulator([], on_worker.ReportAccumulator(self._arrive))
        self.send = on_worker.sender_of(accumulator)
        """For the workers: it sends a report home with the task's result."""

    def take(self) -> list[Report]:
        """The reports that came in since the last time, the last one of each task that was done again."""
        with self._lock:
            arrived, self._arrived = self._arrived, []
        return list({each.task: each for each in arrived}.values())

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


@dataclass(frozen=True)
class Batch:
    """A batch that went through all operators, with the word of every task."""

    number: int
    began_ms: float
    """When its first rows were read, epoch milliseconds."""
    ended_ms: float
    """When the last sink had written it."""
    placement: Placement
    reports: tuple[Report, ...]
    run_ms: Mapping[int, float]
    """For every stage the time that its tasks took, all together, waits of an emulated network included."""
    state_bytes: Mapping[str, float]
    """The state that operators keep, as far as it is known."""


@dataclass(frozen=True)
class InstanceMeasures:
    """What one instance of an operator did in a batch."""

    operator: str
    instance: str
    """As telemetry names it: `tag`, or `tag#1` where there are several."""
    node: str
    """Where its tasks really ran; the planned node if it had none in this batch."""
    rows_in: int
    """The rows that came to it; of a source, those that it gave."""
    rows_out: int
    busy_ms: float


@dataclass(frozen=True)
class StreamMeasures:
    """What went from one operator to another in a batch."""

    sender: str
    receiver: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class BatchMeasures(Batch):
    """All that one batch measured: every instance and every stream of the application, idle ones too."""

    instances: tuple[InstanceMeasures, ...]
    streams: tuple[StreamMeasures, ...]
    rows: int
    """That the sources gave."""
    verified_tasks: int
    """Tasks that said where they ran."""
    differences: tuple[str, ...]
    """A line for each instance that ran elsewhere than planned."""

    @property
    def latency_ms(self) -> float:
        """From reading its first row until the last sink had written."""
        return self.ended_ms - self.began_ms


def measured(batch: Batch, application: Application, *, warming_up: bool = False) -> BatchMeasures:
    """What a batch measured.

    Rows count once where Spark computed a stage twice, say for a sink that counts its rows and then writes
    them; the time of both is busy time.

    Args:
        batch: a batch that is done.
        application: what ran.
        warming_up: it is the first batch since the start. The time in which Spark started its Python workers
            is no operator's work: only the time in these counts as busy then.
    """
    counts = _Counts(batch.reports)
    busy = _busy_ms(batch, warming_up)
    nodes = {(each.operator, each.instance): each.node for each in batch.reports}
    instances = []
    for operator in application.operators.values():
        name, homes = operator.name, batch.placement.nodes[operator.name]
        rows_in = [counts.rows_in(operator, number) for number in range(len(homes))]
        rows_out = _rows_out(operator, application, counts, rows_in)
        for number, home in enumerate(homes):
            instances.append(
                InstanceMeasures(
                    operator=name,
                    instance=instance_name(name, number, len(homes)),
                    node=nodes.get((name, number), home),
                    rows_in=rows_in[number],
                    rows_out=rows_out[number],
                    busy_ms=busy.get((name, number), 0.0),
                )
            )
    streams = [
        StreamMeasures(sender, receiver, *counts.total(receiver, "in", sender)[:2])
        for sender, receiver in application.streams
    ]
    sources = {each.name for each in application.operators.values() if each.kind == "source"}
    return BatchMeasures(
        **vars(batch),
        instances=tuple(instances),
        streams=tuple(streams),
        rows=sum(each.rows_out for each in instances if each.operator in sources),
        verified_tasks=len({(each.stage, each.partition) for each in batch.reports}),
        differences=tuple(_differences(batch)),
    )


class _Amount(NamedTuple):
    rows: int = 0
    size: int = 0
    given: int = 0
    """Rows that a function over batches made of these."""


class _Counts:
    """The rows and bytes at every point: an input or the output of an instance."""

    def __init__(self, reports: Iterable[Report]) -> None:
        stages: dict[tuple[str, str, str, int, int], _Amount] = defaultdict(_Amount)
        for each in reports:
            before = stages[each.operator, each.role, each.sender, each.instance, each.stage]
            stages[each.operator, each.role, each.sender, each.instance, each.stage] = _Amount(
                before.rows + each.rows_in, before.size + each.bytes_in, before.given + (each.rows_out or 0)
            )
        self._points: dict[tuple[str, str, str], dict[int, _Amount]] = defaultdict(dict)
        for (operator, role, sender, instance, _), amount in stages.items():
            # another stage of the same point is the same rows computed again, all of them or a part
            point = self._points[operator, role, sender]
            point[instance] = max(amount, point.get(instance, amount))

    def at(self, operator: str, role: str, sender: str, instance: int) -> _Amount:
        return self._points.get((operator, role, sender), {}).get(instance, _Amount())

    def total(self, operator: str, role: str, sender: str) -> _Amount:
        amounts = self._points.get((operator, role, sender), {}).values()
        return _Amount(*(sum(part) for part in zip(_Amount(), *amounts, strict=True)))

    def gives(self, operator: str) -> bool:
        """Whether an operator counts its own rows."""
        return (operator, "out", operator) in self._points

    def rows_in(self, operator: Operator, instance: int) -> int:
        if operator.kind == "source":
            return self.at(operator.name, "out", operator.name, instance).rows
        return sum(self.at(operator.name, "in", sender, instance).rows for sender in operator.inputs)


def _rows_out(
    operator: Operator, application: Application, counts: _Counts, rows_in: Sequence[int]
) -> list[int]:
    name = operator.name
    if operator.kind == "source" or counts.gives(name):
        return [counts.at(name, "out", name, number).rows for number in range(len(rows_in))]
    if operator.kind in ("arrow", "pandas"):
        (sender,) = operator.inputs
        return [counts.at(name, "in", sender, number).given for number in range(len(rows_in))]
    # all who take the rows see all of them; who saw fewer was not asked for all
    seen = [counts.total(taker, "in", name).rows for taker in application.consumers(name)]
    return _shared_out(max(seen, default=0), rows_in)


def _shared_out(whole: int, weights: Sequence[int]) -> list[int]:
    """Whole numbers in proportion to the weights, with exactly this sum."""
    total = sum(weights)
    if not total:
        weights, total = [1] * len(weights), len(weights)
    shares, passed, told = [], 0, 0
    for weight in weights:
        passed += weight
        until = whole * passed // total
        shares.append(until - told)
        told = until
    return shares


def _busy_ms(batch: Batch, warming_up: bool) -> dict[tuple[str, int], float]:
    """The time that the stages of each instance took, without the waits of an emulated network.

    A stage's time is shared out over its tasks by the time that each was in its Python worker.
    """
    stages: dict[int, dict[int, list[Report]]] = defaultdict(lambda: defaultdict(list))
    for report in batch.reports:
        stages[report.stage][report.partition].append(report)
    busy: dict[tuple[str, int], float] = defaultdict(float)
    for stage, tasks in stages.items():
        worked = [_worked_ms(reports) for reports in tasks.values()]
        whole, known = sum(worked), batch.run_ms.get(stage)
        if known is not None and not warming_up:
            waited = sum(each.waited_ms for reports in tasks.values() for each in reports)
            whole = max(0.0, known - waited)
        for reports, own in zip(tasks.values(), worked, strict=True):
            share = own / sum(worked) if sum(worked) else 1 / len(worked)
            owners = {(each.operator, each.instance) for each in reports}
            for owner in owners:
                busy[owner] += whole * share / len(owners)
    return busy


def _worked_ms(reports: Sequence[Report]) -> float:
    """How long a task was in its Python worker and did not wait; several points of one task overlap."""
    began, ended = min(each.began_ms for each in reports), max(each.ended_ms for each in reports)
    return max(0.0, ended - began - sum(each.waited_ms for each in reports))


def _differences(batch: Batch) -> list[str]:
    """Where tasks ran, against the plan; the same difference once."""
    lines = []
    for each in batch.reports:
        homes = batch.placement.nodes[each.operator]
        if each.node != homes[each.instance]:
            name = instance_name(each.operator, each.instance, len(homes))
            lines.append(
                f"batch {batch.number}: {name} ran on {each.node}, planned on {homes[each.instance]}"
            )
    return list(dict.fromkeys(lines))
