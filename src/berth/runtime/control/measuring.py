"""Measuring beside a running application: `berth ingest` over its newest telemetry, in a process of its own.

A process has one Spark session, and that of a running application talks to its cluster. So measuring has a
process with a small local session, which stays for the next look: starting Spark takes longer than ingesting
some minutes of telemetry.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from berth.model import BadInput, Problem
from berth.processes import Channel, ChildProcess, Limits, begin_child
from berth.processes.channel import Message

if TYPE_CHECKING:
    from berth.spark import SparkSession

PATIENCE_SECONDS = 180.0
"""After which a measuring is given up, and its process replaced."""
END_SECONDS = 20.0
AVAILABILITY_SECONDS = 3600.0
"""Availability follows what is measured this slowly: that a node was away for a minute says little of it."""
# for many small plans over few rows: what takes time is getting ready, not the rows
SETTINGS = {
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class MeasuringFailed(Exception):  # noqa: N818
    """Telemetry could not be measured; the reason in a line."""


class Measurer:
    """Asks a process to ingest telemetry, for the time of a `with` block.

    Only files of telemetry that were written in the last so many seconds are taken, one estimate over all of
    them. A change of rates then shows in full as soon as these seconds are over, which a moving average
    over windows would never do, and a look costs the same however long the application runs.
    """

    def __init__(self, folder: Path) -> None:
        """A measurer that keeps its files in a folder."""
        self._folder = folder.resolve()
        self._process: ChildProcess | None = None
        self._closed = False

    def __enter__(self) -> Measurer:
        # the process dies with the thread that starts it, so that had better be one that stays
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process that measures, if there is one."""
        return None if self._process is None else self._process.pid

    def warm_up(self) -> None:
        """Let the process start Spark already; nobody waits for it."""
        if self._process is not None and self._process.channel is not None:
            self._process.channel.send({"do": "warm up"})

    def await_ready(self) -> None:
        """Wait until Spark is there; what is measured next should be as new as it can be.

        Raises:
            MeasuringFailed: it doesn't start.
        """
        self._ask({"do": "get ready"})

    def measure(self, telemetry: Path, problem: Path, seconds: float | None = None) -> Path:
        """Measure, and give the path of the updated problem.

        Args:
            telemetry: the folder with the four feeds.
            problem: what the telemetry is about; what was not measured stays as it is there.
            seconds: take only files that are not older; None: all.

        Raises:
            MeasuringFailed: there is nothing to measure, or it went wrong.
        """
        staged = self._folder / "telemetry"
        if not stage(telemetry, staged, seconds):
            raise MeasuringFailed(f"no telemetry of the last {seconds:.0f} s" if seconds else "no telemetry")
        target = self._folder / "measured"
        answer = self._ask(
            {"do": "measure", "telemetry": str(staged), "problem": str(problem), "out": str(target)}
        )
        return Path(answer["problem"])

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._closed = True
        self._end()

    def _start(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        limits = Limits(grace_seconds=END_SECONDS)
        self._process = ChildProcess.running(__name__, limits=limits, channel=True)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def _ask(self, request: Message) -> Message:
        answered = None if self._process is None else self._answer(self._process, request)
        if answered is None and not self._closed:
            # it died since the last time; a new one gets one chance
            self._end()
            self._start()
            assert self._process is not None
            answered = self._answer(self._process, request)
        if answered is None:
            raise MeasuringFailed("the process that measures is gone")
        if "error" in answered:
            raise MeasuringFailed(answered["error"])
        return answered

    def _answer(self, process: ChildProcess, request: Message) -> Message | None:
        """The answer; None: nobody is there to give one."""
        assert process.channel is not None
        if not process.channel.send(request):
            return None
        try:
            return process.channel.receive(PATIENCE_SECONDS)
        except TimeoutError:
            process.kill()
            raise MeasuringFailed(f"not done within {PATIENCE_SECONDS:.0f} s") from None


def stage(telemetry: Path, target: Path, seconds: float | None) -> int:
    """Link the files of telemetry that are new enough into a folder of their own; how many there are."""
    newest = -math.inf if seconds is None else time.time() - seconds
    shutil.rmtree(target, ignore_errors=True)
    count = 0
    for folder in ("probes", "heartbeats", "operators", "streams"):
        (target / folder).mkdir(parents=True)
        for file in _files(telemetry / folder):
            with contextlib.suppress(FileNotFoundError):
                if file.stat().st_mtime > newest:
                    (target / folder / file.name).symlink_to(file.resolve())
                    count += 1
    return count


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from (
            file for file in folder.iterdir() if not file.name.startswith((".", "_")) and file.is_file()
        )
    except FileNotFoundError:
        return


def with_slow_availability(before: Problem, measured: Problem, seconds: float) -> Problem:
    """What was measured in so many seconds, but with availabilities that follow it slowly.

    They are what a node does over months; from a minute of heartbeats one could only read that it is there.
    """
    weight = 1.0 - math.exp(-seconds / AVAILABILITY_SECONDS)
    known = {node.name: node.availability for node in before.network.nodes}
    nodes = tuple(
        replace(node, availability=(1 - weight) * known[node.name] + weight * node.availability)
        for node in measured.network.nodes
    )
    return replace(measured, network=replace(measured.network, nodes=nodes))


# what happens in the process


def main() -> None:
    """Answer requests until the other side is gone."""
    channel = begin_child()
    assert channel is not None
    signal.signal(signal.SIGTERM, _leave)
    with contextlib.ExitStack() as until_the_end:
        session: SparkSession | None = None
        for request in _requests(channel):
            whole = True
            try:
                session = session or until_the_end.enter_context(_session())
                answer = _ingested(session, request) if request["do"] == "measure" else {}
            except BadInput as error:
                answer = {"error": "; ".join(error.mistakes)}
            except Exception as error:
                # Java may be gone, or short of memory: the next request gets a new process
                answer, whole = {"error": _reason(error)}, False
            if request["do"] != "warm up":
                channel.send(answer)
            if not whole:
                return


def _session() -> contextlib.AbstractContextManager[SparkSession]:
    from berth.spark import spark_session

    return spark_session("local[1]", name="berth measuring", settings=SETTINGS)


def _ingested(session: SparkSession, request: Message) -> Message:
    from berth.pipeline.ingest import PROBLEM_FILE, IngestOptions, ingest

    out = Path(request["out"])
    ingest(session, Path(request["telemetry"]), Path(request["problem"]), out, IngestOptions())
    return {"problem": str(out / PROBLEM_FILE)}


def _reason(error: Exception) -> str:
    from berth.spark.failure import first_cause

    return first_cause(error)


def _requests(channel: Channel) -> Iterator[Message]:
    """Requests as they come. When the other side is gone the process has some time to leave, busy or not."""
    arrived: queue.Queue[Message | None] = queue.Queue()

    def listen() -> None:
        while (request := channel.receive()) is not None:
            arrived.put(request)
        arrived.put(None)
        time.sleep(END_SECONDS / 2)
        os._exit(1)

    threading.Thread(target=listen, daemon=True, name="berth requests").start()
    while (request := arrived.get()) is not None:
        yield request


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Leave in the ordinary way, so that Spark's files and processes go, too."""
    raise SystemExit


if __name__ == "__main__":
    main()
