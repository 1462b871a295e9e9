"""What telemetry is: its folders, their fields, and what a value may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["time", "name", "number", "flag"]

SPARK_TYPES: dict[Kind, str] = {"time": "bigint", "name": "string", "number": "double", "flag": "boolean"}
EXPECTED: dict[Kind, str] = {
    "time": "no ISO 8601 time and no epoch milliseconds",
    "name": "no text",
    "number": "no number",
    "flag": "neither true nor false",
}

_DAY_MS = 86_400_000.0


@dataclass(frozen=True)
class Field:
    """A field of a record; `most` is the largest number that makes sense, `zero` whether 0 does."""

    name: str
    kind: Kind
    most: float = float("inf")
    zero: bool = True


@dataclass(frozen=True)
class Folder:
    """One kind of telemetry; every field is needed in every record."""

    name: str
    fields: tuple[Field, ...]


_TS = Field("ts", "time")

PROBES = Folder(
    "probes",
    (_TS, Field("from", "name"), Field("to", "name"), Field("rtt_ms", "number", most=_DAY_MS)),
)
HEARTBEATS = Folder(
    "heartbeats",
    (
        _TS,
        Field("node", "name"),
        Field("up", "flag"),
        Field("run_queue", "number", most=1e9),
        Field("mips", "number", most=1e12),
    ),
)
OPERATORS = Folder(
    "operators",
    (
        _TS,
        Field("application", "name"),
        Field("operator", "name"),
        Field("instance", "name"),
        Field("node", "name"),
        Field("tuples", "number", most=1e15),
        Field("busy_ms", "number", most=366 * _DAY_MS),
    ),
)
STREAMS = Folder(
    "streams",
    (
        _TS,
        Field("application", "name"),
        Field("from", "name"),
        Field("to", "name"),
        Field("tuples", "number", most=1e15),
        Field("bytes", "number", most=1e18),
        Field("window_ms", "number", most=366 * _DAY_MS, zero=False),
    ),
)
FOLDERS = (PROBES, HEARTBEATS, OPERATORS, STREAMS)
