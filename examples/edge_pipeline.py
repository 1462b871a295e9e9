"""An edge pipeline with a stateful count: readings of two sites, merged, counted, shown in the centre.

berth watch examples/edge_pipeline.py --problem examples/edge-pipeline.yaml --objective network_usage

Readings are JSON lines with `sensor` and `value`, in the folders `north` and `south` of the folder that the
variable READINGS names. What the board shows goes, batch by batch, to the folder that BOARD names.
"""

import os

from pyspark.sql import functions as F

from berth.runtime import Application, write_batch

app = Application("edge-pipeline")
SCHEMA = "sensor string, value double, note string"


def readings(spark, site):
    """The readings of a site, as they come in."""
    folder = os.path.join(os.environ.get("READINGS", "readings"), site)
    return spark.readStream.schema(SCHEMA).json(folder)


@app.source(pinned="north", demand={"cpu": 1})
def north(spark):
    """The sensors of one site."""
    return readings(spark, "north")


@app.source(pinned="south", demand={"cpu": 1})
def south(spark):
    """The sensors of the other site."""
    return readings(spark, "south")


@app.operator(demand={"cpu": 1})
def merge(north, south):
    """All readings that make sense."""
    return north.union(south).where("value BETWEEN -50 AND 150")


@app.operator(demand={"cpu": 1})
def count(merge):
    """For every sensor, how many readings and their mean: small, so it pays to do this near the readings."""
    return merge.groupBy("sensor").agg(F.count("*").alias("readings"), F.avg("value").alias("mean"))


@app.sink(pinned="centre", demand={"cpu": 1})
def board(count, batch_id):
    """What changed, for the people in the centre."""
    write_batch(count, os.environ.get("BOARD", "board"), batch_id, "json")
