"""Everything that makes a record garbage: each fault on its own is reason enough for quarantine."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as sf

from berth.pipeline.sample.fields import FIELDS, NAMES, TYPES, Kind

if TYPE_CHECKING:
    from berth.model import Problem
    from berth.pipeline.sample.options import Format

CENTURY_MS = 36_525 * 86_400_000
NO_INSTANCE = "no_instance"
"""The column with the name of an instance that the record's operator doesn't have."""


@dataclass(frozen=True)
class Fault:
    """One way to spoil a record."""

    name: str
    texts: Mapping[str, str | None] = field(default_factory=dict)
    """JSON in place of a field's own; None: the field is left out."""
    columns: Callable[[], Mapping[str, Column]] = dict
    """Other values of fields, from the columns of the good record."""
    line: Callable[[Column], Column] | None = None
    """Another line, of the record's own."""


def faults_of(problem: Problem, folder: str, form: Format) -> list[Fault]:
    """All faults of a folder's records, in a fixed order; Parquet has only those that its types allow."""
    strangers = _strangers(problem)
    found = [
        Fault("ts: in the future", columns=lambda: {"ts": sf.col("ts") + sf.lit(CENTURY_MS)}),
        *SENSELESS[folder],
    ]
    faults = _typed_faults if form == "parquet" else _text_faults
    for name, kind in FIELDS[folder].items():
        found += faults(name, kind, strangers)
    return found if form == "parquet" else [*LINE_FAULTS, *found]


SENSELESS: dict[str, list[Fault]] = {
    "probes": [Fault("to: the sender itself", columns=lambda: {"to": sf.col("from")})],
    "heartbeats": [
        Fault("mips: 0 though up", columns=lambda: {"up": sf.lit(True), "mips": sf.lit(0.0)}),
    ],
    "operators": [Fault("instance: not there", columns=lambda: {"instance": sf.col(NO_INSTANCE)})],
    "streams": [
        Fault("from, to: no such stream", columns=lambda: {"from": sf.col("to"), "to": sf.col("from")}),
        Fault("window_ms: 0", columns=lambda: {"window_ms": sf.lit(0).cast("long")}),
    ],
}
"""Records whose fields are well and that make no sense all the same."""

LINE_FAULTS = [
    Fault("line: cut off", line=lambda line: sf.expr("substring(line, 1, length(line) div 2)")),
    Fault("line: no JSON", line=lambda line: sf.lit("connection reset by peer")),
    Fault("line: no object", line=lambda line: sf.lit('[1, 2, 3, "go"]')),
    Fault("line: two records", line=lambda line: sf.concat(line, line)),
    Fault("line: no UTF-8", line=lambda line: sf.lit(bytearray(b'{"ts":\xff\xfe\x80\xc3(')).cast("string")),
    Fault("line: control characters", line=lambda line: sf.lit("\0\0\0\0\1\2\3")),
]


def _text_faults(name: str, kind: Kind, strangers: Mapping[str, str]) -> list[Fault]:
    """A field's faults in JSON."""
    texts: dict[str, str | None] = {"missing": None, "null": "null", "a list": "[1]"}
    if kind in NAMES:
        texts |= {"a number": strangers["number"], "unknown": json.dumps(strangers[kind]), "empty": '""'}
    elif kind == "flag":
        texts |= {"a number": "1", "text": '"perhaps"'}
    elif kind == "time":
        dates = {"text": '"yesterday"', "no such date": '"2024-13-45T25:61:00Z"'}
        texts |= {"a boolean": "true", "negative": "-5", "NaN": "NaN", **dates}
    else:
        texts |= {"a boolean": "true", "text": '"fast"', "NaN": "NaN", "infinite": "Infinity"}
        texts |= {"too large": "1e999", "negative": "-1.5" if kind == "number" else "-2"}
    return [Fault(f"{name}: {what}", texts={name: text}) for what, text in texts.items()]


def _typed_faults(name: str, kind: Kind, strangers: Mapping[str, str]) -> list[Fault]:
    """A field's faults in a typed column."""
    values: dict[str, object] = {"null": None}
    if kind in NAMES:
        values |= {"unknown": strangers[kind], "empty": ""}
    elif kind == "number":
        values |= {"NaN": float("nan"), "infinite": float("inf"), "negative": -1.5}
    elif kind == "count":
        values |= {"negative": -2}
    return [_typed_fault(f"{name}: {what}", name, kind, value) for what, value in values.items()]


def _typed_fault(title: str, name: str, kind: Kind, value: object) -> Fault:
    return Fault(title, columns=lambda: {name: sf.lit(value).cast(TYPES[kind])})


def _strangers(problem: Problem) -> dict[str, str]:
    """For every kind of name one that the problem doesn't have, and a number that is no name either."""
    nodes = set(problem.network.index)
    applications = {application.name for application in problem.applications}
    operators = {item.operator.name for item in problem.instances.operators}
    names = nodes | applications | operators
    return {
        "node": _unused("no-such-node", nodes),
        "application": _unused("no-such-application", applications),
        "operator": _unused("no-such-operator", operators),
        "instance": _unused("no-such-operator", operators) + "#0",
        "number": next(str(number) for number in count(7) if str(number) not in names),
    }


def _unused(name: str, names: set[str]) -> str:
    while name in names:
        name += "-"
    return name
