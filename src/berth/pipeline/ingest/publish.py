"""What users get beside the tables: the updated problem, and a report of what came in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame

from berth.files import problem_from
from berth.files.document import document_text, mistakes_in, read_document, write_text
from berth.model import Problem
from berth.pipeline.feeds import TABLE_KEYS
from berth.pipeline.feeds.changes import Changes
from berth.pipeline.feeds.statistics import latest
from berth.pipeline.ingest.digest import Counts
from berth.pipeline.ingest.tables import COLUMNS, MEASURES
from berth.pipeline.options import IngestOptions

PROBLEM_FILE = "problem.json"
REPORT_FILE = "report.json"
MOST_NAMES = 1000
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
        with mistakes_in(path):
            return cls(document, problem_from(document))


@dataclass(frozen=True)
class Summary:
    """What an ingest comes to."""

    counts: Counts
    changes: Changes
    ignored: list[str]

    def document(self) -> dict[str, Any]:
        """The report as plain data; of very long lists the first names."""
        return {
            **asdict(self.counts),
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
    for name, document in ((PROBLEM_FILE, changes.document), (REPORT_FILE, summary.document())):
        write_text(out / name, document_text(document, name))
    return summary
