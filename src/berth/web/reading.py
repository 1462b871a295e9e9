"""What the content of a problem or plan file says; nothing of the service is needed to find out.

`berth.web.readers` has this done in a process of its own: `python -P -m berth.web.reading`.
"""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from berth.files import document_from, plan_from, problem_from
from berth.files.mistakes import Mistake, located, mistakes_from
from berth.model import BadInput
from berth.model.network import MOST_IN_MATRICES
from berth.processes import begin_child
from berth.web.documents import json_bytes

LARGEST = 32 * 2**20
"""Larger files are no problems or plans."""
MOST_VALUES = 4_000_000
"""In a file: a matrix of 2,000 nodes."""
LEAST_WRITTEN_OUT = 2**20
"""Characters that any file may have with its aliases written out: answers have them so."""
MOST_TIMES = 4
"""Its own size that a larger file may have so."""
MOST_IN_TABLES = 2_500
"""Nodes between which everything is a matrix."""
MOST_NODES = 50_000
MOST_PAIRS = 2_000_000
"""Pairs of instances that exchange something."""
MOST_INSTANCES = 50_000
_MATRICES = ("delay_ms", "availability", "bandwidth_bytes_per_s", "cost", "price_per_gb")

MEMORY_BYTES = 2**30
"""What reading one file may take."""
TIRED_BYTES = 2**29
"""A process that has taken so much once is replaced, for hardly any of it comes back."""


@dataclass(frozen=True)
class Read:
    """What a content says: its data and what is made of them, or mistakes."""

    data: bytes
    """As JSON, ready for answers: taking over millions of values would keep the service from all else.
    Empty where the content can't be read."""
    result: Any
    """A `Problem` or a `Plan`; None where there are mistakes."""
    mistakes: tuple[Mistake, ...] = ()
    count: int = 0
    """Of all mistakes, also those that are not told."""
    beyond_limits: bool = False
    """It took too much time or memory to be read to the end."""
    name: str | None = None
    """What it calls itself."""
    format: str | None = None
    """What it says that it is."""


def read_problem(data: bytes, file: str) -> Read:
    """What the content of a problem file says; `file` is its name, whose end says what it is written in."""
    document = None
    try:
        document = _document(data, file)
        check_size(document)
        return _read(document, problem_from(document))
    except BadInput as error:
        text = data.decode("utf-8", "replace") if document is not None else ""
        return _read(document, None, tuple(located(mistakes_from(error), text)), error.count)


def read_plan(data: bytes, file: str) -> Read:
    """What the content of a plan file says."""
    document = None
    try:
        document = _document(data, file)
        return _read(document, plan_from(document))
    except BadInput as error:
        return _read(document, None, tuple(mistakes_from(error)), error.count)


def _read(document: Any, result: Any, mistakes: tuple[Mistake, ...] = (), count: int = 0) -> Read:
    name, form = (
        found if isinstance(found, str) else None
        for found in (document.get(key) if isinstance(document, dict) else None for key in ("name", "format"))
    )
    data = b"" if document is None else json_bytes(document)
    return Read(data, result, mistakes, count, name=name, format=form)


def _document(data: bytes, file: str) -> Any:
    # a comma for each value, about: empty lists take twenty times the memory of their text
    if data.count(b",") > MOST_VALUES:
        raise BadInput([f"more than {MOST_VALUES:,} values"])
    return document_from(data, file, min(LARGEST, max(LEAST_WRITTEN_OUT, MOST_TIMES * len(data))))


def check_size(document: Any) -> None:
    """Refuse what would take too much time or memory to look at.

    Raises:
        BadInput: what is too large, and what to do about it.
    """
    if isinstance(document, dict):
        _check_nodes(document.get("network"))
        _check_instances(document.get("applications"))


def _check_nodes(network: Any) -> None:
    if not isinstance(network, dict) or not isinstance(network.get("nodes"), list):
        return
    count = len(network["nodes"])
    tables = network.get("routing") == "shortest_path" or any(name in network for name in _MATRICES)
    most = MOST_IN_TABLES if tables or count <= MOST_IN_MATRICES else MOST_NODES
    if count > most:
        raise BadInput([f"network.nodes: {count} are too many here ({most} at most); use the commands"])


def _check_instances(applications: Any) -> None:
    instances, pairs = 0.0, 0.0
    for application in applications if isinstance(applications, list) else []:
        operators = _mappings(application, "operators")
        parallelism = {each["name"]: _count(each) for each in operators if isinstance(each.get("name"), str)}
        instances += sum(parallelism.values())
        for stream in _mappings(application, "streams"):
            ends = stream.get("from"), stream.get("to")
            sender, receiver = (parallelism.get(end, 1.0) if isinstance(end, str) else 1.0 for end in ends)
            pairs += sender * receiver
    if instances > MOST_INSTANCES:
        raise BadInput(
            [f"applications: {instances:g} instances are too many here ({MOST_INSTANCES} at most)"]
        )
    if pairs > MOST_PAIRS:
        raise BadInput(
            [f"applications: {pairs:g} pairs of instances are too many here ({MOST_PAIRS} at most)"]
        )


def _mappings(whole: Any, key: str) -> list[dict[str, Any]]:
    found = whole.get(key) if isinstance(whole, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _count(operator: dict[str, Any]) -> float:
    given = operator.get("parallelism", 1)
    return float(min(given, 1e9)) if isinstance(given, int | float) and given > 0 else 1.0


def main() -> None:
    """Read what the other end of the channel sends, until it is closed."""
    channel = begin_child()
    assert channel is not None
    connection = Connection(os.dup(channel.fileno()))
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY_BYTES, taken + MEMORY_BYTES))
    while True:
        try:
            kind, data, file, seconds = connection.recv()
        except EOFError:
            return
        _allow(seconds)
        try:
            read = _READS[kind](data, file)
            connection.send((read, _most_taken() < TIRED_BYTES))
        except MemoryError:
            # whoever asked sees that this process is gone; to end in order takes memory, too, and may hang
            os._exit(0)


def _most_taken() -> int:
    """The most bytes that this process has had in memory.

    `getrusage` would tell the most of the process that started it, too, which may be large.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _allow(seconds: int) -> None:
    """Have the kernel end this process after so many more seconds of the processor."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    until = int(usage.ru_utime + usage.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


_READS = {"problem": read_problem, "plan": read_plan}


if __name__ == "__main__":
    # what is sent must be known by the name of this module
    from berth.web import reading

    reading.main()
