"""Compiled functions that only compiled functions call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from berth.space.compiled import compiled

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def inner(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """As `compiled`, without the way in from Python: to unpack a case there takes longest to compile.

    Nor does it count who holds an array: whoever calls it from Python does. Counting took most of the time
    of these loops; so such a function makes no arrays, only slices of those that it is given.
    """
    dispatcher: Any = compiled(function)
    if hasattr(dispatcher, "targetoptions"):
        dispatcher.targetoptions.update(no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)
    made: Callable[Parameters, Result] = dispatcher
    return made


def woven(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """As `inner`, for small functions of the innermost loops: to call them would take longer than they do."""
    dispatcher: Any = inner(function)
    if hasattr(dispatcher, "targetoptions"):
        dispatcher.targetoptions.update(forceinline=True)
    made: Callable[Parameters, Result] = dispatcher
    return made
