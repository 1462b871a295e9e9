"""One folder's files taken in: sums of what makes sense, quarantine rows of what doesn't."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.pipeline.checks import (
    NAME_REASONS,
    Clock,
    unknown_names,
    with_names_judged,
    with_refused_names,
    with_values_judged,
)
from berth.pipeline.feed import HEARTBEATS, Folder
from berth.pipeline.feed_files import Source, find_broken, look_into
from berth.pipeline.records import broken_rows, read_records, refused_rows
from berth.pipeline.sums import sums_of
from berth.spark.failure import first_cause

FEW = 500_000
"""Records that one task handles in less time than it takes to plan for several."""

FEW_NAMES = 10
FILE_REASON = "file: can't be read"
FAILURES = (PySparkException, Py4JJavaError)
"""Spark raises the second for what goes wrong in its tasks."""


@dataclass(frozen=True)
class Digest:
    """What a folder's files come to. `forget` gives the memory back that the sums take."""

    folder: Folder
    files: int
    sums: DataFrame
    beats: DataFrame | None
    """The heartbeats that make sense, where the folder has them: node, ts, up."""
    quarantine: DataFrame | None
    """None: there is nothing to put there."""
    reasons: dict[str, int]
    """How many rows the quarantine gets, and why."""
    records: int
    """Those that make sense."""
    first: int | None
    last: int | None
    """Epoch milliseconds of the first and the last record that makes sense."""
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
    clock: Clock
    window_ms: int | None

    def digest(self, folder: Folder, paths: list[Path], thorough: bool = False) -> Digest:
        """Take in a folder's files; those that can't be read are quarantined by name.

        Args:
            folder: whose files they are.
            paths: the files.
            thorough: read every file through beforehand, all columns of it.
        """
        sources = look_into(paths)
        if thorough:
            sources = self._unreadable(folder, find_broken(sources))
        while True:
            try:
                return self._digest(folder, sources)
            except FAILURES:
                again = find_broken(sources)
                if again == sources:
                    again = self._unreadable(folder, sources)
                if again == sources:
                    raise
                sources = again

    def _digest(self, folder: Folder, sources: list[Source]) -> Digest:
        records = with_values_judged(read_records(self.session, folder, sources), folder, self.clock)
        # names are judged where there are few of them, behind the sums, and not in every record
        kept = with_names_judged(sums_of(records, folder, self.window_ms), folder, self.problem).persist()
        try:
            found = {row["reason"]: row for row in _counts(kept).collect()}
        except FAILURES:
            kept.unpersist()
            raise
        sensible = found.pop(None, None)
        few = sensible is None or sensible["records"] <= FEW
        named = with_names_judged(records, folder, self.problem)
        bad = records
        if NAME_REASONS & found.keys():
            refused = unknown_names(kept, folder, FEW_NAMES)
            bad = named if refused is None else with_refused_names(records, folder, refused)
        return Digest(
            folder,
            len(sources),
            _in_one_place(kept.where(F.col("reason").isNull()).drop("reason"), few),
            _in_one_place(beats_of(named), few) if folder is HEARTBEATS else None,
            self._quarantine(folder, sources, bad if found else None),
            {reason: row["records"] for reason, row in sorted(found.items())} | _broken_count(sources),
            0 if sensible is None else sensible["records"],
            None if sensible is None else sensible["first"],
            None if sensible is None else sensible["last"],
            kept,
        )

    def _quarantine(
        self, folder: Folder, sources: list[Source], judged: DataFrame | None
    ) -> DataFrame | None:
        rows = None
        if judged is not None:
            rows = refused_rows(judged, folder, self.root)
        if _broken_count(sources):
            files = broken_rows(self.session, folder, self.root, sources)
            rows = files if rows is None else rows.unionByName(files)
        return rows

    def _unreadable(self, folder: Folder, sources: list[Source]) -> list[Source]:
        """The sources again, with those marked that Spark can't read, found by halves; the last resort."""
        good = [source for source in sources if source.broken is None]
        why = self._why_unreadable(folder, good) if good else None
        if why is None:
            return sources
        if len(good) == 1:
            return [replace(source, broken=why) if source in good else source for source in sources]
        half = len(good) // 2
        marked = {
            source.path: source
            for part in (good[:half], good[half:])
            for source in self._unreadable(folder, part)
        }
        return [marked.get(source.path, source) for source in sources]

    def _why_unreadable(self, folder: Folder, sources: list[Source]) -> str | None:
        try:
            records = read_records(self.session, folder, sources)
            records.write.format("noop").mode("overwrite").save()
        except FAILURES as error:
            return f"file: Spark can't read it ({first_cause(error)})"
        return None


def beats_of(judged: DataFrame) -> DataFrame:
    """The heartbeats that make sense."""
    return judged.where(F.col("reason").isNull()).select("node", "ts", "up")


def _in_one_place(rows: DataFrame, few: bool) -> DataFrame:
    """Few rows in one partition: joining and grouping them needs no shuffle, and a plan has few stages."""
    return rows.coalesce(1) if few else rows


def _counts(sums: DataFrame) -> DataFrame:
    return sums.groupBy("reason").agg(
        F.sum("records").alias("records"), F.min("first").alias("first"), F.max("last").alias("last")
    )


def _broken_count(sources: list[Source]) -> dict[str, int]:
    number = sum(source.broken is not None for source in sources)
    return {FILE_REASON: number} if number else {}
