"""When Spark fails: the one line of its many that says why."""

from __future__ import annotations

import re
from pathlib import Path

from py4j.protocol import Py4JJavaError

# Spark's own classes say nothing; of others the package can go
_CLASS = re.compile(r"^(?:org\.apache\.spark\.[\w$.]+: |(?:[\w$]+\.)+(?=[A-Z][\w$]*(?:: |$)))")
_TASK = re.compile(r"^Job aborted due to stage failure: .*?most recent failure: Lost task .*?\): ")
_STATE = re.compile(r"\s*SQLSTATE: \w{5}$")
_WORKER = "Traceback (most recent call last):"
_LOUD = re.compile(r"Exception|[Ee]rror\b|ERROR|[Cc]ould not|[Ii]nvalid|must be set")
# frames of a stack trace, and a heading of the JVM over the line that matters
_EMPTY = ("at ", "Error occurred during initialization")


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
    line = _TASK.sub("", _CLASS.sub("", line))
    return _STATE.sub("", _CLASS.sub("", line))


def last_words(log: Path) -> str:
    """What a JVM that didn't come up said: its first complaint, else its last line, if any."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    complaints = [line for line in lines if _LOUD.search(line) and not line.startswith(_EMPTY)]
    if not complaints:
        return lines[-1] if lines else ""
    return line_of(re.sub(r'^Exception in thread "[^"]*" ', "", complaints[0]))
