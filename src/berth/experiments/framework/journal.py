"""Every run ever done in a folder: Parquet files, each complete from the moment that it is there."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from berth.experiments.framework.identity import Identity
from berth.experiments.framework.schema import RUNS, results_schema

_FILE = "__filename"
_INDEX = [*(name for name in RUNS.fieldNames() if name != "rows"), _FILE]

Entry = dict[str, Any]
"""A run without its rows, and the file that it is in."""


class Journal:
    """The table of runs. Each has its setting, data and code with it: others' are never taken for one's own.

    What is in it is read once: `Journal` again after runs were added.
    """

    def __init__(self, folder: Path) -> None:
        self._entries: dict[str, dict[Identity, dict[str, Entry]]] = {}
        files = sorted(folder.glob("*.parquet"), key=lambda file: (os.path.getmtime(file), file.name))
        if not files:
            return
        dataset = ds.dataset([str(file) for file in files], schema=to_arrow_schema(RUNS), format="parquet")
        for entry in dataset.to_table(_INDEX).to_pylist():
            identity = Identity(*(entry[name] for name in ("quick", "seed", "data", "code")))
            runs = self._entries.setdefault(entry["experiment"], {}).setdefault(identity, {})
            known = runs.get(entry["key"])
            if known is None or known["error"] is not None:
                runs[entry["key"]] = entry

    @property
    def experiments(self) -> set[str]:
        """Those that some runs are there of."""
        return set(self._entries)

    def identities(self, experiment: str) -> Counter[Identity]:
        """How many runs that succeeded there are of an experiment, by what they depend on."""
        found = self._entries.get(experiment, {})
        return Counter({identity: len(self.succeeded(experiment, identity)) for identity in found})

    def succeeded(self, experiment: str, identity: Identity) -> dict[str, Entry]:
        """The runs that gave their rows, by their keys."""
        runs = self._entries.get(experiment, {}).get(identity, {})
        return {key: entry for key, entry in runs.items() if entry["error"] is None}

    def failed(self, experiment: str, identity: Identity) -> list[Entry]:
        """The runs that came to nothing whenever they were tried, each as it ended last."""
        runs = self._entries.get(experiment, {}).get(identity, {})
        return [entry for entry in runs.values() if entry["error"] is not None]

    def table(self, experiment: str, identity: Identity, keys: Sequence[str], schema: StructType) -> pa.Table:
        """The rows of an experiment in the order of its runs, after each run's key."""
        wanted = to_arrow_schema(results_schema(schema))
        entries = self.succeeded(experiment, identity)
        files = sorted({entries[key][_FILE] for key in keys if key in entries})
        content = {place: rows for file in files for place, rows in _rows_in(file, experiment, identity)}
        parts = [_unpacked(key, content[entries[key][_FILE], key]) for key in keys if key in entries]
        return pa.concat_tables([wanted.empty_table(), *(_fitted(part, wanted) for part in parts)])


def _fitted(part: pa.Table, wanted: pa.Schema) -> pa.Table:
    """The columns that are asked for; other code may have written others, and not these."""
    columns = [
        part.column(field.name).cast(field.type)
        if field.name in part.column_names
        else pa.nulls(part.num_rows, field.type)
        for field in wanted
    ]
    return pa.table(columns, schema=wanted)


def _rows_in(file: str, experiment: str, identity: Identity) -> list[tuple[tuple[str, str], bytes]]:
    columns = {"experiment": experiment, **identity.columns}
    filters = [(name, "==", value) for name, value in columns.items()]
    found = pq.read_table(file, columns=["key", "rows", "error"], filters=filters).to_pylist()
    return [((file, row["key"]), row["rows"]) for row in found if row["error"] is None]


def _unpacked(key: str, content: bytes) -> pa.Table:
    table = pa.ipc.open_stream(content).read_all()
    return table.add_column(0, "key", pa.array([key] * table.num_rows, pa.string()))
