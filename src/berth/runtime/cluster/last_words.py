"""The line of a daemon's log that says why it ended."""

from __future__ import annotations

import re
from pathlib import Path

# a line of Spark's log: the date, the level, who speaks
_HEAD = re.compile(r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d (?P<level>[A-Z]+) [\w.$]+: ")
_LOUD = re.compile(r"Exception|[Ee]rror\b|[Cc]ould not|[Cc]annot|[Ii]nvalid")
_CLASS = re.compile(r"^(?:Exception in thread \S+ |Caused by: )?(?:[\w$]+\.)+(?=[A-Z][\w$]*(?::|$))")
_MOST = 300


def last_words(log: Path) -> str:
    """The log's first complaint; else its last line, if any."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip() and not line.startswith(("\t", " "))]
    complaints = [number for number, line in enumerate(said) if _is_complaint(line)]
    if not complaints:
        line = next(reversed(said), "")
    else:
        # the exception under a line of the log says more than the line
        first = complaints[0]
        line = (
            said[first + 1] if first + 1 in complaints and not _HEAD.match(said[first + 1]) else said[first]
        )
    return _CLASS.sub("", _HEAD.sub("", line))[:_MOST]


def _is_complaint(line: str) -> bool:
    head = _HEAD.match(line)
    if head is None:
        return bool(_LOUD.search(line))
    return head["level"] == "ERROR" and "RECEIVED SIGNAL" not in line
