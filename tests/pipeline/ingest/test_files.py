"""What files of telemetry are, from their names and first bytes; no Spark."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from berth.pipeline.ingest.files import find_broken, ignored_entries, look_into, telemetry_files

LINE = b'{"ts": 1}\n'


def write(path: Path, content: bytes = LINE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_files_of_each_folder(tmp_path: Path) -> None:
    """Sorted, in sub-folders too; what is hidden, and what lies elsewhere, is not data."""
    for name in ("b", "a", "sub/c", "sub/deep/d", ".e", "_f", "_temporary/g", ".git/h", "sub/_i"):
        write(tmp_path / "probes" / name)
    write(tmp_path / "streams" / "s")
    write(tmp_path / "elsewhere" / "x")
    write(tmp_path / "loose")
    (tmp_path / "operators").mkdir()
    found = telemetry_files(tmp_path)
    names = [path.relative_to(tmp_path / "probes").as_posix() for path in found["probes"]]
    assert names == ["a", "b", "sub/c", "sub/deep/d"]
    assert found["streams"] == [tmp_path / "streams" / "s"]
    assert found["operators"] == []
    assert "heartbeats" not in found
    assert ignored_entries(tmp_path) == ["elsewhere", "loose"]


def test_a_link_to_a_folder_is_followed_once(tmp_path: Path) -> None:
    """Wherever it leads, also to where it is."""
    write(tmp_path / "other" / "x")
    write(tmp_path / "t" / "probes" / "y")
    (tmp_path / "t" / "probes" / "link").symlink_to(tmp_path / "other", target_is_directory=True)
    (tmp_path / "t" / "probes" / "loop").symlink_to(tmp_path / "t" / "probes", target_is_directory=True)
    names = [path.name for path in telemetry_files(tmp_path / "t")["probes"]]
    assert sorted(names) == ["x", "y"]


def table(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"ts": pa.array([1], pa.timestamp("ns")), "x": [1]}), path)
    return path


def test_what_files_are(tmp_path: Path) -> None:
    """Parquet by its name or its first bytes, else lines."""
    lines, unnamed, named, compressed, empty = look_into(
        [
            write(tmp_path / "a"),
            table(tmp_path / "b"),
            table(tmp_path / "c.parquet"),
            write(tmp_path / "d.GZ", gzip.compress(LINE, mtime=0)),
            write(tmp_path / "e", b""),
        ]
    )
    for source in (lines, compressed, empty):
        assert (source.schema, source.broken) == (None, None)
    for source in (unnamed, named):
        assert source.schema is not None
        assert source.broken is None
        assert source.nanoseconds == {"ts"}
    assert unnamed.schema == named.schema


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text.gz", LINE),
        ("compressed", gzip.compress(LINE, mtime=0)),
        ("archive", b"PK\x03\x04..."),
        ("wide", LINE.decode().encode("utf-16")),
        ("zeros", b"\0" * 100),
        ("other.lz4", LINE),
        ("other.snappy", LINE),
        ("text.parquet", LINE),
        ("empty.parquet", b""),
        ("cut.parquet", b"PAR1 and no end"),
    ],
)
def test_files_that_can_not_be_read(tmp_path: Path, name: str, content: bytes) -> None:
    """Found before Spark is asked; the reason doesn't say where the file lies."""
    (source,) = look_into([write(tmp_path / name, content)])
    assert source.broken is not None
    assert source.broken.startswith("file: ")
    assert str(tmp_path) not in source.broken


def test_what_is_not_there(tmp_path: Path) -> None:
    """A file that went away in between."""
    (source,) = look_into([tmp_path / "gone"])
    assert source.broken is not None


def test_damage_further_in_is_found_by_reading_on(tmp_path: Path) -> None:
    """Only the damaged files are marked."""
    data = gzip.compress(bytes(range(256)) * 1000, mtime=0)
    good, cut, lines = look_into(
        [
            write(tmp_path / "good.gz", data),
            write(tmp_path / "cut.gz", data[: len(data) // 2]),
            write(tmp_path / "lines"),
        ]
    )
    assert (good.broken, cut.broken, lines.broken) == (None, None, None)
    again = find_broken([good, cut, lines])
    assert again[0] == good
    assert again[2] == lines
    assert (again[1].broken or "").startswith("file: damaged")
    assert str(tmp_path) not in (again[1].broken or "")
