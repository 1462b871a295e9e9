"""The folder that a service works in: its files by id, read and written so that nobody gets half of one."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal

from berth.files import write_bytes
from berth.web.drafts import Drafts
from berth.web.errors import Refused, missing
from berth.web.names import DEEPEST, id_of, is_visible, path_of

MOST_ENTRIES = 50_000
"""Files and folders that are looked at: a workspace is no whole disk."""
LARGEST = 32 * 2**20
"""Larger files are no problems or plans."""
LARGEST_SNIFFED = 4 * 2**20
OTHERS = "another program"

Kind = Literal["problem", "plan", ""]
_FORMAT = re.compile(rb"""(?:^|[{,\s])["']?format["']?\s*:\s*["']?(berth(?:-plan)?/v1)\b""")
_RUN_MARKS = ("run.json", "history.jsonl")
Signature = tuple[int, int, int]


@dataclass(frozen=True)
class Entry:
    """A file or folder of the workspace."""

    path: PurePosixPath
    """Within the workspace."""
    place: Path
    """On the disk, links followed."""

    @property
    def id(self) -> str:
        """How addresses name it."""
        return id_of(self.path)


@dataclass(frozen=True)
class Content:
    """What a file has at one moment."""

    entry: Entry
    data: bytes
    etag: str
    modified: float


class Workspace:
    """The files of one folder. Writing is one at a time, and never over what somebody else has changed."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.inner = self.root / ".berth"
        self.drafts = Drafts(self.inner / "drafts.json")
        self._lock = threading.RLock()
        self._authors: dict[str, tuple[str, str]] = {}
        """By id: the etag that this service wrote last, and for whom."""
        self._kinds: dict[Path, tuple[Signature, Kind]] = {}

    def entry(self, identity: str, what: str) -> Entry:
        """What an id means.

        Raises:
            Refused: it is not there, or outside.
        """
        path = path_of(identity)
        found = None if path is None else self._inside(path)
        if found is None or not found.place.exists():
            raise missing(f"{what} {identity!r}")
        return found

    def _inside(self, path: PurePosixPath) -> Entry | None:
        """An entry for a path, unless links lead it out of the workspace or to something hidden."""
        try:
            place = (self.root / path).resolve()
            within = PurePosixPath(place.relative_to(self.root))
        except (OSError, ValueError, RuntimeError):
            return None
        return Entry(path, place) if is_visible(within) else None

    def read(self, identity: str, kind: Kind, what: str) -> Content:
        """A file of a kind.

        Raises:
            Refused: there is none of that kind under that id.
        """
        entry = self.entry(identity, what)
        if not entry.place.is_file() or self._kind(entry.place) != kind:
            raise missing(f"{what} {identity!r}")
        return self.content(entry, what)

    def content(self, entry: Entry, what: str) -> Content:
        """A file as it is now."""
        try:
            with entry.place.open("rb") as stream:
                modified = os.fstat(stream.fileno()).st_mtime
                data = stream.read(LARGEST + 1)
        except OSError:
            raise missing(f"{what} {entry.id!r}") from None
        if len(data) > LARGEST:
            raise Refused(422, f"{entry.path} has more than {LARGEST // 2**20} MiB")
        return Content(entry, data, etag_of(data), modified)

    def files(self, kind: Kind) -> list[Entry]:
        """All files of a kind, by path; those inside of run folders are the runs' own."""
        found = [
            entry
            for entry in self.entries(lambda folder: not is_run(folder))
            if entry.path.suffix.lower() in (".yaml", ".yml", ".json") and self._kind(entry.place) == kind
        ]
        return sorted(found, key=lambda entry: entry.path)

    def entries(self, descend: Callable[[Path], bool] = lambda folder: True) -> Iterator[Entry]:
        """Files and folders that are not hidden, those of a folder first; `descend` says where to look."""
        left = MOST_ENTRIES
        waiting: list[PurePosixPath] = [PurePosixPath()]
        while waiting:
            here = waiting.pop()
            try:
                with os.scandir(self.root / here) as scanned:
                    items = sorted(scanned, key=lambda item: item.name)
            except OSError:
                continue
            folders = []
            for item in items:
                left -= 1
                if left < 0:
                    return
                if item.name.startswith("."):
                    continue
                # only links can lead elsewhere: their folders were looked at, too
                path, linked = here / item.name, item.is_symlink()
                found = self._inside(path) if linked else Entry(path, Path(item.path))
                if found is None:
                    continue
                yield found
                deeper = len(path.parts) <= DEEPEST and not linked
                if deeper and item.is_dir() and descend(found.place):
                    folders.append(path)
            waiting += reversed(folders)

    def _kind(self, place: Path) -> Kind:
        """Whether a file says that it is a problem or a plan."""
        try:
            status = place.stat()
        except OSError:
            return ""
        now = signature(status)
        known = self._kinds.get(place)
        if known is None or known[0] != now:
            known = now, _sniffed(place, status)
            if len(self._kinds) > MOST_ENTRIES:
                self._kinds.clear()
            self._kinds[place] = known
        if known[1] == "" and self._is_draft(place):
            return "problem"
        return known[1]

    def _is_draft(self, place: Path) -> bool:
        return PurePosixPath(place.relative_to(self.root)) in self.drafts

    # writing

    def create(self, path: PurePosixPath, data: bytes, author: str) -> Content:
        """Write a new file.

        Raises:
            Refused: there is one of that name.
        """
        with self._lock:
            if self._taken(path):
                raise Refused(409, f"{path} is there already", id=id_of(path))
            entry = self._inside(path)
            if entry is None:
                raise Refused(409, f"{path} would be outside of the workspace")
            try:
                entry.place.parent.mkdir(parents=True, exist_ok=True)
            except OSError:
                raise Refused(409, f"{path.parent} is no folder and can't become one") from None
            return self._written(entry, data, author)

    def create_any(self, stem: PurePosixPath, end: str, data: bytes, author: str) -> Content:
        """Write a new file under the first name that is free: stem, stem-2, stem-3, ..."""
        with self._lock:
            path, number = stem.with_name(stem.name + end), 1
            while self._taken(path):
                number += 1
                path = stem.with_name(f"{stem.name}-{number}{end}")
            return self.create(path, data, author)

    def _taken(self, path: PurePosixPath) -> bool:
        return os.path.lexists(self.root / path)

    def replace(
        self, identity: str, kind: Kind, what: str, wanted: str | None, data: bytes, by: str
    ) -> Content:
        """Write a file anew, if it still is what the author saw.

        Raises:
            Refused: nobody said what it should have been, or it has changed since.
        """
        with self._lock:
            content = self.unchanged(identity, kind, what, wanted)
            return self._written(content.entry, data, by)

    def delete(self, identity: str, kind: Kind, what: str, wanted: str | None) -> None:
        """Take a file away, if it still is what somebody saw."""
        with self._lock:
            content = self.unchanged(identity, kind, what, wanted)
            # the name goes; a link's target stays
            (self.root / content.entry.path).unlink(missing_ok=True)
            self._authors.pop(identity, None)

    def unchanged(self, identity: str, kind: Kind, what: str, wanted: str | None) -> Content:
        """A file that still is what somebody saw.

        Raises:
            Refused: nobody said what it should be, or it has changed since.
        """
        content = self.read(identity, kind, what)
        if wanted is None:
            raise Refused(428, "If-Match with the ETag of what was changed is needed")
        tags = [tag.strip().removeprefix("W/").strip('"') for tag in wanted.split(",")]
        if content.etag not in tags:
            changed, by = time_text(content.modified), self.author(content)
            raise Refused(
                412,
                f"{content.entry.path} was changed by {by} at {changed}",
                headers={"ETag": f'"{content.etag}"'},
                current={"etag": content.etag, "changed": changed, "by": by},
            )
        return content

    def author(self, content: Content) -> str:
        """Who wrote what a file has now."""
        etag, author = self._authors.get(content.entry.id, ("", ""))
        return author if etag == content.etag else OTHERS

    def _written(self, entry: Entry, data: bytes, author: str) -> Content:
        write_bytes(entry.place, data)
        etag = etag_of(data)
        self._authors[entry.id] = etag, author
        return Content(entry, data, etag, entry.place.stat().st_mtime)


def is_run(folder: Path) -> bool:
    """Whether `berth run` or `berth watch` wrote a folder."""
    return any((folder / name).is_file() for name in _RUN_MARKS)


def etag_of(data: bytes) -> str:
    """What tells contents apart."""
    return hashlib.sha256(data).hexdigest()[:32]


def time_text(seconds: float) -> str:
    """A moment in ISO 8601."""
    moment = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


def signature(status: os.stat_result) -> Signature:
    """What changes when a file is written anew."""
    return status.st_ino, status.st_mtime_ns, status.st_size


def _sniffed(place: Path, status: os.stat_result) -> Kind:
    if not place.is_file() or status.st_size > LARGEST:
        return ""
    try:
        with place.open("rb") as stream:
            head = stream.read(LARGEST_SNIFFED)
            return kind_of(head) or kind_of(stream.read())
    except OSError:
        return ""


def kind_of(data: bytes) -> Kind:
    """What a text says that it is."""
    found = _FORMAT.search(data)
    if found is None:
        return ""
    return "plan" if found[1].startswith(b"berth-plan") else "problem"
