"""One start of an application by one placement: the streaming query or the batch, until it is stopped."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import InheritableThread
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from berth.files.document import write_text
from berth.model import BadInput
from berth.runtime import on_worker
from berth.runtime.application import Operator
from berth.runtime.measures import Batch, Report, Reports
from berth.runtime.observer import Misplaced, RunFailed
from berth.runtime.placement import Branch
from berth.runtime.weave import Weaver, call_sink
from berth.spark.failure import first_cause, line_of
from berth.spark.internals import jobs_of, run_ms_of, unpinned_stages

FILE = "run.json"
STOP_SECONDS = 60.0
_MESSAGE = re.compile(re.escape(on_worker.MARK) + r"(operator .*)")
_GROUP = "spark.jobGroup.id"
_FAILED_STAGE = re.compile(r"Task \d+ in stage (\d+)\.\d+ failed")


def check_state(folder: Path, weaver: Weaver, *, fresh: bool) -> None:
    """Note what a new checkpoint is for; refuse an old one that is for something else.

    Raises:
        BadInput: the checkpoint is another application's, or the application has changed too much.
    """
    application, placement = weaver.application, weaver.placement
    now = {
        "application": application.name,
        "parallelism": {name: placement.parallelism(name) for name in application.operators},
        "streams": [list(ends) for ends in application.streams],
        "stateful": weaver.stateful,
    }
    file = folder / FILE
    if fresh or not file.exists():
        write_text(file, json.dumps(now, indent=2) + "\n")
        return
    before = json.loads(file.read_text())
    different = [name for name in now if before.get(name) != now[name]]
    if different:
        raise BadInput(
            f"{folder}: its checkpoint is from a run with other {', '.join(different)}; take another "
            "folder with --out, or begin anew with --fresh"
        )


@dataclass
class Query:
    """A started application; `error` says why it ended if it failed."""

    weaver: Weaver
    reports: Reports
    observe: Callable[[Batch], None]
    checkpoint: Path
    coordinator: str
    """The node where stages run that belong to no operator."""
    every_s: float = 0.0
    once: bool = False
    error: RunFailed | None = None
    batches: int = 0
    _stream: StreamingQuery | None = None
    _thread: threading.Thread | None = None
    _working: threading.Lock = field(default_factory=threading.Lock)
    _stopping: bool = False
    _calling: str = ""
    """The sink whose function is at work."""

    def start(self) -> None:
        """Begin; returns at once.

        Raises:
            BadInput: Spark refuses the query, before any row.
        """
        if not self.weaver.streams:
            self._thread = InheritableThread(target=self._only_batch, name="berth batch", daemon=True)
            self._thread.start()
            return
        try:
            writer = self.weaver.stream().writeStream.foreachBatch(self._batch)
            writer = writer.outputMode(self.weaver.output_mode())
            writer = writer.option("checkpointLocation", str(self.checkpoint))
            writer = writer.queryName(self.weaver.application.name)
            if self.once:
                writer = writer.trigger(availableNow=True)
            elif self.every_s:
                writer = writer.trigger(processingTime=f"{self.every_s} seconds")
            self._stream = writer.start()
        except (PySparkException, Py4JError) as error:
            name, reason = self.weaver.application.name, first_cause(error)
            if "Multiple" in reason:
                reason += " (each instance of an operator is one: give it parallelism 1)"
            raise BadInput(f"application {name!r}: Spark refuses it: {reason}") from error

    @property
    def idle(self) -> bool:
        """Whether it is up and has nothing to do."""
        if self._stream is None or not self._stream.isActive:
            return False
        status = self._stream.status
        # before it has asked its sources at least once, idle means nothing
        looked = self._stream.lastProgress is not None or status["message"].startswith("Waiting")
        return looked and not status["isDataAvailable"] and not status["isTriggerActive"]

    def state_bytes(self) -> dict[str, float]:
        """The state of each operator that keeps any, as of the last batch."""
        progress = self._stream.lastProgress if self._stream is not None else None
        if progress is None:
            return {}
        found: dict[str, float] = {}
        names = self.weaver.stateful
        for name, state in zip(names, progress["stateOperators"], strict=False):
            found[name] = found.get(name, 0.0) + float(state["memoryUsedBytes"])
        return found

    def stop(self) -> None:
        """End it; a batch that is under way is given up, and comes again after the next start."""
        self._stopping = True
        if self._stream is not None:
            self._stream.stop()
        else:
            self.weaver.session.sparkContext.cancelAllJobs()
        # the thread of the batch is in Python and ends a moment later
        if not self._working.acquire(timeout=STOP_SECONDS):
            raise RunFailed(f"a sink doesn't end, {STOP_SECONDS:.0f} s after the query was stopped")
        self._working.release()

    def wait(self, seconds: float) -> bool:
        """Wait; True as soon as it has ended. Sets `error` if it failed."""
        if self._thread is not None:
            self._thread.join(seconds)
            return not self._thread.is_alive()
        if self._stream is None:
            raise RunFailed("not started")
        try:
            stream: Any = self._stream
            ended = bool(stream.awaitTermination(seconds))
        except StreamingQueryException as error:
            self._failed(error)
            return True
        if ended and self.error is None and (failure := self._stream.exception()) is not None:
            self._failed(failure)
        return ended

    def _failed(self, error: Exception) -> None:
        if self.error is None:
            self.error = self._named(_failure_in(error), _text_of(error))

    def _named(self, failure: RunFailed, text: str) -> RunFailed:
        """With the operators that can have failed, where Spark's own words don't name one."""
        if str(failure).startswith("operator "):
            return failure
        stage = _FAILED_STAGE.search(text)
        suspects = self.reports.operators_in(int(stage[1])) if stage else []
        suspects = suspects or self._not_done()
        return RunFailed(f"operator {' or '.join(suspects)}: {failure}") if suspects else failure

    def _not_done(self) -> list[str]:
        """The operators with an instance that has not reported, while all that they take rows from have.

        Of the sinks only the one that is being called.
        """
        operators = self.weaver.application.in_order()
        done = {operator.name for operator in operators if self._done(operator)}
        return [
            operator.name
            for operator in operators
            if operator.name not in done
            and all(sender in done for sender in operator.inputs)
            and (operator.kind != "sink" or operator.name == self._calling)
        ]

    def _done(self, operator: Operator) -> bool:
        """Whether all instances of an operator have come to their end in the batch that is under way."""
        last = "out" if operator.kind == "source" or self.weaver.shapes[operator.name].shuffles else "in"
        instances = self.weaver.placement.parallelism(operator.name)
        return len(self.reports.finished(operator.name, last)) >= instances

    def _only_batch(self) -> None:
        try:
            self.weaver.session.sparkContext.setJobGroup("berth batch", self.weaver.application.name, True)
            self._batch(None, 0)
        except Exception as error:
            if not self._stopping:
                self._failed(error)

    def _batch(self, rows: DataFrame | None, number: int) -> None:
        with self._working:
            if self._stopping:
                raise RunFailed("stopped")
            began = time.time() * 1000
            try:
                self._sink(rows, number)
            except Exception as error:
                if not self._stopping:
                    self._failed(error)
                raise
            # those of an attempt that was given up are somebody else's
            reports = [each for each in self.reports.take() if each.batch in (None, str(number))]
            _verify(reports)
            self._calling = ""
            self.batches += 1
            self.observe(
                Batch(
                    number=number,
                    began_ms=min((each.began_ms for each in reports), default=began),
                    ended_ms=time.time() * 1000,
                    placement=self.weaver.placement,
                    reports=tuple(reports),
                    run_ms=run_ms_of(self.weaver.session, {each.stage for each in reports}),
                    state_bytes=self.state_bytes(),
                )
            )

    def _sink(self, rows: DataFrame | None, number: int) -> None:
        for operator, branch, frames in self.weaver.sinks(rows):
            self._calling = operator.name
            with self._own_shuffles_at_home(operator, branch):
                call_sink(operator, branch, frames, number)
            read = self.reports.heard(operator.name, operator.inputs)
            for sender, frame in zip(operator.inputs, frames, strict=True):
                if sender not in read:
                    # a sink that looked at nothing: its rows must have been computed all the same, or the
                    # state behind them would not move on
                    frame.write.format("noop").mode("overwrite").save()

    @contextmanager
    def _own_shuffles_at_home(self, operator: Operator, branch: Branch) -> Iterator[None]:
        """A sink may shuffle by itself if its node is the one where unpinned stages run."""
        if branch.node == self.coordinator:
            yield
            return
        session = self.weaver.session
        group = session.sparkContext.getLocalProperty(_GROUP) or ""
        before = jobs_of(session, group)
        yield
        if unpinned_stages(session, jobs_of(session, group) - before):
            raise Misplaced(
                f"operator {operator.name}: its function shuffles, and that part ran on {self.coordinator}, "
                f"not on {branch.node}; do it in an operator before the sink"
            )


def _verify(reports: list[Report]) -> None:
    wrong = {(each.operator, each.node, each.planned) for each in reports if each.node != each.planned}
    if wrong:
        lines = [f"operator {name} ran on {node}, not on {planned}" for name, node, planned in sorted(wrong)]
        raise Misplaced("; ".join(lines))


def _failure_in(error: Exception) -> RunFailed:
    if isinstance(error, RunFailed):
        return error
    text = _text_of(error)
    ours = message_in(text)
    if ours is None:
        return RunFailed(_line(error, text))
    return Misplaced(ours) if on_worker.MISPLACED in ours else RunFailed(ours)


def _text_of(error: Exception) -> str:
    java: Any = getattr(error, "java_exception", None)
    return f"{error}\n{java.toString()}" if java is not None else str(error)


def _line(error: Exception, text: str) -> str:
    if isinstance(error, Py4JError):
        return first_cause(error)
    return line_of(text) or type(error).__name__


def message_in(text: str) -> str | None:
    """The line that a worker of ours wrote into a traceback, if there is one."""
    found = _MESSAGE.search(text)
    return found[1].strip() if found else None
