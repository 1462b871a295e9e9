"""Amounts that are compared, and amounts that may be unknown."""

from collections.abc import Iterable

TOLERANCE = 1e-9


def fits(amount: float, limit: float) -> bool:
    """Contract: "Amounts are compared with a relative tolerance of 1e-9"."""
    return amount <= limit * (1.0 + TOLERANCE)


def known(amounts: Iterable[float | None]) -> list[float] | None:
    """Return the amounts, or None where one of them is unknown."""
    found = list(amounts)
    numbers = [amount for amount in found if amount is not None]
    return numbers if len(numbers) == len(found) else None
