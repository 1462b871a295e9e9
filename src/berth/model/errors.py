"""The one error that a user's input can cause."""

from __future__ import annotations

from collections.abc import Iterable


class BadInput(ValueError):  # noqa: N818
    """Input that breaks the rules: one line for each mistake, with the field's path."""

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(self.mistakes))
