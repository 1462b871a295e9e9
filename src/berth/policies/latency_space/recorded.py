"""What a previous plan's trace may be trusted with: it is a file, and anybody may have written it."""

from __future__ import annotations

LARGEST = 1e60
"""In ms: beyond, squares of distances are soon no numbers any more."""


def is_number(value: object) -> bool:
    """Whether it is a number of a sensible size; whole ones may be too large to be a float at all."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -LARGEST < value < LARGEST
