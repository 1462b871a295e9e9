"""How a run can fail, in one line each: the operator is named, and the row."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager

from berth.runtime import on_worker
from berth.spark.internals import wrapping_row_functions

_MESSAGE = re.compile(re.escape(on_worker.MARK) + r"(operator .*)")


class RunFailed(Exception):  # noqa: N818
    """A run can't go on; the line says why. What was done so far is in its checkpoint."""


class Misplaced(RunFailed):
    """An operator ran elsewhere than its plan says."""


def failure_of(line: str) -> RunFailed:
    """The failure that a worker's message stands for."""
    return Misplaced(line) if on_worker.MISPLACED in line else RunFailed(line)


def message_in(text: str) -> str | None:
    """The line that a worker of ours wrote into a traceback, if there is one."""
    found = _MESSAGE.search(text)
    return found[1].strip() if found else None


def naming_functions_of(operator: str) -> AbstractContextManager[None]:
    """While an operator's function runs on the driver: its user-defined functions name their rows."""
    return wrapping_row_functions(lambda function: on_worker.naming_rows(operator, function))
