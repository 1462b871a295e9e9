"""The Java process behind a session: quiet while it lives, and gone when we are done with it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaGateway
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from berth.processes.system import children_of, signal_group

END_SECONDS = 15.0


def start_jvm(settings: SparkConf, log: Path) -> JavaGateway:
    """Start the process, with all that it prints in the log.

    It leads a process group of its own, with the scripts that start it: a signal of the terminal reaches it
    only through us, and one signal of ours ends them all. Python workers end with it.
    """
    before = set(children_of(os.getpid()))
    with log.open("ab") as file:
        try:
            return launch_gateway(  # type: ignore[no-untyped-call]
                settings, {"stdout": file, "stderr": file, "process_group": 0}
            )
        except BaseException:
            for child in set(children_of(os.getpid())) - before:
                signal_group(child, signal.SIGKILL)
                os.waitpid(child, 0)
            raise


def end_jvm(process: subprocess.Popen[bytes], *, at_once: bool = False) -> None:
    """Make sure that the process is gone; at once means that it drops what it is doing."""
    try:
        if at_once:
            signal_group(process.pid, signal.SIGTERM)
        if process.stdin is not None:
            # it reads its standard input for no other reason than to learn that we are gone
            process.stdin.close()
        process.wait(END_SECONDS)
    finally:
        # too slow, or a second Ctrl-C; and workers that it left behind
        signal_group(process.pid, signal.SIGKILL)
        process.wait()


def is_gone(process: subprocess.Popen[bytes], seconds: float = 2.0) -> bool:
    """Whether the process has ended, or is just ending: its connections close a moment before."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def forget_jvm(context: SparkContext | None) -> None:
    """Let pyspark start another process for the next session instead of talking to one that is gone."""
    classes: Any = SparkContext, SparkSession
    context_class, session_class = classes
    if context is not None:
        dead: Any = context
        dead._jsc = None
        context.stop()
    gateway, context_class._gateway, context_class._jvm = context_class._gateway, None, None
    context_class._active_spark_context = None
    session_class._instantiatedSession = session_class._activeSession = None
    if gateway is not None:
        gateway.close()
