"""Running an application on Spark with every operator on its planned node.

What an application's own file needs is here; it is loaded when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from berth.runtime.application import Application
    from berth.runtime.sinks import write_batch

__all__ = ["Application", "write_batch"]

_HOMES = {"Application": "application", "write_batch": "sinks"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'berth.runtime' has no attribute {name!r}")
    value = getattr(import_module(f"berth.runtime.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
