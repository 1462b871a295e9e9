"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`named 'cuont'; did you mean 'count'?`, without the question where nothing is near."""
    near = get_close_matches(name, list(known)[:5000], n=1)
    question = f"; did you mean {near[0]!r}?" if near else ""
    return f"named {name!r}{question}"
