"""Synthetic telemetry of a problem, made on Spark: a feed for `berth ingest` whose truth is known."""

from berth.pipeline.sample.options import SampleOptions
from berth.pipeline.sample.planning import Sample, plan_sample
from berth.pipeline.sample.telemetry import sample_telemetry, truth_of
from berth.pipeline.sample.write import check_target, write_telemetry

__all__ = [
    "Sample",
    "SampleOptions",
    "check_target",
    "plan_sample",
    "sample_telemetry",
    "truth_of",
    "write_telemetry",
]
