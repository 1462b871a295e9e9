"""Parameters of generators: fields with bounds, and the checks that come with them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

LEAST, MOST = "least_", "most_"
MOST_NODES = 2_000
"""Of generated networks with matrices: files of more are refused when they are read (64 MiB)."""
MOST_OPERATORS = 10_000


def setting(default: Any, text: str, low: float = 0.0, high: float = 1e12) -> Any:
    """A field with a default, an explanation and the bounds of its value."""
    return field(default=default, metadata={"help": text, "low": low, "high": high})


@dataclass(frozen=True)
class Settings:
    """Fields made by `setting`; a pair `least_x` and `most_x` is a range."""

    def __post_init__(self) -> None:
        for item in fields(self):
            self._check_bounds(item.name, item.metadata["low"], item.metadata["high"])
        names = {item.name for item in fields(self)}
        for name in names:
            other = MOST + name.removeprefix(LEAST)
            if name.startswith(LEAST) and other in names:
                self._check_order(name, other)

    def _check_bounds(self, name: str, low: float, high: float) -> None:
        value = getattr(self, name)
        if isinstance(value, str | bool) or value is None:
            return
        if not low <= value <= high:
            side = f"below {low:g}" if value < low else f"above {high:g}" if value > high else "no number"
            raise ValueError(f"{name}: {value} is {side}")

    def _check_order(self, name: str, other: str) -> None:
        least, most = getattr(self, name), getattr(self, other)
        if least is not None and most is not None and least > most:
            raise ValueError(f"{name}: {least} is above {other} ({most})")
