"""An odd one: a source and a sink in two instances, names and types that hurt, windows, duplicates, chance.

Rows have `id`, `word` and `at`, in the folders `in0` and `in1` of the folder that BERTH_TEST_FOLDER names.
"""

import os
from pathlib import Path

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from berth.runtime import Application, write_batch

FOLDER = Path(os.environ["BERTH_TEST_FOLDER"])
app = Application("harvest", output_mode="append")


@app.source(parallelism=2)
def rows(spark, instance):
    reader = spark.readStream.schema("id long, word string, at timestamp")
    return reader.json(str(FOLDER / f"in{instance}"))


@app.operator
def named(rows):
    """Names with dots and spaces, twins, a map; and a number that is another one if it is drawn twice."""
    return rows.select(
        F.col("id").alias("the.id"),
        F.col("word").alias("a word"),
        F.col("word").alias("Word"),
        F.upper("word").alias("word"),
        F.create_map("word", "id").alias("map"),
        F.col("at"),
        F.expr("uuid()").alias("drawn"),
    )


@app.map_in_arrow("id long, drawn string, side string, node string", parallelism=2)
def left(named):
    for batch in named:
        same = [[value] * batch.num_rows for value in ("left", os.environ["BERTH_NODE"])]
        columns = [batch.column("the.id"), batch.column("drawn"), *map(pa.array, same)]
        yield pa.RecordBatch.from_arrays(columns, ["id", "drawn", "side", "node"])


@app.map_in_pandas("id long, drawn string, side string, node string", parallelism=3)
def right(named):
    for frame in named:
        there = frame.rename(columns={"the.id": "id"})[["id", "drawn"]]
        yield there.assign(side="right", node=os.environ["BERTH_NODE"])


@app.operator
def both(left, right):
    return left.union(right)


@app.operator(parallelism=2, key="the.id")
def unique(named):
    return named.select(F.col("`the.id`").alias("id")).dropDuplicates(["id"])


@app.operator
def timed(named):
    return named.withWatermark("at", "5 seconds").select("at", F.col("a word").alias("word"))


@app.operator(parallelism=2, key="word")
def windows(timed):
    @F.udf("string")
    def node(word):
        return os.environ["BERTH_NODE"]

    counted = timed.groupBy(F.window("at", "10 seconds"), "word").count()
    began = F.col("window.start").cast("long").alias("began")
    return counted.select(began, "word", "count", node("word").alias("node"))


@app.sink
def store(both, batch_id):
    write_batch(both, FOLDER / "store", batch_id, "json")


@app.sink
def ledger(unique, named, batch_id):
    """Counts, writes, and counts again."""
    times = named.count()
    write_batch(unique, FOLDER / "unique", batch_id, "json")
    write_batch(named.select("`the.id`", "drawn"), FOLDER / "named", batch_id, "json")
    assert named.count() == times


@app.sink(parallelism=2)
def board(windows, instance, batch_id):
    write_batch(windows, FOLDER / f"board{instance}", batch_id, "json")


@app.sink
def silent(both):
    """Looks at nothing."""
