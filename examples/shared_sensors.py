"""Two applications over the same sensors that compute the same thing first, and run together.

berth run examples/shared_sensors.py:alarms examples/shared_sensors.py:totals \
    --problem examples/shared-sensors.yaml --plan plan.json

`cleaned` has one type and equal inputs in both: a plan may compute it once (`reuse`), and the run does.
Readings are JSON lines with `sensor` and `value` in the folder that the variable READINGS names; what comes
out goes to the folders `alarms` and `totals` of the folder that OUT names.
"""

import os

from pyspark.sql import functions as F

from berth.runtime import Application, write_batch

alarms = Application("alarms", throughput_per_s=1.0)
totals = Application("totals", throughput_per_s=1.0)

FEED = {"type": "feed", "reads": [{"object": "readings", "per_s": 1.0}], "work_ms": 1.0, "output_bytes": 1e5}
CLEAN = {"type": "clean", "work_ms": 200.0, "output_bytes": 5e4}


@alarms.source(name="feed", **FEED)
@totals.source(name="feed", **FEED)
def feed(spark):
    """The readings as they come in."""
    folder = os.environ.get("READINGS", "readings")
    return spark.readStream.schema("sensor string, value double").json(folder)


@alarms.operator(name="cleaned", **CLEAN)
@totals.operator(name="cleaned", **CLEAN)
def cleaned(feed):
    """The readings that make sense, in degrees."""
    return feed.where("value BETWEEN -50 AND 150").withColumn("fahrenheit", F.col("value") * 1.8 + 32)


@alarms.operator(work_ms=20.0, output_bytes=1e3)
def hot(cleaned):
    """What somebody has to look at."""
    return cleaned.where("value > 100")


@alarms.sink(name="alarms", work_ms=1.0, pinned="centre")
def write_alarms(hot, batch_id):
    """One file a batch."""
    write_batch(hot, os.path.join(os.environ.get("OUT", "out"), "alarms"), batch_id, "json")


@totals.operator(work_ms=50.0, output_bytes=1e3)
def counted(cleaned):
    """How many readings there are of each sensor."""
    return cleaned.groupBy("sensor").agg(F.count("*").alias("readings"))


@totals.sink(name="totals", work_ms=1.0, pinned="centre")
def write_totals(counted, batch_id):
    """What changed."""
    write_batch(counted, os.path.join(os.environ.get("OUT", "out"), "totals"), batch_id, "json")
