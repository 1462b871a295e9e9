"""The folder that a service works in: its files by id, read and written so that nobody gets half of one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Generic, Literal, TypeVar

from berth.disk import remove_leftovers
from berth.files import write_bytes
from berth.model import BadInput
from berth.web.answers import Refused, disk_refusal, missing
from berth.web.authors import Authors
from berth.web.quota import Quota
from berth.web.reading import LARGEST

DEEPEST = 6
"""Folders in folders that are looked at."""
LONGEST = 200
PROBLEM_ENDS = (".yaml", ".yml", ".json")
PLAN_ENDS = (".json",)
ID_PATTERN = r"^[A-Za-z0-9._~=-]+$"
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_ESCAPED = re.compile(rb"=([0-9A-F]{2})")


def id_of(path: PurePosixPath) -> str:
    """A path in the workspace as an id: `/` is `~`, bytes that are not plain are `=XX`."""
    return "".join(
        chr(byte) if byte in _PLAIN else "~" if byte == 0x2F else f"={byte:02X}"
        for byte in os.fsencode(str(path))
    )


def path_of(identity: str) -> PurePosixPath | None:
    """The path that an id means; None where it is no id, or leads out or to something hidden."""
    if not re.fullmatch(ID_PATTERN, identity):
        return None
    raw = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), identity.encode().replace(b"~", b"/"))
    if b"\0" in raw or len(raw) > 4 * LONGEST:
        return None
    path = PurePosixPath(os.fsdecode(raw))
    # what says the same in two ways would be two things to whoever compares ids
    return path if is_visible(path) and id_of(path) == identity else None


def is_visible(path: PurePosixPath) -> bool:
    """Whether a path stays inside and names nothing hidden."""
    parts = path.parts
    return 0 < len(parts) <= DEEPEST + 1 and not path.is_absolute() and not any(p[:1] == "." for p in parts)


def new_name(name: str, ends: tuple[str, ...]) -> PurePosixPath:
    """A name for a new file.

    Raises:
        BadInput: it could not be a file of the workspace, or not of that kind.
    """
    path = PurePosixPath(name)
    wanted = " or ".join(ends)
    if not name or len(name) > LONGEST:
        raise BadInput([f"name: {len(name)} characters; 1 to {LONGEST} are possible"])
    if not name.isprintable() or "\\" in name:
        raise BadInput(["name: has signs that no file name should have"])
    if path.is_absolute() or ".." in path.parts or str(path) != name:
        raise BadInput([f"name: {name!r} is no path inside the workspace"])
    if not is_visible(path):
        raise BadInput([f"name: {name!r} is hidden, or more than {DEEPEST} folders deep"])
    if any(len(part.encode()) > 250 for part in path.parts):
        raise BadInput(["name: a part of it is longer than file names can be"])
    if path.suffix.lower() not in ends or not path.stem:
        raise BadInput([f"name: {name!r} does not end in {wanted}"])
    if _marks_run(path):
        raise BadInput([f"name: {name!r} would make its folder a run"])
    return path


def plain_name(text: str) -> str:
    """A text as the beginning of a file name."""
    words = re.sub(r"[^\w.-]+", "-", text).strip("-.")[:80]
    return words or "unnamed"


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


MOST_ENTRIES = 50_000
"""Files and folders that are looked at: a workspace is no whole disk."""
PROBE_BYTES = 64 * 1024
LARGEST_SNIFFED = 4 * 2**20
OTHERS = "another program"

Kind = Literal["problem", "plan", ""]
Fact = TypeVar("Fact")
_FORMAT = re.compile(rb"""(?:^|[{,\s])["']?format["']?\s*:\s*["']?(berth(?:-plan)?/v1)\b""")
_RUN_MARKS = ("run.json", "history.jsonl")


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


class Remembered(Generic[Fact]):
    """What is known of files, worked out again only when a file has changed."""

    def __init__(self, most: int = MOST_ENTRIES) -> None:
        self._most = most
        self._known: dict[Hashable, tuple[tuple[int, int, int], Fact]] = {}

    def of(self, key: Hashable, status: os.stat_result, work_out: Callable[[], Fact]) -> Fact:
        """What is known under a key of the file that has this status."""
        now = status.st_ino, status.st_mtime_ns, status.st_size
        known = self._known.get(key)
        if known is None or known[0] != now:
            if len(self._known) >= self._most:
                self._known.clear()
            known = now, work_out()
            self._known[key] = known
        return known[1]


class Workspace:
    """The files of one folder. Writing is one at a time, and never over what somebody else has changed."""

    def __init__(self, root: Path, most_bytes: int = sys.maxsize, most_files: int = sys.maxsize) -> None:
        self.root = root.resolve()
        self.quota = Quota(self.root, most_bytes, most_files)
        self.inner = self.root / ".berth"
        self.drafts = Drafts(self.inner / "drafts.json")
        self._lock = threading.RLock()
        self._authors = Authors(self.inner / "authors.jsonl")
        self._kinds: Remembered[Kind] = Remembered()

    def tidy(self) -> None:
        """Clear away what services that were killed have left: it takes room, and can't be seen over REST."""
        remove_leftovers(self.root)
        self.quota.measure_again()

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
        kind = self._kinds.of(place, status, lambda: _sniffed(place, status))
        draft = PurePosixPath(place.relative_to(self.root)) in self.drafts
        return "problem" if kind == "" and draft else kind

    # writing

    def create(self, path: PurePosixPath, data: bytes, author: str) -> Content:
        """Write a new file.

        Raises:
            Refused: there is one of that name, or it would be a run's own.
        """
        with self._lock:
            entry = self._inside(path)
            if entry is None:
                raise Refused(409, f"{path} would be outside of the workspace")
            self._check_ours(entry)
            if self._taken(path):
                raise Refused(409, f"{path} is there already", id=id_of(path))
            parents = (self.root / parent for parent in path.parents)
            self.quota.take(0, sum(not parent.exists() for parent in parents))
            try:
                entry.place.parent.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
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
        return os.path.lexists(self.root / path) or _marks_run(path)

    def check_free(self, path: PurePosixPath) -> None:
        """See whether a file of that name could be ours to write.

        Raises:
            Refused: it would be in the folder of a run or of an experiment.
        """
        entry = self._inside(path)
        if entry is not None:
            self._check_ours(entry)

    def _check_ours(self, entry: Entry) -> None:
        """Refuse to touch what a run and those who look at it tell each other by: a decision, for one.

        Who may store files may not answer for those who may decide, nor change what others have measured.
        """
        folder = entry.place.parent
        while folder.is_relative_to(self.root):
            own = PurePosixPath(folder.relative_to(self.root))
            if is_run(folder):
                raise Refused(403, f"{own} is the folder of a run: its files are the run's own")
            if folder != self.root and is_experiment(folder):
                raise Refused(403, f"{own} is the folder of an experiment: its files are its own")
            folder = folder.parent

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
            self.quota.measure_again()
            self._authors.note(identity, "", "")

    def unchanged(self, identity: str, kind: Kind, what: str, wanted: str | None) -> Content:
        """A file that is ours to change, and still is what somebody saw.

        Raises:
            Refused: nobody said what it should be, it has changed since, or it is a run's own.
        """
        content = self.read(identity, kind, what)
        self._check_ours(content.entry)
        if wanted is None:
            raise Refused(428, "If-Match with the ETag of what was changed is needed")
        tags = [tag.strip().removeprefix("W/").strip('"') for tag in wanted.split(",")]
        if content.etag not in tags:
            changed, by = time_text(content.modified), self.author(identity, content.etag) or OTHERS
            raise Refused(
                412,
                f"{content.entry.path} was changed by {by} at {changed}",
                headers={"ETag": f'"{content.etag}"'},
                current={"etag": content.etag, "changed": changed, "by": by},
            )
        return content

    def unwritable(self) -> tuple[int, str] | None:
        """Why nothing can be stored, with the status that says so; None where all is well."""
        try:
            for folder in (self.root, self.inner):
                # it has no name, and is gone when it is closed
                with tempfile.TemporaryFile(dir=folder) as probe:
                    probe.write(bytes(PROBE_BYTES))
        except OSError as error:
            refused = disk_refusal(error.errno)
            words = f"the workspace can't be written: {os.strerror(error.errno or 0).lower()}"
            return (503, words) if refused is None else (refused.status, str(refused))
        return None

    def author(self, identity: str, etag: str) -> str | None:
        """Who wrote what a file has now; None where another program did."""
        return self._authors.of(identity, etag)

    def _written(self, entry: Entry, data: bytes, author: str) -> Content:
        there = entry.place.stat().st_size if entry.place.is_file() else None
        self.quota.take(len(data) - (there or 0), 1 if there is None else 0)
        write_bytes(entry.place, data)
        etag = etag_of(data)
        self._authors.note(entry.id, etag, author)
        return Content(entry, data, etag, entry.place.stat().st_mtime)


def is_run(folder: Path) -> bool:
    """Whether `berth run` or `berth watch` wrote a folder."""
    return any((folder / name).is_file() for name in _RUN_MARKS)


REPORT = "report.html"


def is_experiment(folder: Path) -> bool:
    """Whether `berth reproduce` wrote a folder: there is a report, and it is no run."""
    return (folder / REPORT).is_file() and not is_run(folder)


def _marks_run(path: PurePosixPath) -> bool:
    """Whether a file of that name is what tells a run's folder from others; some disks know no capitals."""
    return path.name.casefold() in _RUN_MARKS


def etag_of(data: bytes) -> str:
    """What tells contents apart."""
    return hashlib.sha256(data).hexdigest()[:32]


def time_text(seconds: float) -> str:
    """A moment in ISO 8601."""
    moment = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return moment.replace("+00:00", "Z")


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
