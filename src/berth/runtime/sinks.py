"""Help for sinks: writing a batch so that one that comes again replaces itself."""

from __future__ import annotations

import os

from pyspark.sql import DataFrame


def write_batch(
    frame: DataFrame, folder: str | os.PathLike[str], batch_id: int, form: str = "parquet"
) -> None:
    """Write the rows of a batch into a folder of its own, in place of what it has from an earlier attempt.

    `spark.read.parquet(folder)` reads all batches; the number of the batch is its column `batch`.
    """
    frame.write.format(form).mode("overwrite").save(os.path.join(os.fspath(folder), f"batch={batch_id}"))
