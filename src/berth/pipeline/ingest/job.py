"""From raw telemetry to tables and to an updated problem: all that is there, at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from berth.files.document import held
from berth.files.names_file import load_names
from berth.model import BadInput
from berth.pipeline.feeds import FEEDS, HEARTBEATS
from berth.pipeline.feeds.feed import Evidence
from berth.pipeline.feeds.heartbeats import REFERENCES
from berth.pipeline.feeds.outages import INTERVALS, PIECES, ends_of, pieces_to_the_ends
from berth.pipeline.ingest.digest import Counts, Digest, Digester, Report, reading_again
from berth.pipeline.ingest.files import ignored_entries, telemetry_files
from berth.pipeline.ingest.publish import Summary, Target, newest_values, publish
from berth.pipeline.ingest.records import QUARANTINE
from berth.pipeline.ingest.tables import NOTHING_MEASURED, TABLE_SCHEMAS, TABLES, finished, measured
from berth.pipeline.options import IngestOptions
from berth.pipeline.storage import empty_table, remove_leftovers, write_empty_table, write_table
from berth.spark.paths import spark_path

FOLLOW_STATE = ".follow"


def ingest(
    session: SparkSession,
    telemetry: Path,
    problem: Path,
    out: Path,
    options: IngestOptions,
    report: Report = lambda step: None,
    names: Path | None = None,
) -> Summary:
    """Read all telemetry of a folder; write the tables, the quarantine and the updated problem.

    Args:
        session: of Spark.
        telemetry: the folder with the folders of feeds.
        problem: the file of the problem that it is about.
        out: the folder for the tables and `problem.json`.
        options: how telemetry is taken in.
        report: is told what is being done.
        names: a file of what the telemetry calls nodes, operators and instances.

    Raises:
        BadInput: the problem, the telemetry's folder, the names or the target are not what they should be.
    """
    target = Target.load(problem)
    telemetry, out = telemetry.resolve(), out.resolve()
    files = telemetry_files(telemetry)
    called = None if names is None else load_names(names, target.problem)
    digester = Digester(session, telemetry, target.problem, options, report, called)
    with target_held(telemetry, out):
        if (out / FOLLOW_STATE).exists():
            raise BadInput([f"--out: {out} belongs to an ingest with --follow; choose another folder"])
        return reading_again(lambda thorough: _take_in(digester, files, target, out, thorough), lambda: False)


def _take_in(
    digester: Digester, files: Mapping[str, list[Path]], target: Target, out: Path, thorough: bool
) -> Summary:
    session, options, report = digester.session, digester.options, digester.report
    digests = digester.digests(files, thorough)
    counts = sum((item.counts for item in digests.values()), Counts())
    evidence = _evidence(digester, digests)
    with ThreadPoolExecutor(1) as beside:
        # the quarantine keeps the processors busy while the tables are being planned
        put_aside = beside.submit(write_table, quarantine_of(session, digests.values()), out / "quarantine")
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
    return publish(out, target, values, options, counts, ignored_entries(digester.root))


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


def quarantine_of(session: SparkSession, digests: Iterable[Digest]) -> DataFrame:
    """All that was put aside."""
    rows = (part for item in digests for part in item.quarantine)
    return reduce(DataFrame.unionByName, rows, empty_table(session, QUARANTINE))


def _evidence(digester: Digester, digests: Mapping[str, Digest]) -> Evidence:
    session, options = digester.session, digester.options
    pieces = empty_table(session, PIECES)
    if HEARTBEATS.name in digests:
        beats = digests[HEARTBEATS.name].each_record
        assert beats is not None
        sums = digests[HEARTBEATS.name].sums
        pieces = pieces_to_the_ends(beats, ends_of(beats), sums, options.window_ms)
    return Evidence(
        session,
        digester.problem,
        options,
        {name: item.sums for name, item in digests.items()},
        pieces,
        empty_table(session, INTERVALS),
        empty_table(session, REFERENCES),
    )
