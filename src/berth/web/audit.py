"""Who did what to which file: a line of JSON for each change and each refusal, for us alone to read."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from berth.web.people import MARK
from berth.web.workspace import path_of, time_text

LARGEST = 10 * 2**20
KEPT = 4
"""Older files beside the one that is written to."""
LONGEST_TEXT = 300
_TOKEN = re.compile(rf"{MARK}[\w-]+")

log = logging.getLogger("berth.web")


class Audit:
    """Two journals: what strangers try can't push out what people did."""

    def __init__(self, inner: Path, largest: int = LARGEST) -> None:
        self._people = Journal(inner / "audit.jsonl", largest)
        self._strangers = Journal(inner / "refused.jsonl", largest)

    def note(self, who: str | None, action: str, outcome: str, facts: Mapping[str, Any]) -> None:
        """Write a line; `who` is None for a stranger."""
        line = {"time": time_text(time.time()), "who": who, "action": action, "outcome": outcome, **facts}
        plain = {
            key: _TOKEN.sub(f"{MARK}...", value)[:LONGEST_TEXT] if isinstance(value, str) else value
            for key, value in line.items()
        }
        (self._strangers if who is None else self._people).write(plain)


class Journal:
    """Lines of JSON, appended; a file that is full is put aside, and the oldest goes."""

    def __init__(self, file: Path, largest: int) -> None:
        self._file = file
        self._largest = largest
        self._lock = threading.Lock()

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a line. Where that fails, the log of the service says so, and the service goes on."""
        # JSON has no line breaks, and nothing but ASCII: nobody can write a line of their own
        data = json.dumps(line).encode() + b"\n"
        with self._lock:
            try:
                if self._size() + len(data) > self._largest:
                    self._put_aside()
                way = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
                with os.fdopen(os.open(self._file, way, 0o600), "ab", buffering=0) as stream:
                    stream.write(data)
            except OSError as error:
                log.error("%s can't be written: %s", self._file.name, error.strerror or error)

    def _size(self) -> int:
        try:
            return self._file.lstat().st_size
        except FileNotFoundError:
            return 0

    def _put_aside(self) -> None:
        names = [self._file, *(self._file.with_name(f"{self._file.name}.{n}") for n in range(1, KEPT + 1))]
        for newer, older in reversed(list(pairwise(names))):
            if newer.exists():
                os.replace(newer, older)


def things(action: str, identity: str | None) -> dict[str, str]:
    """What an id in an address means: a job, or a file of the workspace."""
    if identity is None:
        return {}
    if action.partition(" ")[2].startswith(("/jobs", "/fronts")):
        return {"job": identity}
    path = path_of(identity)
    return {} if path is None else {"file": str(path)}
