"""From raw telemetry to tables and to a problem that is true: all that is there, at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from berth.files.document import held
from berth.model import BadInput
from berth.pipeline.feeds import FEEDS, HEARTBEATS
from berth.pipeline.feeds.feed import Evidence
from berth.pipeline.feeds.heartbeats import REFERENCES
from berth.pipeline.feeds.outages import (
    INTERVALS,
    PIECES,
    Windows,
    edge_pieces,
    ends_of,
    pieces_of,
    with_next,
)
from berth.pipeline.ingest.checks import Clock
from berth.pipeline.ingest.digest import FAILURES, Digest, Digester
from berth.pipeline.ingest.files import ignored_entries, telemetry_files
from berth.pipeline.ingest.publish import Counts, Summary, Target, newest_values, publish
from berth.pipeline.ingest.records import QUARANTINE
from berth.pipeline.ingest.tables import NOTHING_MEASURED, TABLE_SCHEMAS, TABLES, finished, measured
from berth.pipeline.options import IngestOptions
from berth.pipeline.storage import empty_table, remove_leftovers, write_empty_table, write_table
from berth.spark.paths import spark_path

Report = Callable[[str], None]
FOLLOW_STATE = ".follow"


def ingest(
    session: SparkSession,
    telemetry: Path,
    problem: Path,
    out: Path,
    options: IngestOptions,
    report: Report = lambda step: None,
) -> Summary:
    """Read all telemetry of a folder; write the tables, the quarantine and the updated problem.

    Raises:
        BadInput: the problem, the telemetry's folder or the target are not what they should be.
    """
    target = Target.load(problem)
    telemetry, out = telemetry.resolve(), out.resolve()
    files = telemetry_files(telemetry)
    with target_held(telemetry, out):
        return _ingest(session, telemetry, files, target, out, options, report)


def _ingest(
    session: SparkSession,
    telemetry: Path,
    files: Mapping[str, list[Path]],
    target: Target,
    out: Path,
    options: IngestOptions,
    report: Report,
) -> Summary:
    if (out / FOLLOW_STATE).exists():
        raise BadInput([f"--out: {out} belongs to an ingest with --follow; choose another folder"])
    clock = Clock(newest=now_ms() + round(options.clock_skew_s * 1000))
    digester = Digester(session, telemetry, target.problem, clock, options.window_ms)
    try:
        return _take_in(digester, files, target, out, options, report, thorough=False)
    except FAILURES:
        # a later pass over the files may read what the first one didn't have to
        return _take_in(digester, files, target, out, options, report, thorough=True)


def _take_in(
    digester: Digester,
    files: Mapping[str, list[Path]],
    target: Target,
    out: Path,
    options: IngestOptions,
    report: Report,
    thorough: bool,
) -> Summary:
    session, telemetry = digester.session, digester.root
    digests = {}
    for feed in FEEDS:
        if files.get(feed.name):
            report(f"reading {feed.name}")
            digests[feed.name] = digester.digest(feed, files[feed.name], thorough)
    counts = counts_of(digests.values())
    quarantine = quarantine_of(session, digests.values())
    evidence = _evidence(session, digests, target, options)
    with ThreadPoolExecutor(1) as beside:
        # the quarantine keeps the processors busy while the tables are being planned
        put_aside = beside.submit(write_table, quarantine, out / "quarantine")
        with measured(evidence) as tables:
            for name in TABLES:
                report(f"table {name}")
                if name in tables:
                    write_table(finished(tables[name], name, options, counts.span), out / name)
                else:
                    write_empty_table(TABLE_SCHEMAS[name], out / name)
        report("quarantine")
        put_aside.result()
    for item in digests.values():
        item.forget()
    report("problem")
    written = {
        name: session.read.schema(TABLE_SCHEMAS[name]).parquet(spark_path(out / name)) for name in tables
    }
    values = NOTHING_MEASURED | newest_values(written)
    return publish(out, target, values, options, counts, ignored_entries(telemetry))


def now_ms() -> int:
    """This machine's time in epoch milliseconds."""
    return time.time_ns() // 1_000_000


@contextmanager
def target_held(telemetry: Path, out: Path) -> Iterator[None]:
    """Hold the target's folder, which is made if it is not there, without what a killed run left in it.

    Raises:
        BadInput: it is a folder of telemetry, can't be made, or another run writes there.
    """
    if out == telemetry or telemetry in out.parents:
        raise BadInput(
            [f"--out: {out} lies in the telemetry's folder; its tables would be read as telemetry"]
        )
    raw = [feed.name for feed in FEEDS if feed.name not in TABLES and (out / feed.name).exists()]
    if raw:
        raise BadInput([f"--out: {out} has a folder {raw[0]!r}: it is telemetry, and would be overwritten"])
    with held(out):
        remove_leftovers(out, (*TABLES, "quarantine"))
        yield


def counts_of(digests: Iterable[Digest]) -> Counts:
    """How much the digests hold."""
    counts = Counts()
    for item in digests:
        name = item.feed.name
        reasons = {name: item.reasons} if item.reasons else {}
        counts += Counts({name: item.files}, {name: item.records}, reasons, item.first, item.last)
    return counts


def quarantine_of(session: SparkSession, digests: Iterable[Digest]) -> DataFrame:
    """All that was put aside."""
    rows = [item.quarantine for item in digests if item.quarantine is not None]
    return reduce(DataFrame.unionByName, rows, empty_table(session, QUARANTINE))


def _evidence(
    session: SparkSession, digests: Mapping[str, Digest], target: Target, options: IngestOptions
) -> Evidence:
    pieces = empty_table(session, PIECES)
    if HEARTBEATS.name in digests:
        beats = digests[HEARTBEATS.name].each_record
        assert beats is not None
        windows = Windows.of(digests[HEARTBEATS.name].sums, options.window_ms)
        inner = pieces_of(with_next(beats), windows)
        pieces = inner.unionByName(edge_pieces(ends_of(beats), windows))
    return Evidence(
        session,
        target.problem,
        options,
        {name: item.sums for name, item in digests.items()},
        pieces,
        empty_table(session, INTERVALS),
        empty_table(session, REFERENCES),
    )
