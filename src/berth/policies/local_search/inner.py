"""Compiled functions that only compiled functions call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from berth.space.compiled import compiled

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def inner(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """As `compiled`, without the way in from Python: to unpack a case there takes longest to compile."""
    dispatcher: Any = compiled(function)
    if hasattr(dispatcher, "targetoptions"):
        dispatcher.targetoptions.update(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    made: Callable[Parameters, Result] = dispatcher
    return made
