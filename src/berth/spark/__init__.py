"""What everything that runs on Spark shares: the one session builder, Java, progress, tables on disk."""

from berth.spark.session import spark_session

__all__ = ["spark_session"]
