"""The line of a log that says why a process of Java has ended."""

from __future__ import annotations

import re
from pathlib import Path

# a line of Spark's log: the date, the level, the class
_HEAD = re.compile(r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?P<level>[A-Z]+) [\w.$]+: ")
_COMPLAINT = re.compile(r"Exception|[Ee]rror\b|ERROR|[Cc]ould not|[Cc]annot|[Ii]nvalid|must be set")
_THREAD = re.compile(r"^(?:Exception in thread \S+ |Caused by: )")
# Spark's own classes say nothing; of others the package can go
_CLASS = re.compile(r"^(?:org\.apache\.spark\.[\w$.]+: |(?:[\w$]+\.)+(?=[A-Z][\w$]*(?:: |$)))")
# frames of a stack trace, and a heading over the line that matters
_EMPTY = ("at ", "Error occurred during initialization")
_LONGEST = 300


def complaint_in(log: Path) -> str:
    """The first complaint in a log; else its last line, if any."""
    try:
        text = log.read_text(errors="replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("\t", " "))]
    complaints = [number for number, line in enumerate(lines) if _is_complaint(line)]
    line = next(reversed(lines), "")
    if complaints:
        first = complaints[0]
        # the exception under a line of the log says more than that line
        logged = _HEAD.match(lines[first]) is not None
        below = first + 1 in complaints and _HEAD.match(lines[first + 1]) is None
        line = lines[first + 1] if logged and below else lines[first]
    return without_class(_THREAD.sub("", _HEAD.sub("", line)))[:_LONGEST]


def without_class(line: str) -> str:
    """An error of Java without the package of its class, or without a class of Spark's."""
    return _CLASS.sub("", line)


def _is_complaint(line: str) -> bool:
    head = _HEAD.match(line)
    if head is None:
        return bool(_COMPLAINT.search(line)) and not line.startswith(_EMPTY)
    return head["level"] == "ERROR" and "RECEIVED SIGNAL" not in line
