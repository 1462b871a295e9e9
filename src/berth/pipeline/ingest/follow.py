"""The same transformations as a stream: files are taken in as they come, in batches.

Structured Streaming says which files are new and keeps count of them in its checkpoint; each batch of files
is taken in by the same code as a whole folder is. Sums can be added up in any order, so the tables are
those that one ingest over all files would give, as long as no record is later than the watermark allows.
"""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.files.document import write_text
from berth.files.names_file import load_names
from berth.model import BadInput
from berth.pipeline.feeds import HEARTBEATS, TABLE_KEYS
from berth.pipeline.feeds.feed import Evidence
from berth.pipeline.feeds.heartbeats import references_of
from berth.pipeline.feeds.outages import (
    LOOK_BACK,
    ends_of,
    merged_pieces,
    own_intervals,
    pieces_of,
    pieces_to_the_ends,
    with_next,
)
from berth.pipeline.feeds.statistics import latest
from berth.pipeline.ingest.digest import Counts, Digest, Digester, Report, merged, reading_again
from berth.pipeline.ingest.files import hidden, ignored_entries, telemetry_files
from berth.pipeline.ingest.job import FOLLOW_STATE, quarantine_of, target_held
from berth.pipeline.ingest.publish import Summary, Target, publish
from berth.pipeline.ingest.state import FINAL, FinalRows, Notes, State, States
from berth.pipeline.ingest.tables import MEASURES, NOTHING_MEASURED, TABLE_SCHEMAS, TABLES, finished, measured
from berth.pipeline.options import IngestOptions
from berth.pipeline.storage import empty_table
from berth.spark.paths import spark_path, written_path

MOST_FILES = 1000
"""Files of one batch."""

POLL_SECONDS = 0.2
_FILES = "path string, modificationTime timestamp, length bigint, content binary"
_SETTINGS = "settings.json"


def follow(
    session: SparkSession,
    telemetry: Path,
    problem: Path,
    out: Path,
    options: IngestOptions,
    *,
    once: bool = False,
    report: Report = lambda step: None,
    names: Path | None = None,
) -> Summary:
    """Take in telemetry as it comes, until interrupted; with `once`, what is new, and then stop.

    The other arguments are those of `ingest`.

    Raises:
        BadInput: the problem, the telemetry's folder, the names or the target are not what they should be,
            or another process follows into the same target.
    """
    target = Target.load(problem)
    telemetry, out = telemetry.resolve(), out.resolve()
    telemetry_files(telemetry)
    with target_held(telemetry, out):
        home = out / FOLLOW_STATE
        home.mkdir(exist_ok=True)
        _same_settings(home, telemetry, options)
        called = None if names is None else load_names(names, target.problem)
        digester = Digester(session, telemetry, target.problem, options, report, called)
        follower = _Follower(digester, target, out)
        _run(follower, home, once)
        return follower.summary()


def _same_settings(home: Path, telemetry: Path, options: IngestOptions) -> None:
    """What the state depends on can't change from one run to the next."""
    settings = {
        "telemetry": str(telemetry),
        "--window": options.window_s,
        "--weight": options.weight,
    }
    file = home / _SETTINGS
    if not file.exists():
        write_text(file, json.dumps(settings) + "\n")
        return
    before = json.loads(file.read_text())
    mistakes = [
        f"{name}: {settings[name]} now, {before[name]} when this target was begun; choose another --out"
        for name in settings
        if settings[name] != before[name]
    ]
    if mistakes:
        raise BadInput(mistakes)


def _run(follower: _Follower, home: Path, once: bool) -> None:
    digester = follower.digester
    files = (
        digester.session.readStream.format("binaryFile")
        .schema(_FILES)
        .option("recursiveFileLookup", "true")
        .option("maxFilesPerTrigger", MOST_FILES)
        # without this, a file much older than the newest one would be passed over without a word
        .option("maxFileAge", "36500d")
        .load(spark_path(digester.root))
        .select("path")
    )
    writer = files.writeStream.foreachBatch(follower.take).option(
        "checkpointLocation", written_path(home / "checkpoint")
    )
    trigger = (
        {"availableNow": True}
        if once
        else {"processingTime": f"{round(digester.options.every_s * 1000)} milliseconds"}
    )
    stop = follower.stop_requested
    query = writer.trigger(**trigger).start()
    try:
        with _set_by_signals(stop):
            while query.isActive and not stop.wait(POLL_SECONDS):
                pass
    finally:
        query.stop()
    failure = query.exception()
    if failure is not None and not stop.is_set():
        raise failure


@contextmanager
def _set_by_signals(stop: threading.Event) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM set an event: an exception in the middle of a talk with Java ends badly."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda _number, _frame: stop.set()) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


class _Follower:
    """Takes in one batch after the other; the state after each is on disk before its tables are."""

    def __init__(self, digester: Digester, target: Target, out: Path) -> None:
        self.digester = digester
        self.stop_requested = threading.Event()
        self._session, self._options, self._report = digester.session, digester.options, digester.report
        self._target = target
        self._out = out
        self._states = States(self._session, out / FOLLOW_STATE / "states")
        self._final = FinalRows(self._session, out / FOLLOW_STATE / "final")
        self._summary: Summary | None = None

    def take(self, batch: DataFrame, number: int) -> None:
        """Take in a batch of files; the same batch again comes to the same."""
        state = number + 1
        if not self._states[state].exists:
            # as many rows as files, and no more of these than a batch may have
            files = self._by_feed([row["path"] for row in batch.collect()])
            reading_again(
                lambda thorough: self._write_state(state, files, thorough), self.stop_requested.is_set
            )
        self._summary = self._publish(state)
        self._states.forget_before(state)
        self._report(f"waiting for files; {self._summary.counts.total:,} records so far")

    def summary(self) -> Summary:
        """What all batches came to."""
        newest = self._states.newest()
        if self._summary is not None or newest > 0:
            return self._summary or self._publish(newest)
        return self._show_problem(NOTHING_MEASURED, Counts())

    def _by_feed(self, uris: list[str]) -> dict[str, list[Path]]:
        paths: dict[str, list[Path]] = {}
        for uri in sorted(uris):
            # Hadoop's text of a path: nothing in it is encoded
            path = Path(re.sub(r"^file:(//)?(?=/)", "", uri))
            parts = path.relative_to(self.digester.root).parts
            if len(parts) > 1 and not any(hidden(part) for part in parts):
                paths.setdefault(parts[0], []).append(path)
        return paths

    def _write_state(self, state: int, files: Mapping[str, list[Path]], thorough: bool) -> None:
        """From the state before and new files to the next state."""
        before = self._states[state - 1].notes
        digests = self.digester.digests(files, thorough, before.watermark)
        notes = self._moved_on(before, sum((item.counts for item in digests.values()), before.counts))
        with ExitStack() as until:
            for item in digests.values():
                until.callback(item.forget)
            draft = until.enter_context(self._states.next(state))
            self._report("writing the state")
            for name, item in digests.items():
                sums = opened(draft.part(name), before.open_from)
                draft.write(name, merged(sums.unionByName(item.sums), item.feed))
            if HEARTBEATS.name in digests:
                self._write_beats(draft, digests[HEARTBEATS.name], before.open_from, notes.watermark, until)
            final = {}
            if notes.open_from != before.open_from:
                final = self._close(draft, before, notes, until)
            if state == 1 or any(item.quarantine for item in digests.values()):
                final["quarantine"] = quarantine_of(self._session, digests.values())
            notes = replace(notes, final_from=self._gather(state, final, before.final_from))
            for name, rows in final.items():
                draft.write(f"{FINAL}/{name}", rows)
            draft.write_notes(notes)

    def _moved_on(self, before: Notes, counts: Counts) -> Notes:
        """The watermark and the first open window behind a batch; neither ever goes back."""
        if counts.last is None:
            return replace(before, counts=counts)
        watermark = max(counts.last - round(self._options.watermark_s * 1000), before.watermark or 0)
        window_ms = self._options.window_ms
        open_from = None if window_ms is None else watermark // window_ms * window_ms
        return replace(before, counts=counts, watermark=watermark, open_from=open_from)

    def _write_beats(
        self, draft: State, new: Digest, open_from: int | None, watermark: int | None, until: ExitStack
    ) -> None:
        assert new.each_record is not None
        followed = with_next(draft.part("beats").unionByName(new.each_record)).persist()
        until.callback(followed.unpersist)
        # no heartbeat from before the watermark counts any more: what lies before it is settled
        settled = F.coalesce(F.col("next") <= F.lit(watermark), F.lit(False))
        sums = draft.part(HEARTBEATS.name)
        pieces = pieces_of(followed.where(settled), sums, self._options.window_ms)
        ends = draft.part("ends").unionByName(ends_of(followed.drop("next")))
        before = opened(draft.part("pieces"), open_from)
        draft.write("pieces", merged_pieces(before.unionByName(pieces)))
        draft.write("ends", ends_of(ends))
        draft.write("beats", followed.where(~settled).drop("next"))

    def _close(self, draft: State, before: Notes, notes: Notes, until: ExitStack) -> dict[str, DataFrame]:
        """Rows of windows that no record can come to any more; what later windows need of them is written."""
        parts = draft.parts()
        tables = self._tables(parts, replace(notes, open_from=before.open_from), until)
        closed = F.col("window_end") <= F.timestamp_millis(F.lit(notes.open_from))
        final = {name: table.where(closed).persist() for name, table in tables.items()}
        for name, rows in final.items():
            until.callback(rows.unpersist)
            draft.write(f"newest-{name}", later(parts[f"newest-{name}"], rows, name))
        past = F.col("window") < F.lit(notes.open_from)
        pieces = opened(self._all_pieces(parts), before.open_from).where(past)
        own = own_intervals(pieces).select("window", "node", "own", "n")
        heartbeats = opened(parts[HEARTBEATS.name], before.open_from).where(past)
        references = references_of(heartbeats, self._target.problem)
        oldest = (notes.open_from or 0) - LOOK_BACK * (self._options.window_ms or 0)
        looked_at = F.col("window") >= F.lit(oldest)
        draft.write("intervals", parts["intervals"].unionByName(own).where(looked_at))
        draft.write("references", parts["references"].unionByName(references).where(looked_at))
        return final

    def _all_pieces(self, parts: Mapping[str, DataFrame]) -> DataFrame:
        sums = parts[HEARTBEATS.name]
        unsettled = pieces_to_the_ends(parts["beats"], parts["ends"], sums, self._options.window_ms)
        return parts["pieces"].unionByName(unsettled)

    def _gather(self, state: int, final: dict[str, DataFrame], since: Mapping[str, int]) -> dict[str, int]:
        """Put many small files of final rows together; says since which state a table's files count."""
        gathered = dict(since)
        for name, rows in final.items():
            crowded = self._final.crowded(name, gathered.get(name, 0))
            if crowded is not None:
                final[name] = rows.unionByName(crowded).coalesce(1)
                gathered[name] = state
        return gathered

    def _tables(self, parts: Mapping[str, DataFrame], notes: Notes, until: ExitStack) -> dict[str, DataFrame]:
        """The tables of the windows that are open by the notes."""
        evidence = Evidence(
            self._session,
            self._target.problem,
            self._options,
            {name: opened(parts[name], notes.open_from) for name in notes.counts.files},
            opened(self._all_pieces(parts), notes.open_from),
            parts["intervals"],
            parts["references"],
        )
        tables = until.enter_context(measured(evidence))
        return {
            name: finished(tables[name], name, self._options, notes.counts.span, parts[f"newest-{name}"])
            if name in tables
            else empty_table(self._session, TABLE_SCHEMAS[name])
            for name in TABLES
        }

    def _publish(self, state: int) -> Summary:
        """Show users what a state comes to."""
        self._report("writing the tables")
        notes, parts = self._states[state].notes, self._states[state].parts()
        self._final.take_over(state, self._states[state].place / FINAL)
        newest = {}
        with ExitStack() as until:
            tables = self._tables(parts, notes, until)
            for name in TABLES:
                shown = self._final.show(name, self._out / name, notes.final_from.get(name, 0), tables[name])
                assert shown is not None
                newest[name] = later(parts[f"newest-{name}"], shown, name).toPandas()
        self._final.show("quarantine", self._out / "quarantine", notes.final_from.get("quarantine", 0))
        return self._show_problem(newest, notes.counts)

    def _show_problem(self, newest: Mapping[str, pd.DataFrame], counts: Counts) -> Summary:
        ignored = ignored_entries(self.digester.root)
        return publish(self._out, self._target, newest, self._options, counts, ignored)


def opened(part: DataFrame, open_from: int | None) -> DataFrame:
    """Without the rows of closed windows."""
    if open_from is None or "window" not in part.columns:
        return part
    return part.where(F.col("window") >= open_from)


def later(newest: DataFrame, rows: DataFrame, name: str) -> DataFrame:
    """The newest averages, of a table's rows where it has any and else those of before."""
    before = newest.withColumn("window_start", F.timestamp_millis(F.lit(-1)))
    averages = rows.select(*before.columns)
    return latest(before.unionByName(averages), TABLE_KEYS[name], MEASURES[name])
