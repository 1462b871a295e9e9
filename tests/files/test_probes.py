"""Tables of probes: three formats, folders, and records that make no sense."""

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from berth.files.probes import Probes, read_probes
from berth.model import BadInput

INDEX = {"a": 0, "b": 1, "c": 2}
ROWS = [("a", "b", 10.0), ("b", "a", 20.0), ("a", "b", 90.0), ("c", "b", 7.0)]


def as_dict(probes: Probes) -> dict[tuple[int, int], float]:
    pairs = zip(probes.senders.tolist(), probes.receivers.tolist(), strict=True)
    return dict(zip(pairs, probes.delay_ms.tolist(), strict=True))


def lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def record(sender: Any, receiver: Any, rtt: Any) -> dict[str, Any]:
    return {"ts": 1, "from": sender, "to": receiver, "rtt_ms": rtt}


def write(folder: Path, kind: str) -> Path:
    table = pd.DataFrame(ROWS, columns=["from", "to", "rtt_ms"])
    path = folder / f"probes.{kind}"
    if kind == "parquet":
        table.to_parquet(path)
    elif kind.startswith("csv"):
        table.assign(ts="2026-01-31T12:00Z").to_csv(path, index=False)
    elif kind == "jsonl.gz":
        path.write_bytes(gzip.compress(lines([record(*row) for row in ROWS]).encode()))
    else:
        path.write_text(lines([record(*row) for row in ROWS]))
    return path


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl", "jsonl.gz", "json", "parquet"])
def test_every_format_says_the_same(tmp_path: Path, kind: str) -> None:
    """A delay is half the median round trip of a pair, both directions together."""
    probes = read_probes([write(tmp_path, kind)], INDEX)
    assert as_dict(probes) == {(0, 1): 10.0, (1, 2): 3.5}
    assert (probes.counts.records, dict(probes.counts.rejected)) == (4, {})


def test_a_folder_is_read_with_all_that_is_in_it(tmp_path: Path) -> None:
    """Formats may be mixed; hidden files are no data; of telemetry only the probes count."""
    probes = tmp_path / "telemetry" / "probes" / "day=1"
    probes.mkdir(parents=True)
    for kind in ("csv", "jsonl", "parquet"):
        write(probes, kind)
    (probes / "_SUCCESS").write_text("")
    (tmp_path / "telemetry" / "_tmp").mkdir()
    (tmp_path / "telemetry" / "heartbeats").mkdir()
    (tmp_path / "telemetry" / "heartbeats" / "h.jsonl").write_text(lines([{"node": "a"}]))
    read = read_probes([tmp_path / "telemetry"], INDEX)
    assert as_dict(read) == {(0, 1): 10.0, (1, 2): 3.5}
    assert read.counts.records == 12


def test_bad_lines_are_counted_by_reason(tmp_path: Path) -> None:
    """None of them stops the rest."""
    rows = [
        record("a", "b", 10),
        record("a", "nobody", 1),
        record("a", "a", 1),
        record("a", "b", 0),
        record("a", "b", -3),
        record("a", "b", float("nan")),
        record("a", "b", float("inf")),
        record("a", "b", 10**400),
        record("a", "b", "12"),
        record("a", "b", True),
        record("a", "b", None),
        record(1, "b", 5),
        {"from": "a", "rtt_ms": 4},
        [1, 2],
    ]
    path = tmp_path / "probes.jsonl"
    path.write_text(lines(rows) + "\n{broken\n" + "[" * 100_000 + "\n")
    probes = read_probes([path], INDEX)
    assert as_dict(probes) == {(0, 1): 5.0}
    assert probes.counts.records == 16
    assert probes.counts.rejected == {
        "from a node to itself": 1,
        "no name in from or to": 2,
        "no node of the problem": 1,
        "rtt_ms is more than a day": 2,
        "rtt_ms is no number": 4,
        "rtt_ms is not above 0": 2,
        "unreadable": 3,
    }


def test_bad_rows_of_csv(tmp_path: Path) -> None:
    """Rows of another length, empty cells and words for numbers; names stay text."""
    path = tmp_path / "p.csv"
    path.write_text("from,to,rtt_ms\n007,8,10\n007,8\n,8,3\n007,8,fast\n007,8,,9\n007,8,\n")
    probes = read_probes([path], {"007": 0, "8": 1})
    assert as_dict(probes) == {(0, 1): 5.0}
    assert probes.counts.records == 6
    assert probes.counts.rejected == {"no name in from or to": 1, "rtt_ms is no number": 2, "unreadable": 2}


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("p.csv", b"from,to,delay\na,b,3\n", "needs the columns from, to and rtt_ms"),
        ("p.csv", b"", "needs the columns from, to and rtt_ms"),
        ("p.parquet", b"PAR1 but no more", "can't be read"),
        ("p.jsonl.gz", b"no gzip", "can't be read"),
        ("p.csv.gz", b"no gzip", "can't be read"),
        ("p.csv", b"from,to,rtt_ms\n\xff\xfe,b,3\n", "can't be read"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, line: str) -> None:
    """One line that names the file."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=line) as refused:
        read_probes([tmp_path / name], INDEX)
    assert str(tmp_path / name) in str(refused.value)
    assert len(refused.value.mistakes) == 1


def test_no_such_table(tmp_path: Path) -> None:
    """Neither a file nor a folder, or a folder with nothing in it."""
    with pytest.raises(BadInput, match="no such file or folder"):
        read_probes([tmp_path / "nothing"], INDEX)
    with pytest.raises(BadInput, match="no files in it"):
        read_probes([tmp_path], INDEX)


def test_columns_of_a_parquet_file(tmp_path: Path) -> None:
    """Those that are needed must be there; a type that is no number makes no value."""
    pd.DataFrame({"from": ["a"], "to": ["b"]}).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(BadInput, match="needs the columns"):
        read_probes([tmp_path / "p.parquet"], INDEX)
    pd.DataFrame({"from": [1, 2], "to": ["b", "c"], "rtt_ms": ["x", "3"]}).to_parquet(tmp_path / "q.parquet")
    probes = read_probes([tmp_path / "q.parquet"], INDEX)
    assert probes.counts.rejected == {"no name in from or to": 2}
