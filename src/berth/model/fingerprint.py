"""What tells versions of a problem apart: a short digest of all that decides what a plan is worth."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any

import numpy as np

DIGITS = 12


def fingerprint_of(item: Any, left_out: Collection[str] = ()) -> str:
    """The digest of a dataclass, but for some of its fields.

    Fields at their defaults are left out, so that it stays the same when they are written out, and when berth
    learns of more fields.
    """
    content = {name: value for name, value in _fields(item).items() if name not in left_out}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _content(value: Any) -> Any:
    """A value of the model as data that is the same however it was written."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float):
        # 1 is 1.0, and the sum takes the sign of zeros
        return float(value) + 0.0
    if isinstance(value, np.generic):
        return _content(value.item())
    if isinstance(value, tuple | list):
        return [_content(item) for item in value]
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, np.ndarray):
        plain = np.ascontiguousarray(value + 0.0, dtype="<f8")
        # whatever is no number is the same
        plain[np.isnan(plain)] = np.nan
        return hashlib.sha256(plain.tobytes()).hexdigest()
    if isinstance(value, Mapping):
        # of a resource or a price that is not named there is 0
        return {
            key: _content(item) for key, item in value.items() if isinstance(item, np.ndarray) or item != 0
        }
    # a network is large, and the same for many problems: it knows its own
    known: str | None = getattr(value, "fingerprint", None)
    return _fields(value) if known is None else known


def _fields(item: Any) -> dict[str, Any]:
    """The fields of a dataclass that are not at their defaults, and its kind: rules differ in that alone."""
    given = {
        name: content
        for name, default, usual in _defaults(item.__class__)
        if (value := getattr(item, name)) is not default and (content := _content(value)) != usual
    }
    return {"": type(item).__name__, **given}


@cache
def _defaults(kind: type) -> list[tuple[str, Any, Any]]:
    """The fields of a dataclass with their defaults, as they are and as content."""
    found = []
    for item in fields(kind):
        default = item.default if item.default_factory is MISSING else item.default_factory()
        found.append((item.name, default, None if default is MISSING else _content(default)))
    return found
