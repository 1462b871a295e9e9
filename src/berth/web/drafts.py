"""Files that were stored as drafts of problems before they said so themselves."""

from __future__ import annotations

import json
import threading
from pathlib import Path, PurePosixPath

from berth.files import write_bytes


class Drafts:
    """Paths of a workspace, kept beside the jobs: a draft stays a problem's, whatever it still lacks."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._paths = _read(file)

    def __contains__(self, path: PurePosixPath) -> bool:
        """Whether somebody stored it as a draft."""
        return str(path) in self._paths

    def note(self, path: PurePosixPath, is_draft: bool) -> None:
        """Remember a path, or forget it."""
        with self._lock:
            if (path in self) == is_draft:
                return
            self._paths = self._paths | {str(path)} if is_draft else self._paths - {str(path)}
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(self._file, json.dumps(sorted(self._paths)).encode())


def _read(file: Path) -> frozenset[str]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return frozenset()
    return frozenset(map(str, found)) if isinstance(found, list) else frozenset()
