"""Tables between steps: written and read again, so that no plan grows with the number of rounds."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame

from berth.spark.paths import spark_path, written_path


@dataclass(frozen=True)
class Scratch:
    """A folder for tables that nobody needs afterwards; on a cluster all workers must see it."""

    folder: Path

    def keep(self, name: str, rows: DataFrame) -> DataFrame:
        """Rows computed once: what comes after reads them."""
        place = self.folder.resolve() / name
        rows.write.mode("overwrite").parquet(written_path(place))
        return rows.sparkSession.read.schema(rows.schema).parquet(spark_path(place))

    def drop(self, name: str) -> None:
        """A table that is no longer needed; that it isn't there is no mistake."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
