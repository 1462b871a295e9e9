"""Telemetry files: which there are, what they are, and which can't be read at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from berth.files.kinds import WrongKind
from berth.model import BadInput
from berth.model.errors import did_you_mean
from berth.pipeline.feeds import FEEDS

COMPRESSED = (".gz", ".bz2", ".zst")
"""What Spark decompresses by a name's end."""
_NOT_READ = (".lz4", ".snappy", ".deflate", ".xz", ".lzo", ".br", ".z", ".zip", ".7z", ".tar", ".tgz")
_PARQUET = b"PAR1"
_NOT_LINES = (b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04", b"BZh", b"\x28\xb5\x2f\xfd")
"""How gzip, UTF-16, zip, bzip2 and zstandard begin."""


@dataclass(frozen=True)
class Source:
    """A file of telemetry."""

    path: Path
    schema: str | None = None
    """Of a Parquet file; None: JSON lines."""
    nanoseconds: frozenset[str] = frozenset()
    """The columns of a Parquet file that are times in nanoseconds."""
    broken: str | None = None
    """Why the file can't be read at all; None: it can, as far as is known."""


def telemetry_files(root: Path) -> dict[str, list[Path]]:
    """The files of each folder, sorted; as everywhere in Spark, names with `.` or `_` first are not data.

    Raises:
        BadInput: there is no such folder, or none of the folders of telemetry in it.
    """
    if "://" in str(root):
        raise BadInput([f"{root}: only paths are read; mount it where the driver and all workers see it"])
    if root.is_file():
        raise WrongKind([f"{root}: this is a file, not a folder of telemetry"])
    if not root.is_dir():
        raise BadInput([f"{root}: no such folder"])
    names = [feed.name for feed in FEEDS]
    found = {name: list(_files_under(root / name)) for name in names if (root / name).is_dir()}
    if not found:
        there = sorted(item.name for item in root.iterdir() if item.is_dir())
        near = [did_you_mean(name, names) for name in there[:3]]
        hint = f"; there is {', '.join(near)}" if near else ""
        raise BadInput([f"{root}: none of the folders {', '.join(names)} in it{hint}"])
    return found


def ignored_entries(root: Path) -> list[str]:
    """What lies beside the folders of telemetry and is not read."""
    folders = {feed.name for feed in FEEDS}
    return sorted(
        item.name
        for item in root.iterdir()
        if not hidden(item.name) and not (item.name in folders and item.is_dir())
    )


def hidden(name: str) -> bool:
    """Whether a file or folder of this name is not data, as everywhere in Spark."""
    return name.startswith((".", "_"))


def _files_under(folder: Path) -> Iterator[Path]:
    """All files, also behind links to folders, but no folder twice."""
    seen = set()
    for parent, folders, files in os.walk(folder, followlinks=True):
        place = os.path.realpath(parent)
        if place in seen:
            folders.clear()
            continue
        seen.add(place)
        folders[:] = sorted(name for name in folders if not hidden(name))
        yield from (Path(parent, name) for name in sorted(files) if not hidden(name))


def look_into(paths: Iterable[Path]) -> list[Source]:
    """What each file is, from its name and its first and last bytes."""
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(_look_into, paths))


def _look_into(path: Path) -> Source:
    ending = path.suffix.lower()
    if not path.is_file():
        return Source(path, broken="file: not there, or no regular file")
    if ":" in path.name or "\\" in path.name:
        return Source(path, broken="file: Spark can't read names with a colon or a backslash")
    if ending in _NOT_READ:
        return Source(path, broken=f"file: {ending} is not read; use {', '.join(COMPRESSED)} or none")
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        return Source(path, broken=f"file: {(error.strerror or str(error)).lower()}")
    if start.startswith(_PARQUET) or ending in (".parquet", ".pq"):
        return _look_into_parquet(path)
    if ending == ".gz" and start and not start.startswith(b"\x1f\x8b"):
        return Source(path, broken="file: not compressed by gzip")
    if ending not in COMPRESSED and _no_lines(start):
        return Source(path, broken="file: neither JSON lines nor Parquet")
    return Source(path)


def _no_lines(start: bytes) -> bool:
    """Whether a file begins like something else than text; NULs among good lines are what a crash leaves."""
    lines = start.split(b"\n")
    return start.startswith(_NOT_LINES) or (
        b"\0" in start and not any(line.lstrip().startswith(b"{") for line in lines)
    )


def _look_into_parquet(path: Path) -> Source:
    try:
        schema = pq.ParquetFile(path).schema
    except (pa.ArrowException, OSError) as error:
        return Source(path, broken=f"file: no readable Parquet file ({_first_line(error, path)})")
    columns = [schema.column(number) for number in range(len(schema))]
    nanoseconds = frozenset(
        column.path
        for column in columns
        if column.physical_type == "INT64" and "timeUnit=nanoseconds" in str(column.logical_type)
    )
    described = "\n".join(
        f"{column.path} {column.physical_type} {column.logical_type} {column.max_repetition_level}"
        for column in columns
    )
    return Source(path, described, nanoseconds)


def _first_line(error: Exception, path: Path) -> str:
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return text.replace(str(path), path.name)


def find_broken(sources: list[Source]) -> list[Source]:
    """The sources again, with those marked that can't be read to their end; for when a job failed."""
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(_read_through, sources))


def _read_through(source: Source) -> Source:
    if source.broken is not None:
        return source
    try:
        if source.schema is not None:
            for _ in pq.ParquetFile(source.path).iter_batches():
                pass
        else:
            with pa.input_stream(str(source.path), compression="detect") as stream:
                while stream.read(2**22):
                    pass
    except (pa.ArrowException, OSError, EOFError) as error:
        return replace(source, broken=f"file: damaged ({_first_line(error, source.path)})")
    return source
