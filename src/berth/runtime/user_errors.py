"""Errors of a user's own functions: they name the operator and the row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from berth.runtime import on_worker

_MESSAGE = re.compile(re.escape(on_worker.MARK) + r"(operator .*)")
_ROW_FUNCTIONS = (PythonEvalType.SQL_BATCHED_UDF, PythonEvalType.SQL_ARROW_BATCHED_UDF)


def message_in(text: str) -> str | None:
    """The line that a worker of ours wrote into a traceback, if there is one."""
    found = _MESSAGE.search(text)
    return found[1].strip() if found else None


@contextmanager
def naming_functions_of(operator: str) -> Iterator[None]:
    """While an operator's function runs on the driver: user-defined functions that it uses name their rows.

    They may have been made long before, where the user's file was loaded, so it is their use that is caught.
    """
    plain: Any = UserDefinedFunction.__call__

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if self.evalType in _ROW_FUNCTIONS:
            self = UserDefinedFunction(
                on_worker.naming_rows(operator, self.func),
                self.returnType,
                name=self._name,
                evalType=self.evalType,
                deterministic=self.deterministic,
            )
        return plain(self, *arguments, **named)

    changed: Any = UserDefinedFunction
    changed.__call__ = call
    try:
        yield
    finally:
        changed.__call__ = plain
