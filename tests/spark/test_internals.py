"""How far Spark is, and who may call its Python functions."""

from __future__ import annotations

import io
import re
import socket
import threading
import time
from typing import Any

import pytest
from pyspark.java_gateway import ensure_callback_server_started
from rich.console import Console

from berth.cli import progress
from berth.cli.progress import Steps, watching
from berth.spark import SparkSession
from berth.spark.internals import Tasks, tasks_now
from tests.processes.stranger import needs_root, told_to_nobody


def shown_to(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> io.StringIO:
    text = io.StringIO()
    console = Console(file=text, force_terminal=terminal, width=80)
    monkeypatch.setattr(progress, "err", console)
    return text


def test_text() -> None:
    """The step, its tasks, the time; a new step forgets the tasks of the one before."""
    steps = Steps("reading probes", lambda: Tasks(37, 1200))
    assert list(steps.report()) == ["reading probes · 0 s"]
    steps.update()
    (line,) = steps.report()
    assert line == "reading probes · 37 of 1,200 tasks · 0 s"
    steps("writing tables")
    (line,) = steps.report()
    assert re.fullmatch(r"writing tables · \d s", line)


@pytest.mark.spark  # it waits for seconds: not for the fast run
def test_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing from a quick command; a line after the quiet time, and then only now and then."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.5)
    text = shown_to(monkeypatch, terminal=False)
    with progress.waiting("starting"):
        pass
    assert text.getvalue() == ""
    with progress.waiting("starting"):
        time.sleep(2.5)
    assert re.fullmatch(r"starting · \d s\n", text.getvalue())


def test_a_live_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is drawn, it is wiped out in the end, and its threads end with it."""
    text = shown_to(monkeypatch, terminal=True)
    before = set(threading.enumerate())
    with progress.waiting("starting"):
        time.sleep(1)
    assert re.search(r"starting · \d s", text.getvalue())
    assert text.getvalue().rpartition("starting")[2].endswith("\x1b[2K")
    assert set(threading.enumerate()) == before


def test_tasks_of_a_running_job(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are counted while a job runs, in a command's thread; nothing runs before or after."""
    shown_to(monkeypatch, terminal=False)
    assert tasks_now(spark) is None
    seen: set[str] = set()
    before = set(threading.enumerate())

    def job() -> None:
        with watching(spark, "sleeping") as steps:
            counter = threading.Thread(target=spark.sparkContext.parallelize(range(6), 6).map(nap).count)
            counter.start()
            while counter.is_alive():
                seen.add(next(steps.report()).rpartition(" · ")[0])
                time.sleep(0.05)

    elsewhere = threading.Thread(target=job)
    elsewhere.start()
    elsewhere.join()
    assert any(text.endswith(" of 6 tasks") for text in seen)
    assert {thread.name for thread in set(threading.enumerate()) - before} & {"berth progress"} == set()
    time.sleep(0.2)
    assert tasks_now(spark) is None


def nap(_: int) -> None:
    time.sleep(0.7)


class Job:
    """A function that Java calls, as it calls that of a `foreachBatch`."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self) -> None:
        self.runs += 1

    class Java:
        implements = ("java.lang.Runnable",)


@needs_root
def test_nobody_else_calls_python_functions(spark: SparkSession) -> None:
    """Java calls them, and so may we; other users can neither call nor forget them."""
    gateway: Any = spark.sparkContext._gateway
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    port = gateway._callback_server.get_listening_port()
    functions = gateway.gateway_property.pool
    job = Job()
    gateway.jvm.java.lang.Thread(job).run()
    assert job.runs == 1
    name = functions.put(job)
    call, forget = f"c\n{name}\nrun\ne\n", f"g\n{name}\ne\n"
    try:
        for message in (call, forget):
            assert told_to_nobody(port, message) == ""
            told_to_nobody(port, message, stay=False)
        with socket.create_connection(("127.0.0.1", port)) as ours:
            # connections are taken in turn: those before have been looked at
            ours.sendall(call.encode())
            assert ours.recv(100).startswith(b"!y")
        assert job.runs == 2
        gateway.jvm.java.lang.Thread(job).run()
        assert job.runs == 3
    finally:
        del functions[name]
