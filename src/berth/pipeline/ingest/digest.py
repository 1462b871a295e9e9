"""One folder's files taken in: sums of what makes sense, quarantine rows of what doesn't.

Sums are small, and the same whatever the order in which records come and are added up. Each has the names and
flags of its feed, the time window (its start in epoch milliseconds; 0 if there is only one) and the times of
its first and last record. `merged` adds sums up, so one batch over everything and a stream of many small
batches end with the same numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.files.names_file import Names
from berth.model import Problem
from berth.pipeline.feeds import FEEDS, Feed
from berth.pipeline.feeds.feed import known_of
from berth.pipeline.feeds.statistics import amount, bucket_sums, window_of, with_bucket
from berth.pipeline.ingest.checks import (
    Clock,
    unknown_names,
    with_names_judged,
    with_refused_names,
    with_values_judged,
)
from berth.pipeline.ingest.files import Source, find_broken, look_into
from berth.pipeline.ingest.records import broken_rows, read_records, refused_rows
from berth.pipeline.ingest.renaming import renamed
from berth.pipeline.options import IngestOptions
from berth.spark.failure import first_cause

Report = Callable[[str], None]
Result = TypeVar("Result")

FEW = 500_000
"""Records that one task handles in less time than it takes to plan for several."""

FEW_NAMES = 10
FILE_REASON = "file: can't be read"
FAILURES = (PySparkException, Py4JJavaError)
"""Spark raises the second for what goes wrong in its tasks."""


def reading_again(take_in: Callable[[bool], Result], given_up: Callable[[], bool]) -> Result:
    """What `take_in(thorough)` gives, thoroughly if it fails: a later pass may read what the first didn't."""
    try:
        return take_in(False)
    except FAILURES:
        if given_up():
            raise
        return take_in(True)


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


@dataclass(frozen=True)
class Counts:
    """How much came in; counts of several batches can be added up."""

    files: dict[str, int] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)
    """Those that make sense."""
    quarantined: dict[str, dict[str, int]] = field(default_factory=dict)
    """By feed and reason."""
    first: int | None = None
    last: int | None = None
    """Epoch milliseconds of the first and the last record that makes sense."""

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


@dataclass(frozen=True)
class Digest:
    """What a folder's files come to. `forget` gives the memory back that the sums take."""

    feed: Feed
    counts: Counts
    sums: DataFrame
    each_record: DataFrame | None
    """Of every record that makes sense, what its feed needs of single ones; None: nothing."""
    quarantine: list[DataFrame]
    """All that is put there; nothing if all makes sense."""
    kept: DataFrame

    def forget(self) -> None:
        """Give the memory back."""
        self.kept.unpersist()


@dataclass(frozen=True)
class Digester:
    """Takes in files of telemetry for one problem."""

    session: SparkSession
    root: Path
    problem: Problem
    options: IngestOptions
    report: Report
    names: Names | None = None
    """What the telemetry calls nodes, operators and instances, where that is not what the problem does."""

    def digests(
        self, files: Mapping[str, list[Path]], thorough: bool, watermark: int | None = None
    ) -> dict[str, Digest]:
        """Take in the files of every feed; those that can't be read are quarantined by name.

        Args:
            files: by feed.
            thorough: read every file through beforehand, all columns of it.
            watermark: records from before this time come too late.
        """
        now_ms = time.time_ns() // 1_000_000
        clock = Clock(now_ms + round(self.options.clock_skew_s * 1000), watermark)
        found = {}
        for feed in FEEDS:
            if files.get(feed.name):
                self.report(f"reading {feed.name}")
                found[feed.name] = self._taken_in(feed, files[feed.name], clock, thorough)
        return found

    def _taken_in(self, feed: Feed, paths: list[Path], clock: Clock, thorough: bool) -> Digest:
        sources = look_into(paths)
        if thorough:
            sources = self._unreadable(feed, find_broken(sources))
        while True:
            try:
                return self._digest(feed, sources, clock)
            except FAILURES:
                again = find_broken(sources)
                if again == sources:
                    again = self._unreadable(feed, sources)
                if again == sources:
                    raise
                sources = again

    def _digest(self, feed: Feed, sources: list[Source], clock: Clock) -> Digest:
        read = renamed(read_records(self.session, feed, sources), feed, self.names)
        records = with_values_judged(read, feed, clock)
        # names are judged where there are few of them, behind the sums, and not in every record
        kept = with_names_judged(sums_of(records, feed, self.options.window_ms), feed, self.problem).persist()
        counted = kept.groupBy("reason").agg(
            F.sum("records").alias("records"), F.min("first").alias("first"), F.max("last").alias("last")
        )
        try:
            found = {row["reason"]: row for row in counted.collect()}
        except FAILURES:
            kept.unpersist()
            raise
        sensible = found.pop(None, None)
        few = sensible is None or sensible["records"] <= FEW
        named = with_names_judged(records, feed, self.problem)
        bad = records
        if feed.name_reasons & found.keys():
            refused = unknown_names(kept, feed, FEW_NAMES)
            bad = named if refused is None else with_refused_names(records, feed, refused)
        quarantine = [refused_rows(bad, feed, self.root)] if found else []
        reasons = {reason: row["records"] for reason, row in sorted(found.items())}
        broken = [source for source in sources if source.broken is not None]
        if broken:
            quarantine.append(broken_rows(self.session, feed, self.root, broken))
            reasons[FILE_REASON] = len(broken)
        counts = Counts(
            {feed.name: len(sources)},
            {feed.name: 0 if sensible is None else sensible["records"]},
            {feed.name: reasons} if reasons else {},
            None if sensible is None else sensible["first"],
            None if sensible is None else sensible["last"],
        )
        sums, single = (rows.where(F.col("reason").isNull()) for rows in (kept, named))
        return Digest(
            feed,
            counts,
            _in_one_place(sums.drop("reason"), few),
            _in_one_place(single.select(*feed.each_record), few) if feed.each_record else None,
            quarantine,
            kept,
        )

    def _unreadable(self, feed: Feed, sources: list[Source]) -> list[Source]:
        """The sources again, with those marked that Spark can't read, found by halves; the last resort."""
        good = [source for source in sources if source.broken is None]
        why = self._why_unreadable(feed, good) if good else None
        if why is None:
            return sources
        if len(good) == 1:
            return [replace(source, broken=why) if source in good else source for source in sources]
        half = len(good) // 2
        marked = {
            source.path: source
            for part in (good[:half], good[half:])
            for source in self._unreadable(feed, part)
        }
        return [marked.get(source.path, source) for source in sources]

    def _why_unreadable(self, feed: Feed, sources: list[Source]) -> str | None:
        try:
            records = read_records(self.session, feed, sources)
            records.write.format("noop").mode("overwrite").save()
        except FAILURES as error:
            return f"file: Spark can't read it ({first_cause(error)})"
        return None


def sums_of(judged: DataFrame, feed: Feed, window_ms: int | None) -> DataFrame:
    """Sums of the records that make sense (`reason` is null), and a row with their number for every reason.

    One pass gives both: what makes no sense has no values, so each reason is one group.
    """
    sensible = F.col("reason").isNull()
    names = [field.name for field in feed.fields]
    rows = judged.select("reason", *(F.when(sensible, F.col(f"`{name}`")).alias(name) for name in names))
    sums = [amount(field.name, field.fraction) for field in feed.amounts]
    sums += [F.count(field.name).alias(known_of(field)) for field in feed.amounts if field.optional]
    if feed.level is not None:
        rows = with_bucket(rows, feed.level)
        sums = [*bucket_sums(), *sums]
    keys = feed.sum_keys
    if window_ms is None:  # a constant among the keys would cost something in every record
        keys = keys[1:]
    else:
        rows = rows.withColumn("window", window_of(F.col("ts"), window_ms))
    grouped = rows.groupBy("reason", *keys).agg(
        F.count(F.lit(1)).alias("records"), F.min("ts").alias("first"), F.max("ts").alias("last"), *sums
    )
    return grouped.withColumn("window", F.lit(0).cast("bigint")) if window_ms is None else grouped


def merged(sums: DataFrame, feed: Feed) -> DataFrame:
    """Sums of the same keys added up."""
    merging = {"first": F.min, "last": F.max}
    others = [name for name in sums.columns if name not in feed.sum_keys]
    return sums.groupBy(*feed.sum_keys).agg(*(merging.get(name, F.sum)(name).alias(name) for name in others))


def _in_one_place(rows: DataFrame, few: bool) -> DataFrame:
    """Few rows in one partition: joining and grouping them needs no shuffle, and a plan has few stages."""
    return rows.coalesce(1) if few else rows
