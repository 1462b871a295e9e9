"""What this machine has: processors and memory, as far as this process may use them."""

from __future__ import annotations

import os
from pathlib import Path

# where containers say how much memory they may use: control groups version 2 and version 1
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def processors() -> int:
    """How many processors this process may run on."""
    return len(os.sched_getaffinity(0))


def memory_bytes() -> int:
    """The memory of this machine, or of the container around this process."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *(int(text) for text in map(_read, LIMITS) if text.isdigit())])


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
