"""Rows that will never change, kept as files by the number of the state that made them final.

A table that users see is a folder of links to such files, and of the rows that may still change.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from berth.pipeline.storage import aside, link_file, replace_folder
from berth.spark.paths import spark_path, written_path

MOST_FILES = 100
"""Of one table; more are made into few when the next rows come."""


class FinalRows:
    """The final rows of all tables, in one folder."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self._session = session
        self._folder = folder

    def take_over(self, state: int, rows: Path) -> None:
        """Take the final rows of a state, a folder for each table; doing it again changes nothing."""
        for table in rows.glob("*"):
            target = self._folder / table.name
            target.mkdir(parents=True, exist_ok=True)
            for number, file in enumerate(sorted(table.glob("*.parquet"))):
                link_file(file, target / f"{state:08d}-{number:05d}.parquet")

    def crowded(self, table: str, since: int) -> DataFrame | None:
        """The rows of all files of a table since a state, if these are too many files."""
        files = self._files(table, since)
        return None if len(files) < MOST_FILES else self._session.read.parquet(*map(spark_path, files))

    def show(
        self, table: str, folder: Path, since: int, changing: DataFrame | None = None
    ) -> DataFrame | None:
        """Put the final rows since a state, and those that may change, where users see them.

        Returns:
            The rows that may change, as they are on disk now.
        """
        with aside(folder) as place:
            if changing is None:
                place.mkdir()
            else:
                changing.write.parquet(written_path(place))
                for file in place.glob("*.parquet"):
                    file.rename(place / f"open-{file.name}")
            for file in self._files(table, since):
                link_file(file, place / f"final-{file.name}")
            replace_folder(place, folder)
        self._forget(table, since)
        if changing is None:
            return None
        return self._session.read.schema(changing.schema).parquet(
            *map(spark_path, folder.glob("open-*.parquet"))
        )

    def _files(self, table: str, since: int) -> list[Path]:
        return sorted(
            file for file in (self._folder / table).glob("*.parquet") if int(file.name.split("-")[0]) >= since
        )

    def _forget(self, table: str, since: int) -> None:
        for file in set((self._folder / table).glob("*.parquet")) - set(self._files(table, since)):
            file.unlink()
