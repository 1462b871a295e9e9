"""Mistakes in what users give, and the name that they may have meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from heapq import nlargest
from itertools import islice
from typing import Self

MOST_LINES = 20
"""Mistakes that are told one by one: nobody reads more before mending these."""
LONGEST_LINE = 2000
LONGEST_VALUE = 60
LONGEST_NAME = 200
"""Of nodes, applications, operators and objects."""
_only_counting = ContextVar("only counting mistakes", default=False)


class BadInput(ValueError):  # noqa: N818
    """Input that breaks the rules: one line for each mistake, with the field's path.

    Of very many, the first are told, and a last line says how many more there are.
    """

    def __init__(self, mistakes: str | Iterable[str], more: int = 0) -> None:
        """Take note of mistakes; they may come one by one, as they are found.

        Args:
            mistakes: the lines.
            more: how many there are beside these.
        """
        lines = iter((mistakes,) if isinstance(mistakes, str) else mistakes)
        self.told = tuple(_printable(line) for line in islice(lines, MOST_LINES))
        """The lines that are told."""
        with _counting():
            self.more = more + sum(1 for _ in lines)
        """How many more mistakes there are."""
        self.mistakes = self.told + ((and_more(self.more),) if self.more else ())
        super().__init__("\n".join(self.mistakes))

    @property
    def count(self) -> int:
        """How many mistakes there are."""
        return len(self.told) + self.more

    def reworded(self, change: Callable[[str], str]) -> Self:
        """The same mistakes, each in other words."""
        return type(self)(map(change, self.told), self.more)


def and_more(count: int) -> str:
    """The line behind the mistakes that are told."""
    return f"... and {count:,} more mistake{'' if count == 1 else 's'}"


@contextmanager
def _counting() -> Iterator[None]:
    """Within, no line is for reading: `did_you_mean` looks for nothing."""
    before = _only_counting.set(True)
    try:
        yield
    finally:
        _only_counting.reset(before)


def _printable(text: str) -> str:
    """One line for every mistake, whatever the user's names hold: line breaks and the like as escapes."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in shortened(text, LONGEST_LINE))


def shortened(text: str, longest: int = LONGEST_VALUE) -> str:
    """What users gave, as messages repeat it: its beginning, where it is long."""
    return text if len(text) <= longest else text[: longest - 3] + "..."


def one_of(name: str, known: Iterable[str]) -> str:
    """As `did_you_mean`, and then all names that there are: for short lists that few know by heart."""
    return f"{did_you_mean(name, known)} (known: {', '.join(known)})"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`named 'cuont'; did you mean 'count'?`, without the question where nothing is near."""
    if _only_counting.get():
        return ""
    name = shortened(name, LONGEST_NAME)
    return f"named {shortened(name)!r}{question(name, known)}"


def question(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'count'?`, or nothing where no other name is near."""
    parts = _parts(name)
    # Comparing in full is slow: only names that share many letters and pairs of letters are worth it.
    similar = nlargest(20, islice(known, 5000), key=lambda other: len(parts & _parts(other)))
    near = get_close_matches(name, similar, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _parts(name: str) -> set[str]:
    return {*name, *map("".join, zip(f" {name}", f"{name} ", strict=True))}
