"""JSON that every reader takes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import islice
from typing import Any

from berth.model.errors import LONGEST_NAME, shortened

LONGEST_REASON = 1000
MOST_LISTED = 100
"""Entries of anything that is repeated in a list."""


def json_bytes(document: Any) -> bytes:
    """A document as JSON; what is no number becomes null."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        return json_bytes(without_nan(document))


def finite(value: float) -> float | None:
    """A number, or None where it is none or beyond all bounds."""
    return float(value) if math.isfinite(value) else None


def without_nan(value: Any) -> Any:
    """The same, with null for what is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value


def brief(value: Any, longest: int = LONGEST_NAME) -> Any:
    """The same as lists repeat it: whatever files say, a list of many stays readable."""
    if isinstance(value, str):
        return shortened(value, longest)
    if isinstance(value, Mapping):
        entries = islice(value.items(), MOST_LISTED)
        return {brief(str(key)): brief(item, longest) for key, item in entries}
    if isinstance(value, list | tuple):
        return [brief(item, longest) for item in value[:MOST_LISTED]]
    return value
