"""Tables, no streams: joins, windows, distinct values, what is sorted and what is grouped in pandas."""

import os
from pathlib import Path

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from berth.runtime import Application, write_batch

FOLDER = Path(os.environ["BERTH_TEST_FOLDER"])
app = Application("orders")


@app.source
def orders(spark):
    """A hundred orders of ten customers."""
    return spark.range(0, 100, 1, 3).select("id", (F.col("id") % 10).alias("customer"))


@app.source
def customers(spark):
    kinds = [(number, "odd" if number % 2 else "even") for number in range(10)]
    return spark.createDataFrame(kinds, "id long, kind string")


@app.operator
def last(orders):
    """The last two orders of each customer."""
    newest = Window.partitionBy("customer").orderBy(F.desc("id"))
    return orders.withColumn("row", F.row_number().over(newest)).where("row <= 2").drop("row")


@app.operator
def joined(last, customers):
    return last.join(customers, last.customer == customers.id).select(last.id, "customer", "kind")


def with_node(rows):
    return rows.assign(size=len(rows), node=os.environ["BERTH_NODE"]).head(1)


@app.operator(parallelism=2, key="kind")
def grouped(joined):
    schema = "id long, customer long, kind string, size long, node string"
    return joined.groupBy("kind").applyInPandas(with_node, schema)


@app.operator
def distinct(joined):
    return joined.agg(F.count_distinct("customer").alias("customers"), F.count("*").alias("orders"))


@app.operator
def known(orders):
    """A subquery that becomes a join."""
    orders.createOrReplaceTempView("orders")
    return orders.sparkSession.sql("SELECT * FROM orders WHERE id IN (SELECT customer FROM orders)")


@app.sink
def sorted_orders(joined, batch_id):
    write_batch(joined.orderBy(F.desc("id")), FOLDER / "sorted", batch_id, "json")


@app.sink
def store(grouped, distinct, known, batch_id):
    write_batch(grouped, FOLDER / "grouped", batch_id, "json")
    write_batch(distinct, FOLDER / "distinct", batch_id, "json")
    assert [row.id for row in known.sort("id").collect()] == list(range(10))
    assert distinct.toPandas().shape == (1, 2)
