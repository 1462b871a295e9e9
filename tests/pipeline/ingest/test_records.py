"""Files in all shapes: compressed, damaged, of other encodings and names, Parquet of all dialects."""

import bz2
import datetime
import decimal
import gzip
import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from berth.spark import SparkSession
from tests.pipeline.telemetry import START, Entry, Ingested, heartbeat, probe, run_ingest, write_lines

GOOD = json.dumps(probe()).encode()
MANY = b"".join(json.dumps(probe(ts=START + number)).encode() + b"\n" for number in range(3000))
UTC = datetime.UTC


def half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def holed(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + b"\xff" * 60 + data[middle + 60 :]


def zstandard(data: bytes) -> bytes:
    compressed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return compressed


# what is in a file, how many records of it are good, and how many lines of it are bad; None: the file is bad
FILES: dict[str, tuple[bytes, int, int | None]] = {
    "plain.jsonl": (GOOD + b"\n", 1, 0),
    "no-name-at-all": (GOOD + b"\n" + GOOD, 2, 0),
    "compressed.jsonl.gz": (gzip.compress(MANY), 3000, 0),
    "members.gz": (gzip.compress(GOOD + b"\n") + gzip.compress(GOOD + b"\n"), 2, 0),
    "compressed.bz2": (bz2.compress(MANY), 3000, 0),
    "compressed.zst": (zstandard(MANY), 3000, 0),
    "nothing.gz": (gzip.compress(b""), 0, 0),
    "truncated.jsonl.gz": (half(gzip.compress(MANY)), 0, None),
    "holed.jsonl.gz": (holed(gzip.compress(MANY)), 0, None),
    "truncated.bz2": (half(bz2.compress(MANY)), 0, None),
    "truncated.zst": (half(zstandard(MANY)), 0, None),
    "not-compressed.gz": (GOOD, 0, None),
    "not-compressed.bz2": (GOOD, 0, None),
    "not-compressed.zst": (GOOD, 0, None),
    "compressed-without-saying": (gzip.compress(MANY), 0, None),
    "other.lz4": (pa.compress(MANY, codec="lz4", asbytes=True), 0, None),
    "other.snappy": (pa.compress(MANY, codec="snappy", asbytes=True), 0, None),
    "other.zip": (b"PK\x03\x04 and more", 0, None),
    "utf-16.jsonl": ((GOOD + b"\n").decode().encode("utf-16"), 0, None),
    "bom.jsonl": (b"\xef\xbb\xbf" + GOOD + b"\n" + GOOD, 2, 0),
    "carriage-returns.jsonl": (GOOD + b"\r\n" + GOOD + b"\r\n\r\n", 2, 0),
    "old-macintosh.jsonl": (GOOD + b"\r" + GOOD, 2, 0),
    "latin-1.jsonl": (GOOD.replace(b"rome", b"k\xe4%s+e") + b"\n" + GOOD, 1, 1),
    "nul-first.jsonl": (b"\0" * 50 + b"\n" + GOOD + b"\n", 1, 1),
    "nul-among.jsonl": (GOOD + b"\n" + b"\0" * 5000 + b"\n" + GOOD, 2, 1),
    "truncated.jsonl": (MANY[:-20], 2999, 1),
    "empty.jsonl": (b"", 0, 0),
    "blank.jsonl": (b"\n \n\t\n\r\n", 0, 0),
    "long.jsonl": (GOOD[:-1] + b', "x": "' + b"y" * 5_000_000 + b'"}\n' + b"z" * 5_000_000, 1, 1),
    "sub/folder/deep.jsonl": (GOOD, 1, 0),
    "date=2025-06-15/from=paris/part.jsonl": (GOOD, 1, 0),
    "name with spaces.jsonl": (GOOD + b"\nbad", 1, 1),
    "plus+percent%41%zz.jsonl": (GOOD + b"\nbad", 1, 1),
    "ünïcode-名前.jsonl": (GOOD + b"\nbad", 1, 1),
    "brackets[1]{a,b}.jsonl": (GOOD + b"\nbad", 1, 1),
    "star*.jsonl": (GOOD + b"\nbad", 1, 1),
    "star-too.jsonl": (GOOD, 1, 0),
    "question?.jsonl": (GOOD + b"\nbad", 1, 1),
    "hash#sign&others;=@!'(),~^.jsonl": (GOOD + b"\nbad", 1, 1),
    "text.parquet": (GOOD, 0, None),
    "empty.parquet": (b"", 0, None),
    ".hidden.jsonl": (GOOD, 0, 0),
    "_temporary/part.jsonl": (GOOD, 0, 0),
    "sub/_SUCCESS": (b"", 0, 0),
    "sub/.part.jsonl.crc": (b"crc", 0, 0),
}


@pytest.fixture(scope="module")
def files(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """All files taken in at once, from a folder with a name of its own, behind a link."""
    folder = tmp_path_factory.mktemp("files")
    real = folder / "tele metry+%41 [é] (1),"
    for name, (content, _, _) in FILES.items():
        path = real / "probes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    os.mkfifo(real / "probes" / "pipe")
    (real / "probes" / "nowhere").symlink_to(folder / "nowhere")
    (real / "probes" / "loop").symlink_to(real / "probes", target_is_directory=True)
    (folder / "linked").symlink_to(real, target_is_directory=True)
    write_lines(real / "heartbeats" / "part", [heartbeat(), heartbeat(ts=START + 1000)])
    (real / "readme.txt").write_text("not telemetry")
    (real / "streams").write_text("no folder")
    return run_ingest(spark, folder / "linked", folder / "out")


@pytest.mark.parametrize("name", FILES)
def test_what_is_put_aside_of_a_file(files: Ingested, name: str) -> None:
    """Its bad lines; or the file by its name, once and without a record."""
    content, _, bad = FILES[name]
    rows = [row for row in files.quarantine() if row[1] == f"probes/{name}"]
    assert {row[0] for row in rows} <= {"probes"}
    if bad is None:
        assert [row[2] for row in rows] == [None]
        assert rows[0][3].startswith("file: ")
    else:
        assert len(rows) == bad
        lines = content.decode(errors="replace").splitlines()
        assert all(row[2] in lines for row in rows)


def test_no_other_file_is_put_aside(files: Ingested) -> None:
    """But what is no file; a link to where we are already is not followed again."""
    names = {row[1].removeprefix("probes/") for row in files.quarantine()}
    assert names - FILES.keys() == {"pipe", "nowhere"}


def test_good_records_of_all_files_count(files: Ingested) -> None:
    """Each once."""
    assert files.report["records"]["probes"] == sum(good for _, good, _ in FILES.values())
    assert files.links()["rome", "paris"]["samples"] == files.report["records"]["probes"]
    assert files.report["records"]["heartbeats"] == 2


def test_what_is_no_telemetry_is_named(files: Ingested) -> None:
    """Files beside the folders, and a file where a folder should be."""
    assert files.report["ignored"] == ["readme.txt", "streams"]


Column = Any
BLANK = object()


def table(rows: int = 2, **columns: Column) -> pa.Table:
    """Probes that make sense, with other columns where they are given; BLANK leaves one out."""
    usual: Entry = {
        "ts": pa.array([START + number for number in range(rows)]),
        "from": pa.array(["rome"] * rows),
        "to": pa.array(["paris"] * rows),
        "rtt_ms": pa.array([20.0] * rows),
    }
    return pa.table({name: value for name, value in (usual | columns).items() if value is not BLANK})


MOMENT = datetime.datetime.fromtimestamp(START / 1000, UTC)
NAIVE = MOMENT.replace(tzinfo=None)
PANDAS = pd.DataFrame(
    {
        "ts": pd.to_datetime([START, START + 1], unit="ms"),
        "from": pd.Categorical(["rome", "rome"]),
        "to": ["paris", "paris"],
        "rtt_ms": np.array([20, 20], np.float32),
    },
    index=pd.Index([5, 6]),
)
# a table, how it is written, how many of its rows are good, and the reasons of the others
TABLES: dict[str, tuple[pa.Table, Entry, int, list[str]]] = {
    "plain": (table(), {}, 2, []),
    "pandas": (pa.Table.from_pandas(PANDAS), {}, 2, []),
    "zone": (table(ts=pa.array([MOMENT] * 2, pa.timestamp("ns", "Europe/Rome"))), {}, 2, []),
    "microseconds": (table(ts=pa.array([NAIVE] * 2, pa.timestamp("us"))), {}, 2, []),
    "milliseconds": (table(ts=pa.array([MOMENT] * 2, pa.timestamp("ms", "UTC"))), {}, 2, []),
    "seconds": (table(ts=pa.array([NAIVE] * 2, pa.timestamp("s"))), {}, 2, []),
    "int96": (
        table(ts=pa.array([NAIVE] * 2, pa.timestamp("ms"))),
        {"use_deprecated_int96_timestamps": True},
        2,
        [],
    ),
    "dates": (table(ts=pa.array([NAIVE.date()] * 2, pa.date32())), {}, 2, []),
    "time-text": (
        table(3, ts=pa.array([NAIVE.isoformat(), str(START), "no time"])),
        {},
        2,
        ["ts: no ISO 8601 time and no epoch milliseconds"],
    ),
    "time-float": (table(3, ts=pa.array([START + 0.5, -1.0, None])), {}, 1, ["ts: missing", "ts: negative"]),
    "time-decimal": (table(ts=pa.array([START] * 2, pa.decimal128(20, 0))), {}, 2, []),
    "time-uint64": (
        table(ts=pa.array([START, 2**63 + 5], pa.uint64())),
        {},
        1,
        ["ts: no ISO 8601 time and no epoch milliseconds"],
    ),
    "time-flag": (
        table(ts=pa.array([True, False])),
        {},
        0,
        ["ts: no ISO 8601 time and no epoch milliseconds"] * 2,
    ),
    "int32": (table(rtt_ms=pa.array([20, -1], pa.int32())), {}, 1, ["rtt_ms: negative"]),
    "int8": (table(rtt_ms=pa.array([20, None], pa.int8())), {}, 1, ["rtt_ms: missing"]),
    "uint64": (
        table(rtt_ms=pa.array([20, 2**64 - 1], pa.uint64())),
        {},
        1,
        ["rtt_ms: impossibly large"],
    ),
    "float32": (
        table(3, rtt_ms=pa.array([20, float("nan"), float("inf")], pa.float32())),
        {},
        1,
        ["rtt_ms: NaN", "rtt_ms: impossibly large"],
    ),
    "decimal": (table(rtt_ms=pa.array([decimal.Decimal("20.00")] * 2)), {}, 2, []),
    "number-text": (table(rtt_ms=pa.array(["20", "21"])), {}, 0, ["rtt_ms: no number"] * 2),
    "number-flag": (table(rtt_ms=pa.array([True, None])), {}, 0, ["rtt_ms: missing", "rtt_ms: no number"]),
    "number-list": (table(rtt_ms=pa.array([[20.0], [1.0]])), {}, 0, ["rtt_ms: no number"] * 2),
    "number-struct": (table(rtt_ms=pa.array([{"v": 20.0}] * 2)), {}, 0, ["rtt_ms: no number"] * 2),
    "number-null": (table(rtt_ms=pa.nulls(2)), {}, 0, ["rtt_ms: missing"] * 2),
    "dictionary": (table(rtt_ms=pa.array([20.0, 20.0]).dictionary_encode()), {}, 2, []),
    "large-text": (table(**{"from": pa.array(["rome", None], pa.large_string())}), {}, 1, ["from: missing"]),
    "text-view": (
        table(**{"from": pa.array(["rome", "x"], pa.string_view())}),
        {},
        1,
        ["from: unknown node"],
    ),
    "binary-text": (table(**{"from": pa.array([b"rome", b"x"])}), {}, 1, ["from: unknown node"]),
    "name-number": (table(**{"from": pa.array([7, 8])}), {}, 1, ["from: unknown node"]),
    "missing-column": (table(to=BLANK), {}, 0, ["to: missing"] * 2),
    "other-case": (table(to=BLANK, TO=pa.array(["paris"] * 2)), {}, 0, ["to: missing"] * 2),
    "no-column-at-all": (pa.table({"x": [1, 2]}), {}, 0, ["ts: missing"] * 2),
    "no-row": (table(0), {}, 0, []),
    "more-columns": (
        table(extra=pa.array([{"a": [1]}, None]), file=pa.array([1, 2]), fault=pa.array(["x", "y"])),
        {},
        2,
        [],
    ),
    "our-columns": (
        table(reason=pa.array(["x"] * 2), record=pa.array([1, 2]), n=pa.array([1, 2])),
        {},
        2,
        [],
    ),
    "null-column": (table(extra=pa.nulls(2)), {}, 2, []),
    "zstd": (table(), {"compression": "zstd"}, 2, []),
    "lz4": (table(), {"compression": "lz4"}, 2, []),
    "gzip": (table(), {"compression": "gzip"}, 2, []),
    "encodings": (
        table(ts=pa.array([NAIVE] * 2, pa.timestamp("us"))),
        {
            "use_dictionary": False,
            "column_encoding": {
                "rtt_ms": "BYTE_STREAM_SPLIT",
                "from": "DELTA_BYTE_ARRAY",
                "ts": "DELTA_BINARY_PACKED",
            },
        },
        2,
        [],
    ),
    "second-version": (table(), {"data_page_version": "2.0"}, 2, []),
    "many-groups": (table(2500), {"row_group_size": 100}, 2500, []),
}
UNREADABLE_BY_SPARK: dict[str, tuple[pa.Table, Entry]] = {
    "wide-decimal": (table(rtt_ms=pa.array([decimal.Decimal("20.5")] * 2, pa.decimal256(50, 2))), {}),
    "half-float": (table(rtt_ms=pa.array(np.array([20, 21], np.float16))), {}),
    "brotli": (table(), {"compression": "brotli"}),
    "two-cases": (table(FROM=pa.array(["x", "y"])), {}),
    "time-of-day": (table(extra=pa.array([datetime.time(1)] * 2, pa.time64("ns"))), {}),
    "metadata": (table(_metadata=pa.array([1, 2])), {}),
}
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": half,
    "no-end": lambda data: data[:-10],
    "holed": holed,
    "hole-at-start": lambda data: data[:20] + b"\xff" * 40 + data[60:],
}


@pytest.fixture(scope="module")
def parquet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    """All tables taken in at once, good, bad and damaged."""
    folder = tmp_path_factory.mktemp("parquet")
    probes = folder / "telemetry" / "probes"
    probes.mkdir(parents=True)
    for name, (content, options, _, _) in TABLES.items():
        pq.write_table(content, probes / f"{name}.parquet", **options)
    for name, (content, options) in UNREADABLE_BY_SPARK.items():
        pq.write_table(content, probes / f"{name}.parquet", **options)
    long = table(3000, rtt_ms=pa.array([20.0 + number / 7 for number in range(3000)]))
    pq.write_table(long, folder / "long", compression="none", use_dictionary=False)
    for name, damage in DAMAGES.items():
        (probes / f"{name}.parquet").write_bytes(damage((folder / "long").read_bytes()))
    part = probes / "spark.parquet" / "from=paris"
    part.mkdir(parents=True)
    pq.write_table(table(), part / "part-0.snappy.parquet")
    (probes / "spark.parquet" / "_SUCCESS").touch()
    pq.write_table(table(), probes / "no-name")
    pq.write_table(table(), probes / "UPPER.PARQUET")
    pq.write_table(table(), probes / "short.pq")
    return run_ingest(spark, folder / "telemetry", folder / "out")


@pytest.mark.parametrize("name", TABLES)
def test_bad_rows_of_a_parquet_file(parquet: Ingested, name: str) -> None:
    """Each with its reason and the row as JSON."""
    _, _, _, reasons = TABLES[name]
    rows = [row for row in parquet.quarantine() if row[1] == f"probes/{name}.parquet"]
    assert sorted(row[3] for row in rows) == sorted(reasons)
    for row in rows:
        assert isinstance(json.loads(row[2] or ""), dict)


@pytest.mark.parametrize("name", [*UNREADABLE_BY_SPARK, *DAMAGES])
def test_parquet_files_that_are_put_aside_by_name(parquet: Ingested, name: str) -> None:
    """What Spark can't read costs this file and nothing else."""
    rows = [row for row in parquet.quarantine() if row[1] == f"probes/{name}.parquet"]
    assert [row[2] for row in rows] == [None]
    assert rows[0][3].startswith("file: ")


def test_good_rows_of_all_parquet_files_count(parquet: Ingested) -> None:
    """Each once, also of those whose name doesn't say what they are, and of a folder that Spark wrote."""
    good = sum(good for _, _, good, _ in TABLES.values()) + 4 * 2
    assert parquet.report["records"]["probes"] == good
    samples = {ends: row["samples"] for ends, row in parquet.links().items()}
    assert samples == {("rome", "paris"): good - 1, ("7", "paris"): 1}


def test_times_of_parquet_files(parquet: Ingested) -> None:
    """The first is the day's beginning of the dates, the last the last of the many groups."""
    midnight = datetime.datetime.combine(NAIVE.date(), datetime.time(), UTC)
    assert parquet.report["first"] == midnight.timestamp() * 1000
    assert parquet.report["last"] == START + 2499


def test_a_row_that_was_put_aside_keeps_its_nulls(parquet: Ingested) -> None:
    """The record says which field had no value."""
    (record,) = (row[2] for row in parquet.quarantine() if row[1] == "probes/int8.parquet")
    assert json.loads(record or "")["rtt_ms"] is None
