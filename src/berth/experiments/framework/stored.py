"""The folder of results: the journal of all runs, and what is shown of them now."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from berth.experiments.framework.journal import Journal
from berth.experiments.framework.schema import RUNS
from berth.files import write_bytes
from berth.files.document import held

RUNS_FOLDER = "runs"
UNFINISHED = "_temporary"
"""Where Spark writes what a task has not finished."""
ASIDE = ".aside-"
"""How what will replace something else begins."""


class Stored:
    """A folder whose table `runs` holds every run, whatever its setting; all else is of one setting."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs_folder = folder / RUNS_FOLDER

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder, which is made if it is not there, and leave nothing unfinished in it.

        Raises:
            BadInput: another run holds it, or it can't be written to.
        """
        with held(self.folder):
            self.runs_folder.mkdir(exist_ok=True)
            self._clean()
            try:
                yield
            finally:
                self._clean()

    def journal(self) -> Journal:
        """The runs that are there at this moment."""
        return Journal(self.runs_folder)

    def add_run(self, row: Mapping[str, Any]) -> None:
        """Put one run into the journal."""
        content = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist([dict(row)], to_arrow_schema(RUNS)), content)
        write_bytes(self.runs_folder / f"driver-{uuid4()}.parquet", content.getvalue().to_pybytes())

    def write_table(self, table: pa.Table, *place: str) -> None:
        """Put a Parquet table in place, instead of the one that was there."""
        target = self.folder.joinpath(*place)
        target.parent.mkdir(exist_ok=True)
        aside, before = (target.with_name(f"{ASIDE}{name}-{target.name}") for name in ("new", "old"))
        aside.mkdir()
        pq.write_table(table, aside / "part-00000.parquet")
        if target.exists():
            os.replace(target, before)
        os.replace(aside, target)
        shutil.rmtree(before, ignore_errors=True)

    def write_rows(self, rows: Sequence[Mapping[str, Any]], schema: StructType, *place: str) -> None:
        """As `write_table`, from rows."""
        self.write_table(pa.Table.from_pylist([dict(row) for row in rows], to_arrow_schema(schema)), *place)

    def remove(self, experiment: str) -> None:
        """Take away what is shown of an experiment; its runs stay."""
        shutil.rmtree(self.folder / experiment, ignore_errors=True)

    def _clean(self) -> None:
        shutil.rmtree(self.runs_folder / UNFINISHED, ignore_errors=True)
        for aside in [*self.folder.glob(f"{ASIDE}*"), *self.folder.glob(f"*/{ASIDE}*")]:
            shutil.rmtree(aside, ignore_errors=True)
