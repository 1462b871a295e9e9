"""Loops that are compiled, and stay compiled from one run to the next."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from numba import njit

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_ROOMS = ("space", "exact", "policies")
"""Where compiled functions are."""


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function when it is first called; divisions by zero give what numpy gives.

    numba keeps what it has compiled until the function's own file changes. What other files' functions were
    compiled into it would be called in their old form then, so here a change of any file counts.
    """
    try:
        dispatcher: Any = njit(cache=True, error_model="numpy")(function)
    except RuntimeError:
        # there is no folder that could be written to
        uncached: Callable[Parameters, Result] = njit(error_model="numpy")(function)
        return uncached
    index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(index, "_source_stamp"):
        index._source_stamp = (index._source_stamp, _stamp())
    found: Callable[Parameters, Result] = dispatcher
    return found


@cache
def _stamp() -> tuple[tuple[str, int, int], ...]:
    """Names, sizes and times of all files with compiled functions."""
    root = Path(__file__).parent.parent
    files = sorted(file for room in _ROOMS for file in (root / room).rglob("*.py"))
    found = ((file, file.stat()) for file in files)
    return tuple((str(file.relative_to(root)), stat.st_size, stat.st_mtime_ns) for file, stat in found)
