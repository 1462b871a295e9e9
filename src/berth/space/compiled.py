"""Loops that are compiled, and stay compiled from one run to the next."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, ParamSpec, TypeVar

from numba import njit

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function when it is first called; divisions by zero give what numpy gives.

    numba keeps what it has compiled until the function's own file changes. Functions and numbers of other
    files that were compiled into it would stay in their old form then, so here a change of these counts, too.
    """
    try:
        dispatcher: Any = njit(cache=True, error_model="numpy")(function)
    except RuntimeError:
        # there is no folder that could be written to
        uncached: Callable[Parameters, Result] = njit(error_model="numpy")(function)
        return uncached
    index = _cache_index(dispatcher)
    if index is not None:
        index._source_stamp = (index._source_stamp, _imported(function))
    found: Callable[Parameters, Result] = dispatcher
    return found


def must_compile(function: Callable[..., Any]) -> bool:
    """Whether the first call of a compiled function will take long: nobody has compiled it here before."""
    index = _cache_index(function)
    signatures = getattr(function, "signatures", None)
    return signatures == [] and (index is None or not index._load_index())


def _cache_index(dispatcher: Any) -> Any:
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    return index if hasattr(index, "_source_stamp") else None


def _imported(function: Callable[..., Any]) -> str:
    """A mark of what a function's module has at this moment: others' compiled functions, and numbers."""
    there = [(name, value) for name, value in function.__globals__.items() if not name.startswith("__")]
    functions = [
        (name, index._source_stamp)
        for name, value in there
        if (index := _cache_index(value)) and value.py_func.__module__ != function.__module__
    ]
    numbers = [(name, value) for name, value in there if isinstance(value, int | float | str | tuple)]
    return sha256(repr(sorted(functions) + sorted(numbers)).encode()).hexdigest()
