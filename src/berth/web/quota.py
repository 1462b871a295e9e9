"""How much a workspace may hold, whoever fills it."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from berth.web.answers import Refused

MEASURED_SECONDS = 30.0
"""How long a measurement counts: other programs write here, too."""


class Quota:
    """The bytes and files of a folder, hidden ones included; what is stored meanwhile is added.

    Folders count as files: else empty ones could fill the disk, and hide what comes behind them in lists.
    """

    def __init__(self, root: Path, most_bytes: int, most_files: int) -> None:
        self._root = root
        self._most_bytes = most_bytes
        self._most_files = most_files
        self._lock = threading.Lock()
        self._measured_at = -MEASURED_SECONDS
        self._bytes = 0
        self._files = 0

    def take(self, size: int, files: int) -> None:
        """Take note of so many bytes more, and so many files; what needs no more room always has it.

        Raises:
            Refused: there is no room for them.
        """
        if size <= 0 and files <= 0:
            return
        with self._lock:
            if time.monotonic() - self._measured_at > MEASURED_SECONDS:
                self._bytes, self._files = measured(self._root)
                self._measured_at = time.monotonic()
            way = "delete something, or see berth serve"
            if self._bytes + size > self._most_bytes:
                most = f"{self._most_bytes / 2**20:,.0f} MiB"
                raise Refused(507, f"the workspace may hold {most}; {way} --workspace-size")
            if self._files + files > self._most_files:
                raise Refused(
                    507, f"the workspace may hold {self._most_files:,} files; {way} --workspace-files"
                )
            self._bytes += size
            self._files += files

    def measure_again(self) -> None:
        """Something is gone: look before the next refusal."""
        with self._lock:
            self._measured_at = -MEASURED_SECONDS


def measured(root: Path) -> tuple[int, int]:
    """The bytes and the number of all files and folders below a folder; links count for themselves."""
    size = files = 0
    for folder, folders, names in os.walk(root):
        files += len(folders)
        for name in names:
            try:
                size += os.lstat(os.path.join(folder, name)).st_size
            except OSError:  # it is gone meanwhile
                continue
            files += 1
    return size, files
