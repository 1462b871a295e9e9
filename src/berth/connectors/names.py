"""Names that file systems, addresses and other systems accept."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 100


def safe_names(names: Iterable[str]) -> list[str]:
    """For every name one of letters, digits, `_`, `.` and `-`, as near to it as possible, no two the same."""
    taken: set[str] = set()
    found = []
    for name in names:
        wanted = re.sub(r"^[.-]|[^\w.-]", "_", name)[:LONGEST] or "_"
        unique, count = wanted, 1
        while unique.casefold() in taken:
            count += 1
            unique = f"{wanted}-{count}"
        taken.add(unique.casefold())
        found.append(unique)
    return found
