"""What everything that runs on Spark shares: the one session builder, Java, progress, tables on disk."""

from pyspark.sql import SparkSession

from berth.spark.failure import SparkFailed
from berth.spark.session import spark_session

__all__ = ["SparkFailed", "SparkSession", "spark_session"]
