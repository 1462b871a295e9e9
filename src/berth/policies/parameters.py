"""A policy's parameters from what a user typed or passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from berth.model import parameters
from berth.model.parameters import described

__all__ = ["described", "parameters_from"]


def parameters_from(kind: type, given: Mapping[str, Any], policy: str) -> Any:
    """An instance of a policy's parameter class.

    Raises:
        BadInput: an unknown parameter, or a value of the wrong kind or out of range.
    """
    return parameters.parameters_from(kind, given, f"policy {policy}")
