"""What users get beside the tables: the updated problem, and a report of what came in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame

from berth.files import problem_from
from berth.files.document import read_document, write_text
from berth.model import Problem
from berth.pipeline.feeds import FEEDS, TABLE_KEYS
from berth.pipeline.feeds.changes import Changes
from berth.pipeline.feeds.statistics import latest
from berth.pipeline.ingest.tables import COLUMNS, MEASURES
from berth.pipeline.options import IngestOptions

PROBLEM_FILE = "problem.json"
REPORT_FILE = "report.json"
MOST_NAMES = 1000
_MOST_INDENTED = 100_000
_UPDATED_TABLES = ("nodes", "links", "operators", "streams")
"""In the order in which the report names what was never measured."""


@dataclass(frozen=True)
class Target:
    """What is to be updated: a problem's document and the same loaded."""

    document: dict[str, Any]
    problem: Problem

    @classmethod
    def load(cls, path: Path) -> Target:
        """Read a problem file."""
        document = read_document(path)
        return cls(document, problem_from(document))


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


@dataclass(frozen=True)
class Counts:
    """How much came in; counts of several batches can be added up."""

    files: dict[str, int] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)
    quarantined: dict[str, dict[str, int]] = field(default_factory=dict)
    first: int | None = None
    last: int | None = None

    def __add__(self, other: Counts) -> Counts:
        both = {**self.quarantined, **other.quarantined}
        folders = [feed.name for feed in FEEDS if feed.name in both]
        return Counts(
            _added(self.files, other.files),
            _added(self.records, other.records),
            {
                name: _added(self.quarantined.get(name, {}), other.quarantined.get(name, {}))
                for name in folders
            },
            min((time for time in (self.first, other.first) if time is not None), default=None),
            max((time for time in (self.last, other.last) if time is not None), default=None),
        )

    @property
    def total(self) -> int:
        """The records that make sense, over all folders."""
        return sum(self.records.values())

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last record; the epoch where there is none."""
        return self.first or 0, self.last or 0

    def document(self) -> dict[str, Any]:
        """As plain data; `Counts(**document)` reads it again."""
        return asdict(self)


@dataclass(frozen=True)
class Summary:
    """What an ingest comes to."""

    counts: Counts
    changes: Changes
    ignored: list[str]

    def document(self) -> dict[str, Any]:
        """The report as plain data; of very long lists the first names."""
        return {
            **self.counts.document(),
            "quarantined": {name: dict(sorted(why.items())) for name, why in self.counts.quarantined.items()},
            "ignored": self.ignored,
            "unmeasured": {
                kind: {"count": len(names), "names": names[:MOST_NAMES]}
                for kind, names in self.changes.unmeasured.items()
            },
            "added_links": self.changes.added_links,
            "measured_paths_without_link": self.changes.unlinked,
        }


def newest_values(tables: Mapping[str, DataFrame]) -> dict[str, pd.DataFrame]:
    """The newest average of all that was measured: as many rows as the problem has links, nodes and so on."""
    return {
        name: latest(table, TABLE_KEYS[name], MEASURES[name]).toPandas() for name, table in tables.items()
    }


def updated(
    target: Target, measured: Mapping[str, pd.DataFrame], options: IngestOptions | None = None
) -> Changes:
    """The problem's document with the newest averages of all tables (`NEWEST_SCHEMAS`)."""
    changes = Changes(target.document, target.problem, options or IngestOptions())
    for table in _UPDATED_TABLES:
        for measure in COLUMNS[table]:
            if measure.update is not None:
                measure.update(changes, measured[table])
    return changes


def publish(
    out: Path,
    target: Target,
    values: Mapping[str, pd.DataFrame],
    options: IngestOptions,
    counts: Counts,
    ignored: list[str],
) -> Summary:
    """Write the updated problem and the report.

    Raises:
        BadInput: what was measured makes a problem that can't be: the lines say where.
    """
    changes = updated(target, values, options)
    problem_from(changes.document)
    summary = Summary(counts, changes, ignored)
    write_text(out / PROBLEM_FILE, _text(changes.document))
    write_text(out / REPORT_FILE, _text(summary.document()))
    return summary


def _text(document: dict[str, Any]) -> str:
    compact = json.dumps(document, allow_nan=False)
    return (
        compact if len(compact) > _MOST_INDENTED else json.dumps(document, indent=2, allow_nan=False)
    ) + "\n"
