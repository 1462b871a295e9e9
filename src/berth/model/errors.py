"""Mistakes in what users give, and the name that they may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from heapq import nlargest
from itertools import islice


class BadInput(ValueError):  # noqa: N818
    """Input that breaks the rules: one line for each mistake, with the field's path."""

    def __init__(self, mistakes: str | Iterable[str]) -> None:
        lines = (mistakes,) if isinstance(mistakes, str) else mistakes
        self.mistakes = tuple(_printable(line) for line in lines)
        super().__init__("\n".join(self.mistakes))


def _printable(text: str) -> str:
    """One line for every mistake, whatever the user's names hold: line breaks and the like as escapes."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def one_of(name: str, known: Iterable[str]) -> str:
    """As `did_you_mean`, and then all names that there are: for short lists that few know by heart."""
    return f"{did_you_mean(name, known)} (known: {', '.join(known)})"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`named 'cuont'; did you mean 'count'?`, without the question where nothing is near."""
    parts = _parts(name)
    # Comparing in full is slow: only names that share many letters and pairs of letters are worth it.
    similar = nlargest(20, islice(known, 5000), key=lambda other: len(parts & _parts(other)))
    near = get_close_matches(name, similar, n=1)
    question = f"; did you mean {near[0]!r}?" if near else ""
    return f"named {name!r}{question}"


def _parts(name: str) -> set[str]:
    return {*name, *map("".join, zip(f" {name}", f"{name} ", strict=True))}
