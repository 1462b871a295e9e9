"""Tables of measured round trips: CSV, JSON lines or Parquet, a file or a folder of them."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv, parquet

from berth.files.latency_matrix import LONGEST_MS
from berth.model import BadInput

ENDS = ("from", "to")
MEASURE = "rtt_ms"


@dataclass(frozen=True)
class ProbeCounts:
    """How much was in tables of probes."""

    records: int
    """All that was read, good or bad."""
    pairs: int
    rejected: Mapping[str, int]
    """How many records make no sense, by reason."""


@dataclass(frozen=True, eq=False)
class Probes:
    """One delay for each measured pair of nodes, by their numbers: half the median of its round trips."""

    senders: NDArray[np.intp]
    receivers: NDArray[np.intp]
    delay_ms: NDArray[np.float64]
    counts: ProbeCounts


def read_probes(paths: list[Path], index: Mapping[str, int]) -> Probes:
    """Read tables with the columns from, to and rtt_ms; others are ignored.

    Both directions of a pair are pooled. A folder is read with all that is in it, of a folder of telemetry
    only its probes. Records that make no sense are counted, by reason.

    Args:
        paths: files or folders.
        index: node numbers by name.

    Raises:
        BadInput: a file can't be read, or has not these columns.
    """
    tables, unreadable = [], 0
    for file in [file for path in paths for file in probe_files(path)]:
        table, bad = _table(file)
        tables.append(table)
        unreadable += bad
    rows = pd.concat(tables, ignore_index=True) if tables else _frame([], [], [])
    senders, receivers = (np.array([index.get(name, -1) for name in rows[end]], np.intp) for end in ENDS)
    reasons = _reasons(rows, senders, receivers)
    rejected = {**({"unreadable": unreadable} if unreadable else {}), **reasons[reasons != ""].value_counts()}
    good = (reasons == "").to_numpy()
    pairs = pd.DataFrame(
        {
            "first": np.minimum(senders, receivers)[good],
            "second": np.maximum(senders, receivers)[good],
            "rtt": rows[MEASURE].to_numpy(np.float64)[good],
        }
    )
    typical = pairs.groupby(["first", "second"], as_index=False, sort=True)["rtt"].median()
    return Probes(
        typical["first"].to_numpy(np.intp),
        typical["second"].to_numpy(np.intp),
        typical["rtt"].to_numpy(np.float64) / 2.0,
        ProbeCounts(
            len(rows) + unreadable,
            len(typical),
            {reason: int(count) for reason, count in sorted(rejected.items())},
        ),
    )


def _reasons(rows: pd.DataFrame, senders: NDArray[np.intp], receivers: NDArray[np.intp]) -> pd.Series:
    """What is wrong with every row; empty where nothing is."""
    rtt = rows[MEASURE].to_numpy(np.float64)
    nameless = rows[ENDS[0]].isna() | rows[ENDS[1]].isna()
    conditions = {
        "no name in from or to": nameless.to_numpy(bool),
        "no node of the problem": (senders < 0) | (receivers < 0),
        "from a node to itself": senders == receivers,
        f"{MEASURE} is no number": np.isnan(rtt),
        f"{MEASURE} is not above 0": rtt <= 0,
        f"{MEASURE} is more than a day": rtt > LONGEST_MS,
    }
    return pd.Series(np.select(list(conditions.values()), list(conditions), default=""), dtype=object)


def probe_files(path: Path) -> Iterator[Path]:
    """The files of a table, sorted; names with `.` or `_` first are no data."""
    if not path.exists():
        raise BadInput([f"{path}: no such file or folder"])
    if not path.is_dir():
        yield path
        return
    root = path / "probes" if (path / "probes").is_dir() else path
    found = sorted(
        Path(parent) / name
        for parent, _, names in os.walk(root)
        for name in names
        if not any(part.startswith((".", "_")) for part in (Path(parent) / name).relative_to(root).parts)
    )
    if not found:
        raise BadInput([f"{path}: no files in it"])
    yield from found


def _table(file: Path) -> tuple[pd.DataFrame, int]:
    """The rows of a file and how many could not be read."""
    name = file.name.lower().removesuffix(".gz")
    try:
        if name.endswith(".csv"):
            return _from_csv(file)
        if begins_as_parquet(file):
            return _from_parquet(file), 0
        return _from_lines(file)
    except (OSError, EOFError, UnicodeDecodeError, pa.ArrowException) as error:
        reason = (getattr(error, "strerror", None) or str(error)).splitlines()[0]
        raise BadInput([f"{file}: can't be read: {reason.lower()}"]) from None


def begins_as_parquet(file: Path) -> bool:
    """Whether a file is Parquet, whatever its name."""
    with file.open("rb") as stream:
        return stream.read(4) == b"PAR1"


def _from_csv(file: Path) -> tuple[pd.DataFrame, int]:
    bad = 0

    def skip(_: Any) -> str:
        nonlocal bad
        bad += 1
        return "skip"

    names = {name: pa.string() for name in (*ENDS, MEASURE)}
    try:
        table = csv.read_csv(
            str(file),
            parse_options=csv.ParseOptions(invalid_row_handler=skip),
            convert_options=csv.ConvertOptions(
                column_types=names, include_columns=list(names), strings_can_be_null=True, null_values=[""]
            ),
        )
    except KeyError:
        raise without_columns(file) from None
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            raise without_columns(file) from None
        raise
    return _frame(*(table.column(name).to_pandas() for name in names)), bad


def _from_parquet(file: Path) -> pd.DataFrame:
    there = parquet.ParquetFile(file).schema_arrow.names
    if not set(there).issuperset((*ENDS, MEASURE)):
        raise without_columns(file)
    table = parquet.ParquetFile(file).read(columns=[*ENDS, MEASURE])
    return _frame(*(table.column(name).to_pandas() for name in (*ENDS, MEASURE)))


def _from_lines(file: Path) -> tuple[pd.DataFrame, int]:
    columns: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    bad = 0
    with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as stream:
        for line in stream:
            if not line.strip():
                continue
            record = _record(line)
            if record is None:
                bad += 1
                continue
            for column, name in zip(columns, ENDS, strict=False):
                column.append(record.get(name))
            columns[2].append(_number(record.get(MEASURE)))
    return _frame(*columns), bad


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _number(value: Any) -> float | None:
    """A number of JSON; text that looks like one is of the wrong type."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _frame(senders: Any, receivers: Any, values: Any) -> pd.DataFrame:
    """Names that are text, else nothing; numbers, else NaN."""
    ends = [
        pd.Series([name if isinstance(name, str) else None for name in column], dtype=object)
        for column in (senders, receivers)
    ]
    measure = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").astype(np.float64)
    return pd.DataFrame({ENDS[0]: ends[0], ENDS[1]: ends[1], MEASURE: measure})


def without_columns(file: Path) -> BadInput:
    """What is said of a file that is no table of probes."""
    return BadInput([f"{file}: needs the columns from, to and {MEASURE}"])
