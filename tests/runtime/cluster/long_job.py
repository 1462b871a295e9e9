"""An application of Spark that keeps a Python worker busy on each of two workers.

`long_job.py MASTER SECRET_FILE`
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from berth.runtime.cluster.secret import read_secret
from berth.spark import spark_session

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
}


def slow(rows: Iterator[Any]) -> Iterator[Any]:
    """Wait for the end."""
    time.sleep(600)
    yield from rows


if __name__ == "__main__":
    secret = read_secret(Path(sys.argv[2]))
    with spark_session(sys.argv[1], settings=SETTINGS | secret.session_settings()) as session:
        session.sparkContext.parallelize([0, 1], 2).mapPartitions(slow).count()
