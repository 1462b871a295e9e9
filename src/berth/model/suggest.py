"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from heapq import nlargest
from itertools import islice


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
