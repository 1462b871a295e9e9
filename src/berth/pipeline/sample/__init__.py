"""Synthetic telemetry of a problem, made on Spark: a feed for `berth ingest` whose truth is known.

`planning.py` decides on its shape, `lines.py` turns records into lines with garbage in between, `write.py`
puts it all together and on disk. The records are made by the feeds themselves (`berth.pipeline.feeds`).
"""

from berth.pipeline.feeds.sampling import Sample
from berth.pipeline.options import SampleOptions
from berth.pipeline.sample.planning import plan_sample
from berth.pipeline.sample.write import check_target, sample_telemetry, truth_of, write_telemetry

__all__ = [
    "Sample",
    "SampleOptions",
    "check_target",
    "plan_sample",
    "sample_telemetry",
    "truth_of",
    "write_telemetry",
]
