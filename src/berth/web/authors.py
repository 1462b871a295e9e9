"""Who wrote what the files of a workspace have now, kept beside the jobs: it outlives the service."""

from __future__ import annotations

import json
import logging
import os
import threading
from pathlib import Path

from berth.disk import replace_file

SPARE_LINES = 100

log = logging.getLogger("berth.web")


class Authors:
    """By id: the etag that was written last, and for whom. Changes are lines at the end of a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, str]] = {}
        *lines, rest = _text(file).split("\n")
        for line in lines:
            self._take(line)
        # a rest was cut off when the service was: the next line must not be joined to it
        if rest or len(lines) > 2 * len(self._known) + SPARE_LINES:
            self._write_anew()

    def of(self, identity: str, etag: str) -> str | None:
        """Who wrote a file that has this etag; None where another program did."""
        known, author = self._known.get(identity, ("", ""))
        return author if known == etag else None

    def note(self, identity: str, etag: str, author: str) -> None:
        """Remember who wrote a file; without an etag it is gone."""
        line = json.dumps([identity, etag, author])
        with self._lock:
            self._take(line)
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                way = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                with os.fdopen(os.open(self._file, way, 0o600), "a") as stream:
                    stream.write(line + "\n")
            except OSError as error:
                # the file itself is written: only its author would be unknown after the next start
                log.warning("%s can't be written: %s", self._file.name, error.strerror or error)

    def _take(self, line: str) -> None:
        try:
            identity, etag, author = map(str, json.loads(line))
        except (ValueError, TypeError):  # not ours
            return
        self._known.pop(identity, None)
        if etag:
            self._known[identity] = etag, author

    def _write_anew(self) -> None:
        lines = (json.dumps([identity, *known]) + "\n" for identity, known in self._known.items())
        try:
            replace_file(self._file, "".join(lines).encode())
        except OSError as error:
            log.warning("%s can't be written: %s", self._file.name, error.strerror or error)


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
