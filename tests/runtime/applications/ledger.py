"""A count and a copy that tell when they are where a test wants to end them.

If BERTH_TEST_PAUSE names `slow` or `copy`, that one leaves a file `pausing` and waits.
"""

import os
import time
from pathlib import Path

from pyspark.sql import functions as F  # noqa: N812

from berth.runtime import Application, write_batch

FOLDER = Path(os.environ["BERTH_TEST_FOLDER"])
PAUSE = os.environ.get("BERTH_TEST_PAUSE", "")
app = Application("ledger")


def pause(name):
    if name == PAUSE:
        (FOLDER / "pausing").touch()
        time.sleep(120)


@app.source
def rows(spark):
    reader = spark.readStream.schema("id long, word string").option("maxFilesPerTrigger", 1)
    return reader.json(str(FOLDER / "in0"))


@app.map_in_arrow("id long, word string", parallelism=2)
def slow(rows):
    for batch in rows:
        if 25 in batch.column("id").to_pylist():
            pause("slow")
        yield batch


@app.operator(parallelism=2, key="word")
def counted(slow):
    return slow.groupBy("word").agg(F.count("*").alias("times"), F.sum("id").alias("total"))


@app.sink
def counts(counted, batch_id):
    write_batch(counted, FOLDER / "counts", batch_id, "json")


@app.sink
def copy(slow, batch_id):
    if batch_id == 1:
        pause("copy")
    write_batch(slow, FOLDER / "copy", batch_id, "json")
