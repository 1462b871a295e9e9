"""The one place where a Spark session is made: the same settings for every command, quiet, and stopped again."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from berth.model import BadInput
from berth.spark.java import check_java

DEFAULT_MASTER = "local[*]"

SETTINGS = {
    # what the results need: one time zone, one idea of what a Parquet file of pandas holds
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    # rows between Python and the JVM as columns
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # nothing on the user's screen, and no web page that nobody asked for
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # small shuffles become few tasks, large ones stay many: right for 2 cores and for 200
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
}

LOCAL_SETTINGS = {
    # a local session talks to itself: no host name to look up, no port open to others
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


@contextmanager
def spark_session(
    master: str | None = None,
    *,
    name: str = "berth",
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """A Spark session for the time of a `with` block; one that is active already is used, and left running.

    Args:
        master: `local[2]`, `spark://host:7077`, `yarn`, ...; None: what spark-defaults.conf says, else `local[*]`.
        name: the application's name in the cluster's lists.
        settings: more settings, and others than ours where they name the same.

    Raises:
        BadInput: Java is missing or too old, or Spark doesn't start; the line says where its log is.
    """
    running = _running()
    if running is not None:
        yield running
        return
    check_java()
    log = Path(tempfile.mkstemp(prefix="berth-spark-", suffix=".log")[1])
    try:
        with _standard_error_to(log):
            session = _build(master, name, dict(settings or {}))
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise BadInput([f"Spark doesn't start: {first} (its log: {log})"]) from error
    try:
        yield session
    except BaseException:
        session.stop()
        raise
    session.stop()
    log.unlink(missing_ok=True)


def _running() -> SparkSession | None:
    """The session of this process, in whichever thread it was made."""
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def _build(master: str | None, name: str, settings: dict[str, str]) -> SparkSession:
    builder = SparkSession.builder.appName(name)
    chosen = dict(SETTINGS)
    if master is None and "SPARK_CONF_DIR" not in os.environ:
        master = DEFAULT_MASTER
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            chosen |= LOCAL_SETTINGS | _local_sizes(master)
    for key, value in (chosen | settings).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _local_sizes(master: str) -> dict[str, str]:
    """Sizes for a session in which driver and executors are one process on this machine."""
    cores = _local_cores(master)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    heap = max(1, min(8, memory // 2**30 // 4))
    return {"spark.driver.memory": f"{heap}g", "spark.sql.shuffle.partitions": str(max(2, 2 * cores))}


def _local_cores(master: str) -> int:
    inside = master.removeprefix("local").strip("[]").split(",")[0]
    return int(inside) if inside.isdigit() else (os.cpu_count() or 1) if inside == "*" else 1


@contextmanager
def _standard_error_to(log: Path) -> Iterator[None]:
    """Let the JVM inherit a log file as its standard error: what it says there is not for the user."""
    kept = os.dup(2)
    file = os.open(log, os.O_WRONLY | os.O_APPEND)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(file)
