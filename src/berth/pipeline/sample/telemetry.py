"""Synthetic telemetry of a problem as DataFrames: nothing is computed before they are used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from berth.model import Plan, Problem
from berth.pipeline.sample.faults import faults_of
from berth.pipeline.sample.lines import as_columns, as_json_lines, garbage_counts, numbered_lines, spoiled
from berth.pipeline.sample.options import SampleOptions
from berth.pipeline.sample.planning import Sample, plan_sample
from berth.pipeline.sample.randomness import Randomness
from berth.pipeline.sample.records import (
    heartbeat_records,
    operator_records,
    probe_records,
    stream_records,
)

Records = Callable[[SparkSession, Sample, DataFrame, Randomness], DataFrame]

RECORDS: dict[str, Records] = {
    "probes": probe_records,
    "heartbeats": heartbeat_records,
    "operators": operator_records,
    "streams": stream_records,
}


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
    return {name: _frame(session, sample, name) for name, folder in sample.folders.items() if folder.slots}


def _frame(session: SparkSession, sample: Sample, name: str) -> DataFrame:
    options = sample.options
    random = Randomness(options.seed, name)
    faults = faults_of(sample.problem, name, options.format)
    lines = numbered_lines(session, sample.folders[name], len(faults), random)
    records = spoiled(RECORDS[name](session, sample, lines, random), name, faults)
    if options.format == "parquet":
        return as_columns(records, name, options)
    return as_json_lines(records, name, faults, options, random)


def truth_of(sample: Sample) -> dict[str, Any]:
    """What a feed holds, exactly: for tests that count."""
    options = sample.options
    folders = {
        name: {
            "files": folder.files,
            "records": folder.records,
            "garbage": folder.garbage,
            "faults": garbage_counts(folder, faults_of(sample.problem, name, options.format), options.seed),
        }
        for name, folder in sample.folders.items()
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
