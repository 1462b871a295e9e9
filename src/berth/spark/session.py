"""The one place where a Spark session is made: the same settings for all, quiet, and ended again."""

from __future__ import annotations

import logging
import os
import re
import secrets
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen, TimeoutExpired

from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from berth.disk import temporary_folder
from berth.model import BadInput
from berth.processes import complaint_in
from berth.processes.system import signal_group
from berth.spark.failure import SparkFailed, first_cause
from berth.spark.internals import forget_jvm, silence_accumulators, start_jvm
from berth.spark.machine import check_java, check_master, local_threads
from berth.spark.settings import (
    LONGEST_SOCKET_FOLDER,
    PRIVATE_SOCKETS,
    SOCKET_FOLDER,
    check_environment,
    configuration_folder,
    settings_for,
    spark_defaults,
)

_SECRET = re.compile(r"(?i)secret|password|token|access[.]?key")
"""What Spark takes for names of secrets, too, and leaves out of its logs (`spark.redaction.regex`)."""
_REFUSAL = re.compile(
    r"Expected SaslMessage|Unknown challenge|SaslException"
    # an error of the other side, inside of one of ours: no mere trouble of the network
    r"|bootstrapping client after \d+ ms\n\S*RuntimeException: \S*RuntimeException:"
)
"""What Spark says of a wrong secret, or none, or of encryption that only one side has."""
LOOK_SECONDS = 0.2
_LOCAL_DIR = "spark.local.dir"
END_SECONDS = 15.0
"""For Java to end by itself."""


@contextmanager
def spark_session(
    master: str | None = None,
    *,
    name: str = "berth",
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """A Spark session for the time of a `with` block; one that is active already is used, and left running.

    Args:
        master: `local[2]`, `spark://host:7077`, ...; None: what spark-defaults.conf says, else `local[*]`.
        name: the application's name in the cluster's lists.
        settings: more settings, and others than ours where they name the same.

    Raises:
        BadInput: Java is missing or too old, the master is none, or Spark doesn't start; the line says why.
        SparkFailed: an error of Spark left the block; it has the reason in one line, and where the log is.
    """
    check_environment()
    running = _running()
    if running is not None:
        with _failing_in_one_line(None, None):
            yield running
        return
    chosen = settings_for(master, settings or {}) | {"spark.app.name": name}
    check_master(chosen["spark.master"])
    if not (configuration_folder() / "spark-env.sh").exists():
        # that script may choose a Java that we don't see
        check_java()
    with temporary_folder() as scratch, _log_file(scratch) as log, _own_logging_in(log.file):
        chosen = _with_scratch(chosen, scratch)
        gateway = None
        refused = threading.Event()
        try:
            with _environment(chosen), _same_interrupts():
                gateway = start_jvm(_configuration(_without_secrets(chosen)), log.file)
                with _ended_when_refused(gateway.proc, log.file, refused):
                    session = _build(gateway, chosen)
        except BaseException as error:
            reason = _why_refused(chosen) if refused.is_set() else _why_not_started(error, gateway, log.file)
            _end(None, gateway, at_once=True)
            if isinstance(error, Exception):
                raise BadInput(f"Spark doesn't start: {reason} (its log: {log.kept})") from error
            raise
        try:
            with _failing_in_one_line(log.kept, gateway.proc):
                yield session
        except (KeyboardInterrupt, SystemExit):
            _end(session, gateway, at_once=True)
            raise
        except BaseException:
            _end(session, gateway)
            raise
        _end(session, gateway)


def _running() -> SparkSession | None:
    """The session of this process, in whichever thread it was made."""
    try:
        return SparkSession.active()
    except PySparkRuntimeError:
        return None


def _without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """What Java may be started with: every user of the machine can read the arguments of a process.

    The rest comes later, over our own connection.
    """
    return {key: value for key, value in settings.items() if not _SECRET.search(key)}


def _configuration(settings: Mapping[str, str]) -> SparkConf:
    return SparkConf(loadDefaults=False).setAll(list(settings.items()))


def _build(gateway: JavaGateway, settings: Mapping[str, str]) -> SparkSession:
    context = SparkContext(conf=_configuration(settings), gateway=gateway)
    return SparkSession(context)


def _end(session: SparkSession | None, gateway: JavaGateway | None, *, at_once: bool = False) -> None:
    context = None if session is None else session.sparkContext
    if context is not None and at_once:
        silence_accumulators(context)
    try:
        if gateway is not None:
            if session is not None and not at_once and gateway.proc.poll() is None:
                session.stop()
            _end_jvm(gateway.proc, at_once=at_once)
    finally:
        forget_jvm(context)


def _end_jvm(process: Popen[bytes], *, at_once: bool = False) -> None:
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


def _is_gone(process: Popen[bytes], seconds: float = 2.0) -> bool:
    """Whether the process has ended, or is just ending: its connections close a moment before."""
    try:
        process.wait(seconds)
    except TimeoutExpired:
        return False
    return True


@contextmanager
def _failing_in_one_line(log: Path | None, process: Popen[bytes] | None) -> Iterator[None]:
    """Spark's errors become SparkFailed while the JVM can still say what they mean."""
    try:
        yield
    except (BadInput, SparkFailed):
        raise
    except Exception as error:
        lost = isinstance(error, (OSError, Py4JError)) and not isinstance(error, Py4JJavaError)
        if process is not None and lost and _is_gone(process):
            line = f"its Java process is gone (exit code {process.returncode}): out of memory, or killed"
            raise SparkFailed(line, log) from error
        if isinstance(error, (PySparkException, Py4JError)):
            raise SparkFailed(first_cause(error), log) from error
        raise


@contextmanager
def _ended_when_refused(process: Popen[bytes], log: Path, refused: threading.Event) -> Iterator[None]:
    """End Java once a master has refused it: by itself it would knock for another minute."""
    started = threading.Event()

    def look() -> None:
        while not started.wait(LOOK_SECONDS):
            if _REFUSAL.search(log.read_text(errors="replace")):
                refused.set()
                signal_group(process.pid, signal.SIGKILL)
                return

    looking = threading.Thread(target=look, name="berth looks for a refusal", daemon=True)
    looking.start()
    try:
        yield
    finally:
        started.set()
        looking.join()


def _why_refused(settings: Mapping[str, str]) -> str:
    if settings.get("spark.authenticate") != "true":
        reason = "it asks for a secret: name the file that has it in BERTH_CLUSTER_SECRET_FILE"
    elif settings.get("spark.network.crypto.enabled") == "true":
        reason = "it has another secret, or doesn't encrypt"
    else:
        reason = "it has another secret, or none, or wants to be talked to with encryption"
    return f"{settings['spark.master']} doesn't let us in: {reason}"


def _why_not_started(error: BaseException, gateway: JavaGateway | None, log: Path) -> str:
    if gateway is None or gateway.proc.poll() is not None:
        return complaint_in(log) or str(error)
    return first_cause(error)


@dataclass(frozen=True)
class _Log:
    """A file for what Spark says, and where it is to be found if Spark fails."""

    file: Path
    kept: Path


@contextmanager
def _log_file(scratch: Path) -> Iterator[_Log]:
    """A log that goes with the folder it is in, unless the error that leaves the block names it."""
    log = _Log(scratch / "spark.log", scratch.with_name(f"berth-spark-{secrets.token_hex(4)}.log"))
    log.file.touch(mode=0o600)
    try:
        yield log
    except BaseException as error:
        if str(log.kept) in str(error):
            log.file.rename(log.kept)
        raise


def _with_scratch(settings: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Let what Spark leaves when it is killed go with our folder, unless the user has a place for it.

    Workers of a cluster have places of their own for their executors.
    """
    settings = _with_sockets(settings, scratch)
    master = settings["spark.master"]
    ours = local_threads(master) is not None or master.startswith("spark://")
    theirs = _LOCAL_DIR in settings or _LOCAL_DIR in spark_defaults() or "SPARK_LOCAL_DIRS" in os.environ
    return dict(settings) if theirs or not ours else {**settings, _LOCAL_DIR: str(scratch)}


def _with_sockets(settings: Mapping[str, str], scratch: Path) -> Mapping[str, str]:
    """Private sockets are in our folder, or not there at all: who can open one is asked for no secret.

    On other machines there is no such folder; whoever wants sockets there says where.
    """
    master = settings["spark.master"]
    here = local_threads(master) is not None or master.startswith("spark://127.0.0.1:")
    told = SOCKET_FOLDER in settings or SOCKET_FOLDER in spark_defaults()
    if settings.get(PRIVATE_SOCKETS) != "true" or told or not here:
        return settings
    if len(str(scratch)) > LONGEST_SOCKET_FOLDER:
        return {**settings, PRIVATE_SOCKETS: "false"}
    return {**settings, SOCKET_FOLDER: str(scratch)}


@contextmanager
def _own_logging_in(log: Path) -> Iterator[None]:
    """Let py4j complain about lost connections in the log instead of on the screen."""
    # an error of a query would come out twice: from us in a line, and from pyspark with the whole Java stack
    PySparkLogger.getLogger("DataFrameQueryContextLogger").disabled = True
    handler = logging.FileHandler(log, delay=True)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """The variables that decide which Python the workers run, and which address a local session has."""
    local = local_threads(settings["spark.master"]) is not None
    python = os.environ.get("PYSPARK_PYTHON") or settings.get("spark.pyspark.python")
    wanted = {"PYSPARK_PYTHON": sys.executable if local or not python else python}
    # Spark's start scripts look for Spark with this Python
    wanted["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if local:
        wanted["SPARK_LOCAL_IP"] = settings.get("spark.driver.bindAddress", "127.0.0.1")
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


@contextmanager
def _same_interrupts() -> Iterator[None]:
    """Undo the handler that pyspark installs: it talks to the JVM in the middle of another conversation."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
