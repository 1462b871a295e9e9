"""When Spark fails: the one line of its many that says why."""

from __future__ import annotations

import re
from pathlib import Path

from py4j.protocol import Py4JJavaError

from berth.processes.output import without_class

_TASK = re.compile(r"^Job aborted due to stage failure: .*?most recent failure: Lost task .*?\): ")
_STATE = re.compile(r"\s*SQLSTATE: \w{5}$")
_WORKER = "Traceback (most recent call last):"


class SparkFailed(Exception):  # noqa: N818
    """Spark gave up.

    Attributes:
        line: why, in one line.
        log: the file with all that Spark said; None if somebody else started the session.
    """

    def __init__(self, line: str, log: Path | None) -> None:
        self.line = line
        self.log = log
        super().__init__(line if log is None else f"{line} (Spark's log: {log})")


def first_cause(error: BaseException) -> str:
    """The root of an error in one line. The JVM must still be alive: it knows what a Java error says."""
    if isinstance(error, Py4JJavaError):
        deepest = error.java_exception
        while (cause := deepest.getCause()) is not None:
            deepest = cause
        text = str(deepest.toString())
    else:
        text = str(error)
    return line_of(text) or type(error).__name__


def line_of(text: str) -> str:
    """The line of a Java or Python error that says most: its root, without class names and codes."""
    lines = [line.rstrip() for line in text.strip().splitlines()]
    if any(line.strip() == _WORKER for line in lines):
        start = max(number for number, line in enumerate(lines) if line.strip() == _WORKER)
        below = [line for line in lines[start + 1 :] if line and not line[0].isspace()]
        return below[0] if below else _WORKER
    causes = [line.strip().removeprefix("Caused by: ") for line in lines if "Caused by: " in line]
    line = causes[-1] if causes else next(iter(lines), "")
    line = _TASK.sub("", without_class(line))
    return _STATE.sub("", without_class(line))
