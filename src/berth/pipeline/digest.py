"""One folder's files taken in: sums of what makes sense, quarantine rows of what doesn't."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import Problem
from berth.pipeline.checks import Clock, judged
from berth.pipeline.feed import HEARTBEATS, Folder
from berth.pipeline.outages import beats_of
from berth.pipeline.sources import Source, broken_rows, find_broken, look_into, read_records
from berth.pipeline.sums import sums_of

QUARANTINE = "folder string, file string, record string, reason string"
FILE_REASON = "file: can't be read"


@dataclass(frozen=True)
class Digest:
    """What a folder's files come to. `sums` is kept in memory: `forget` lets go of it."""

    folder: Folder
    files: int
    sums: DataFrame
    beats: DataFrame | None
    """The heartbeats, where the folder has them."""
    quarantine: DataFrame | None
    """None: there is nothing to put there."""
    reasons: dict[str, int]
    records: int
    """Those that make sense."""
    first: int | None
    last: int | None
    """Epoch milliseconds of the first and the last record that makes sense."""
    kept: DataFrame

    @property
    def quarantined(self) -> int:
        """How many rows the quarantine gets."""
        return sum(self.reasons.values())

    def forget(self) -> None:
        """Give the memory back."""
        self.kept.unpersist()


def digest(
    session: SparkSession,
    folder: Folder,
    root: Path,
    paths: list[Path],
    problem: Problem,
    clock: Clock,
    window_ms: int | None,
) -> Digest:
    """Take in a folder's files; those that can't be read are quarantined by name and cost nothing else."""
    sources = look_into(paths)
    while True:
        checked = judged(read_records(session, folder, root, sources), folder, problem, clock)
        kept = sums_of(checked, folder, window_ms).persist()
        try:
            return _digested(session, folder, root, sources, checked, kept)
        except PySparkException:
            kept.unpersist()
            again = find_broken(sources)
            if again == sources:
                raise
            sources = again


def _digested(
    session: SparkSession,
    folder: Folder,
    root: Path,
    sources: list[Source],
    checked: DataFrame,
    kept: DataFrame,
) -> Digest:
    counts = kept.groupBy("reason").agg(
        F.sum("records").alias("records"), F.min("first").alias("first"), F.max("last").alias("last")
    )
    found = {row["reason"]: row for row in counts.collect()}
    sensible = found.pop(None, None)
    reasons = {reason: row["records"] for reason, row in sorted(found.items())}
    quarantine = []
    if reasons:
        bad = checked.where(F.col("reason").isNotNull())
        quarantine.append(bad.select(F.lit(folder.name).alias("folder"), "file", "record", "reason"))
    broken = [source for source in sources if source.broken is not None]
    if broken:
        quarantine.append(broken_rows(session, folder, root, broken))
        reasons[FILE_REASON] = len(broken)
    return Digest(
        folder,
        len(sources),
        kept.where(F.col("reason").isNull()).drop("reason"),
        beats_of(checked) if folder is HEARTBEATS else None,
        _union(quarantine),
        reasons,
        0 if sensible is None else sensible["records"],
        None if sensible is None else sensible["first"],
        None if sensible is None else sensible["last"],
        kept,
    )


def _union(frames: list[DataFrame]) -> DataFrame | None:
    result: DataFrame | None = None
    for frame in frames:
        result = frame if result is None else result.unionByName(frame)
    return result
