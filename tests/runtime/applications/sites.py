"""An application with everything: fan-out, fan-in, instances on several nodes, state, a table, two sinks."""

import os
from pathlib import Path

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from berth.runtime import Application, write_batch

FOLDER = Path(os.environ["BERTH_TEST_FOLDER"])
BAD = os.environ.get("BERTH_TEST_BAD", "")
app = Application("sites")


@app.source
def readings(spark):
    return spark.readStream.schema("sensor string, value long").json(str(FOLDER / "in"))


@app.source
def places(spark):
    return spark.createDataFrame([(f"s{n}", f"p{n % 2}") for n in range(5)], "sensor string, place string")


@app.map_in_arrow("sensor string, value long, node string", parallelism=2)
def stamped(readings):
    for batch in readings:
        if BAD == "stamped" and 13 in batch.column("value").to_pylist():
            raise ValueError("unlucky")
        nodes = pa.array([os.environ["BERTH_NODE"]] * batch.num_rows)
        yield pa.RecordBatch.from_arrays([*batch.columns, nodes], ["sensor", "value", "node"])


@app.operator
def even(stamped):
    return stamped.where("value % 2 = 0")


@app.operator
def odd(stamped):
    return stamped.where("value % 2 = 1").withColumn("value", F.col("value") * 1)


@app.operator
def both(even, odd):
    return even.union(odd).select("sensor", "value")


@app.operator(parallelism=2, key="sensor")
def counted(both):
    return both.groupBy("sensor").agg(F.count("*").alias("times"), F.sum("value").alias("total"))


@app.operator
def by_place(counted, places):
    return counted.join(places, counted.sensor == places.sensor).select(
        counted.sensor, "place", "times", "total"
    )


@app.sink
def counts(by_place, batch_id):
    write_batch(by_place, FOLDER / "counts", batch_id, "json")


@app.sink
def nodes(stamped, batch_id):
    write_batch(stamped.groupBy("node").count(), FOLDER / "nodes", batch_id, "json")
