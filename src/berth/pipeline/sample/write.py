"""Synthetic telemetry as DataFrames and on disk: made aside, and put in place when all of it is there."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from berth.model import BadInput, Plan, Problem
from berth.pipeline.feeds import FEEDS, Feed
from berth.pipeline.feeds.sampling import Randomness, Sample
from berth.pipeline.options import SampleOptions
from berth.pipeline.sample.lines import (
    as_columns,
    as_json_lines,
    faults_of,
    garbage_counts,
    numbered_lines,
    spoiled,
)
from berth.pipeline.sample.planning import plan_sample
from berth.pipeline.storage import aside


def sample_telemetry(
    session: SparkSession, problem: Problem, options: SampleOptions, plan: Plan | None = None
) -> dict[str, DataFrame]:
    """A feed of a problem: for each folder that isn't empty, JSON lines (`value`) or the fields as columns.

    Each partition is one slice of time, in order. The same seed gives the same records, whatever the number
    of partitions.

    Raises:
        BadInput: the options don't fit together, or the plan doesn't fit the problem.
    """
    return frames_of(session, plan_sample(problem, options, plan))


def frames_of(session: SparkSession, sample: Sample) -> dict[str, DataFrame]:
    """The DataFrames of a planned feed."""
    return {
        feed.name: _frame(session, sample, feed)
        for feed in FEEDS
        if feed.name in sample.folders and sample.folders[feed.name].slots
    }


def _frame(session: SparkSession, sample: Sample, feed: Feed) -> DataFrame:
    options = sample.options
    random = Randomness(options.seed, feed.name)
    faults = faults_of(sample.problem, feed, options.format)
    lines = numbered_lines(session, sample.folders[feed.name], len(faults), random)
    records = spoiled(feed.synthetic_records(session, sample, lines, random), feed, faults)
    if options.format == "parquet":
        return as_columns(records, feed, options)
    return as_json_lines(records, feed, faults, options, random)


def truth_of(sample: Sample) -> dict[str, Any]:
    """What a feed holds, exactly: for tests that count."""
    options = sample.options
    folders = {}
    for feed in FEEDS:
        folder = sample.folders.get(feed.name)
        if folder is not None:
            faults = faults_of(sample.problem, feed, options.format)
            folders[feed.name] = {
                "files": folder.files,
                "records": folder.records,
                "garbage": folder.garbage,
                "faults": garbage_counts(folder, faults, options.seed),
            }
    return {
        "format": "berth-sample/v1",
        "problem": sample.problem.name,
        "options": asdict(options),
        "start_ms": sample.start_ms,
        "end_ms": sample.start_ms + options.duration_ms,
        "heartbeat_interval_ms": options.duration_ms / sample.outages.ticks,
        "report_interval_ms": options.duration_ms / sample.reports,
        "folders": folders,
        "notes": list(sample.notes),
    }


MANIFEST = "_truth.json"
_PART = re.compile(r"part-(\d+)-.*\.(txt|parquet)$")


def check_target(target: Path, overwrite: bool) -> None:
    """Fail early where a feed can't be put.

    Raises:
        BadInput: there is something already, or no folder can be made there.
    """
    if target.exists() and not target.is_dir():
        raise BadInput([f"--out: {target} is not a folder"])
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        raise BadInput([f"--out: {target} is not empty; --overwrite replaces the telemetry in it"])
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput([f"--out: {target}: {(error.strerror or str(error)).lower()}"]) from None


def write_telemetry(
    session: SparkSession,
    sample: Sample,
    target: Path,
    *,
    overwrite: bool = False,
    progress: Callable[[str], None] = lambda folder: None,
) -> dict[str, Any]:
    """Write a feed: a folder for each kind of record, and `_truth.json` with what is in them.

    Args:
        session: where it is made; its executors must see the target's file system.
        sample: the feed.
        target: a folder that is empty or not there yet.
        overwrite: replace the telemetry that is in it; other files stay.
        progress: is told the name of each folder before it is made.

    Returns:
        The content of `_truth.json`.

    Raises:
        BadInput: the target is not empty, or can't be written to.
    """
    target = target.absolute()
    check_target(target, overwrite)
    truth = truth_of(sample)
    with aside(target) as stage:
        try:
            stage.mkdir()
        except OSError as error:
            raise BadInput([f"--out: {target}: {(error.strerror or str(error)).lower()}"]) from None
        for name, frame in frames_of(session, sample).items():
            progress(name)
            _write_folder(frame, stage / name, sample.options.format)
            truth["folders"][name]["files"] = sum(1 for _ in (stage / name).iterdir())
        (stage / MANIFEST).write_text(json.dumps(truth, indent=2, ensure_ascii=False) + "\n")
        _put_in_place(stage, target)
    return truth


def _write_folder(frame: DataFrame, folder: Path, form: str) -> None:
    """One file for each partition, numbered in the order of time."""
    raw = folder.with_name(f".{folder.name}")
    writer = frame.write
    if form == "parquet":
        writer.parquet(raw.as_uri())
    else:
        writer.text(raw.as_uri())
    folder.mkdir()
    for path in raw.iterdir():
        part = _PART.match(path.name)
        if part:
            path.rename(folder / f"part-{part[1]}.{form}")
    shutil.rmtree(raw)


def _put_in_place(stage: Path, target: Path) -> None:
    """At once where nothing is in the way; else folder by folder, what was there removed first."""
    if not target.exists() or not any(target.iterdir()):
        os.replace(stage, target)
        return
    (target / MANIFEST).unlink(missing_ok=True)
    for name in (feed.name for feed in FEEDS):
        if (target / name).exists():
            (target / name).rename(stage / f".old-{name}")
        if (stage / name).exists():
            (stage / name).rename(target / name)
    (stage / MANIFEST).rename(target / MANIFEST)
