"""The one error that a user's input can cause."""

from __future__ import annotations

from collections.abc import Iterable


class BadInput(ValueError):  # noqa: N818
    """Input that breaks the rules: one line for each mistake, with the field's path."""

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(_printable(mistake) for mistake in mistakes)
        super().__init__("\n".join(self.mistakes))


def _printable(text: str) -> str:
    """One line for every mistake, whatever the user's names hold: line breaks and the like as escapes."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
