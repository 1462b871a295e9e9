"""The problems of a workspace and the examples: read once, kept while they don't change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from berth.files.mistakes import Mistake
from berth.model import Problem
from berth.web.answers import Refused, missing, unprocessable
from berth.web.documents import brief, json_bytes
from berth.web.readers import readers
from berth.web.reading import Read, read_problem
from berth.web.view import view_of
from berth.web.workspace import (
    PROBLEM_ENDS,
    Content,
    Entry,
    Remembered,
    Workspace,
    kind_of,
    new_name,
    path_of,
    plain_name,
    time_text,
)

_TABLE_BYTES = 6 * 8
_PAIR_BYTES = 64


def weight_of(problem: Problem) -> int:
    """The memory that a problem takes, about."""
    nodes, pairs = len(problem.network.nodes), len(problem.instances.pair_sender)
    tables = 0 if problem.network.scattered else _TABLE_BYTES * nodes**2
    return tables + _PAIR_BYTES * pairs + 1000 * (nodes + len(problem.instances))


WHAT = "problem"
MOST_KEPT = 24
"""Problems that are kept ready."""
MOST_KEPT_BYTES = 2**30
"""What these may take, about."""


@dataclass(frozen=True, eq=False)
class Reading:
    """What a text says: a problem, or mistakes."""

    read: Read

    @property
    def problem(self) -> Problem | None:
        """The problem; None where there are mistakes."""
        problem: Problem | None = self.read.result
        return problem

    @property
    def mistakes(self) -> list[dict[str, Any]]:
        """For answers."""
        return [each.document() for each in self.read.mistakes]

    @property
    def ready(self) -> Problem:
        """The problem.

        Raises:
            Refused: there are mistakes.
        """
        if self.problem is None:
            raise self.refusal
        return self.problem

    @property
    def refusal(self) -> Refused:
        """For what has mistakes."""
        return unprocessable(self.read.mistakes, self.read.count)

    @cached_property
    def view(self) -> dict[str, Any]:
        """What a picture of it needs."""
        return view_of(self.ready)

    @property
    def weight(self) -> int:
        """The memory that it takes, about."""
        return len(self.read.data) + (0 if self.problem is None else weight_of(self.problem))

    def summary(self) -> dict[str, Any]:
        """What lists say of it; null for what can't be known."""
        problem = self.problem
        return {
            "name": brief(self.read.name if problem is None else problem.name),
            "fingerprint": None if problem is None else problem.fingerprint,
            "nodes": None if problem is None else len(problem.network.nodes),
            "applications": None if problem is None else len(problem.applications),
            "operators": None if problem is None else len(problem.instances.operators),
            "instances": None if problem is None else len(problem.instances),
            "objective": None if problem is None else problem.sought,
        }


def reading_in(data: bytes, file: str) -> Reading:
    """What the content of a problem file says, read where it can do no harm.

    Raises:
        Refused: too many files are being read.
    """
    return Reading(readers().read("problem", data, file))


class Problems:
    """Problem files by id."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._viewing = threading.Lock()
        self._readings: OrderedDict[tuple[str, str], Reading] = OrderedDict()
        self._under_way: dict[tuple[str, str], Future[Reading]] = {}
        self._facts: Remembered[dict[str, Any]] = Remembered()

    def list(self) -> list[dict[str, Any]]:
        """All problem files, by path."""
        return [entry for entry in map(self._listed, self._workspace.files("problem")) if entry is not None]

    def _listed(self, entry: Entry) -> dict[str, Any] | None:
        def facts() -> dict[str, Any]:
            content = self._workspace.content(entry, WHAT)
            reading = reading_in(content.data, str(entry.path))
            listed = {**file_facts(content), "ok": reading.problem is not None, **reading.summary()}
            return listed | {"mistakes": reading.read.count}

        try:
            return self._facts.of(entry.id, entry.place.stat(), facts)
        except OSError:  # it is gone meanwhile
            return None

    def size(self, identity: str) -> int:
        """The bytes of a file; 0 where it is gone meanwhile.

        Raises:
            Refused: there is none.
        """
        place = self._workspace.entry(identity, WHAT).place
        return place.stat().st_size if place.is_file() else 0

    def content(self, identity: str) -> Content:
        """A problem's file."""
        return self._workspace.read(identity, "problem", WHAT)

    def reading(self, identity: str) -> tuple[Content, Reading]:
        """A problem's file and what it says."""
        content = self.content(identity)
        return content, self.reading_of(content)

    def reading_of(self, content: Content) -> Reading:
        """What a file says; read again only when it has changed."""
        key = content.etag, content.entry.path.suffix.lower()
        with self._lock:
            if key in self._readings:
                self._readings.move_to_end(key)
                return self._readings[key]
            # one reads for all who ask, and those who ask for others don't wait
            reading = self._under_way.get(key)
            if first := reading is None:
                reading = self._under_way[key] = Future()
        if first:
            try:
                reading.set_result(reading_in(content.data, str(content.entry.path)))
            except BaseException as error:
                reading.set_exception(error)
            self._keep(key, reading)
        return reading.result()

    def _keep(self, key: tuple[str, str], reading: Future[Reading]) -> None:
        with self._lock:
            del self._under_way[key]
            if reading.exception() is None:
                self._readings[key] = reading.result()
                self._make_room()

    def _make_room(self) -> None:
        """Forget what was asked for longest ago, but never the newest."""
        weights = [reading.weight for reading in self._readings.values()]
        while len(weights) > 1 and (len(weights) > MOST_KEPT or sum(weights) > MOST_KEPT_BYTES):
            self._readings.popitem(last=False)
            del weights[0]

    def problem(self, identity: str) -> Problem:
        """A problem without mistakes."""
        return self.reading(identity)[1].ready

    def view(self, identity: str) -> tuple[Content, dict[str, Any]]:
        """A problem's file and what a picture of it needs; worked out once, whoever else waits for it."""
        content, reading = self.reading(identity)
        with self._viewing:
            facts = {"id": content.entry.id, "name": reading.ready.name, "etag": content.etag}
            return content, facts | reading.view

    def json_of(self, content: Content) -> bytes:
        """All about one file that was read, as JSON."""
        reading = self.reading_of(content)
        facts = {
            **file_facts(content),
            "ok": reading.problem is not None,
            "mistakes": reading.mistakes,
            **reading.summary(),
            "text": content.data.decode("utf-8", "replace"),
        }
        return json_bytes(facts)[:-1] + b',"document":' + (reading.read.data or b"null") + b"}"

    def create(self, name: str | None, data: bytes, author: str, *, draft: bool, as_json: bool) -> Content:
        """Store a new problem.

        Raises:
            Refused: it has mistakes, or there is a file of that name.
        """
        usual = "problem.json" if as_json else "problem.yaml"
        path = PurePosixPath(usual) if name is None else new_name(name, PROBLEM_ENDS)
        reading = self._accepted(data, str(path), draft)
        if name is not None:
            content = self._workspace.create(path, data, author)
        else:
            stem = PurePosixPath(plain_name(reading.summary()["name"] or "problem"))
            content = self._workspace.create_any(stem, path.suffix, data, author)
        self._note(content)
        return content

    def replace(self, identity: str, wanted: str | None, data: bytes, author: str, *, draft: bool) -> Content:
        """Store a problem anew, if nobody has changed it meanwhile."""
        content = self._workspace.unchanged(identity, "problem", WHAT, wanted)
        self._accepted(data, str(content.entry.path), draft)
        # noted first, so that a file that stops saying what it is doesn't vanish for a moment
        self._workspace.drafts.note(content.entry.path, True)
        try:
            content = self._workspace.replace(identity, "problem", WHAT, wanted, data, author)
        finally:
            self._note(content)
        return content

    def delete(self, identity: str, wanted: str | None) -> None:
        """Take a problem away, if nobody has changed it meanwhile."""
        self._workspace.delete(identity, "problem", WHAT, wanted)
        path = path_of(identity)
        assert path is not None
        self._workspace.drafts.note(path, False)

    def like(self, fingerprint: str | None, name: str) -> str | None:
        """The id of the file with this content, or else of the first one with this name."""
        listed = self.list()
        same = [entry["id"] for entry in listed if entry["ok"] and entry["fingerprint"] == fingerprint]
        return next(iter([*same, *(entry["id"] for entry in listed if entry["name"] == name)]), None)

    def _accepted(self, data: bytes, file: str, draft: bool) -> Reading:
        reading = reading_in(data, file)
        if reading.read.beyond_limits or (reading.problem is None and not draft):
            raise reading.refusal
        if kind_of(data) == "plan":
            raise unprocessable([Mistake("format", "this is a plan, and a problem is expected: berth/v1")])
        if not reading.read.data and not _is_text(data):
            raise reading.refusal
        return reading

    def _note(self, content: Content) -> None:
        self._workspace.drafts.note(content.entry.path, kind_of(content.data) == "")


def _is_text(data: bytes) -> bool:
    """Whether there is anything that an editor could mend."""
    try:
        return bool(data.decode().strip()) and b"\0" not in data
    except UnicodeDecodeError:
        return False


def file_facts(content: Content) -> dict[str, Any]:
    """What can be said of any file."""
    entry = content.entry
    return {
        "id": entry.id,
        "path": str(entry.path),
        "etag": content.etag,
        "modified": time_text(content.modified),
        "bytes": len(content.data),
    }


_PLACES = (Path(__file__).parent / "example_problems", Path(__file__).parents[3] / "examples")


def example_files() -> dict[str, Path]:
    """The problem files of all examples, by name."""
    place = next((each for each in _PLACES if each.is_dir()), None)
    return {} if place is None else {file.stem: file for file in sorted(place.glob("*.yaml"))}


def example_list() -> list[dict[str, Any]]:
    """What there is to choose from."""
    found = []
    for name, file in example_files().items():
        data = file.read_bytes()
        summary = Reading(read_problem(data, file.name)).summary()
        found.append(
            {
                "name": name,
                "title": summary["name"],
                "about": _about(data.decode()),
                "nodes": summary["nodes"],
                "operators": summary["operators"],
            }
        )
    return found


def example(name: str) -> bytes:
    """An example's text.

    Raises:
        Refused: there is none of that name.
    """
    files = example_files()
    if name not in files:
        raise missing(f"example {name!r}")
    return files[name].read_bytes()


def _about(text: str) -> str:
    """The first paragraph of the comment that a file begins with."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#") or not line.strip("# "):
            break
        lines.append(line.strip("# "))
    return " ".join(lines)
