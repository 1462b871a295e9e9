"""Commands on Spark as a user meets them: quiet, errors in a line, and no process that outlives them.

Each test starts a Java process of its own; `spark_command.py` is the command.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.spark

COMMAND = [sys.executable, str(Path(__file__).with_name("spark_command.py")), "work"]
SMALL = ["--master", "local[2]", "--conf", "spark.driver.memory=512m"]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where logs of Spark go."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def started(scratch: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that would take minutes, in a process group of its own as in a terminal."""
    process = subprocess.Popen(
        [*COMMAND, "long", *SMALL],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        yield process
        process.kill()


def logs(folder: Path) -> list[Path]:
    """Those of sessions at work, and those that were kept."""
    return [*folder.glob("berth-*/spark.log"), *folder.glob("berth-spark-*.log")]


def family_of(process: subprocess.Popen[str]) -> dict[psutil.Process, str]:
    """The processes under a process with their names; those that end in this moment are left out."""
    names = {}
    with suppress(psutil.NoSuchProcess):
        for member in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                names[member] = member.name()
    return names


def wait_for(process: subprocess.Popen[str], *names: str) -> list[psutil.Process]:
    """The processes that a command has started, as soon as there is one of each of these names among them."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        family = family_of(process)
        if all(any(name in other for other in family.values()) for name in names):
            return list(family)
        time.sleep(0.05)
    raise AssertionError(f"{' and '.join(names)}: not started")


def all_gone(family: list[psutil.Process]) -> bool:
    """Whether all are gone within a moment; what nobody has collected yet is gone, too."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if not any(map(_is_at_work, family)):
            return True
        time.sleep(0.1)
    return False


def _is_at_work(member: psutil.Process) -> bool:
    try:
        return bool(member.is_running() and member.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize(
    ("number", "code", "last_line"), [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "")]
)
def test_told_to_end_in_a_job(
    started: subprocess.Popen[str], scratch: Path, number: signal.Signals, code: int, last_line: str
) -> None:
    """Ctrl-C reaches the whole group as in a terminal, SIGTERM the command: Java and the workers are gone."""
    # What is to become Java is called python, too, for a moment: workers are there when Java is.
    family = wait_for(started, "java", "python")
    (os.killpg if number is signal.SIGINT else os.kill)(started.pid, number)
    out, complaints = started.communicate(timeout=30)
    assert started.returncode == code
    assert out == "started\n"
    assert re.sub(r"(starting Spark|working|sleeping) · .*\n", "", complaints) == last_line
    assert all_gone(family)
    assert logs(scratch) == []


@pytest.mark.parametrize("moment", ["java", "log"])
def test_interrupted_while_spark_starts(started: subprocess.Popen[str], scratch: Path, moment: str) -> None:
    """Ctrl-C while the scripts run, and while the session is being made."""
    family = wait_for(started, "java")
    if moment == "log":
        while not any("log level" in log.read_text() for log in logs(scratch)):
            time.sleep(0.05)
        family = wait_for(started, "java")
    os.killpg(started.pid, signal.SIGINT)
    _, complaints = started.communicate(timeout=30)
    assert started.returncode == 130
    assert complaints.endswith("interrupted\n")
    assert "Traceback" not in complaints
    assert all_gone(family)
    assert logs(scratch) == []


def test_an_error_is_a_line(scratch: Path) -> None:
    """Exit 1, the reason without a traceback or any noise, and the log for those who want it all."""
    done = subprocess.run([*COMMAND, "fail", *SMALL], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (log,) = logs(scratch)
    assert re.sub(r"(starting Spark|working) · .*\n", "", done.stderr) == (
        f"Spark failed: ZeroDivisionError: integer division or modulo by zero (its log: {log})\n"
    )
    assert done.stdout == "started\n"
    assert "ZeroDivisionError" in log.read_text()


def test_without_standard_error(scratch: Path) -> None:
    """A closed standard error harms nobody, and nothing of Spark ends up on standard output instead."""
    command = f"{sys.executable} {COMMAND[1]} work noise {' '.join(SMALL)}"
    done = subprocess.run(f"{command} 2>&-", shell=True, capture_output=True, text=True, check=False)
    assert done.stdout == "started\ndone\n"
    assert done.returncode == 0
    assert logs(scratch) == []


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--master", "locl[2]"], "master 'locl[2]': expected one such as local[2]"),
        (["--conf", "x"], "--conf x: expected key=value"),
        (["--conf", "spark.driver.memory=lots"], "Spark doesn't start: Invalid maximum heap size: -Xmxlots"),
    ],
)
def test_wrong_options(arguments: list[str], line: str, scratch: Path) -> None:
    """Exit 2 and one line, without waiting for Spark."""
    done = subprocess.run([*COMMAND, "noise", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith(line)
    assert "Traceback" not in done.stderr
