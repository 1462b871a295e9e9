"""Tag-and-Count (DEBS 2016, figure 3) in plain PySpark: the hashtags of posts, counted and ranked.

berth run examples/tag_and_count.py --problem examples/tag-and-count.yaml --plan plan.json

Posts are JSON lines with a field `text`, in the folder that the variable POSTS names. The ranks go, batch by
batch, to the folder that RANKS names.
"""

import os
import re

import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as F

from berth.runtime import Application, write_batch

app = Application("tag-and-count")
TAG = re.compile(r"#\w+")
LEAST, MOST = 2, 5


@app.source
def source(spark):
    """Posts, as they come in."""
    return spark.readStream.schema("text string").json(os.environ.get("POSTS", "posts"))


@app.operator(parallelism=2)
def parse(source):
    """Without what is no text."""
    return source.select(F.trim("text").alias("text")).where("text <> ''")


@app.map_in_arrow("tag string", parallelism=2)
def tag(parse):
    """Every hashtag of every post."""
    for batch in parse:
        texts = batch.column("text").to_pylist()
        yield pa.RecordBatch.from_pydict({"tag": [found for text in texts for found in TAG.findall(text)]})


@app.operator(parallelism=2)
def filter(tag):
    """Only tags that are long enough to mean something."""
    return tag.select(F.lower("tag").alias("tag")).where(F.length("tag") > LEAST)


@app.operator(parallelism=2, key="tag")
def count(filter):
    """How often each tag came, from the beginning: Spark keeps these numbers between batches."""
    return filter.groupBy("tag").agg(F.count("*").alias("times"))


@app.map_in_pandas("tag string, times long, rank long", parallelism=2)
def rank(count):
    """The most frequent ones among those that have just changed."""
    for counts in count:
        best = counts.nlargest(MOST, "times")
        yield best.assign(rank=pd.Series(range(1, len(best) + 1), index=best.index, dtype="int64"))


@app.sink
def consumer(rank, batch_id):
    """Where the ranks are wanted."""
    write_batch(rank, os.environ.get("RANKS", "ranks"), batch_id, "json")
