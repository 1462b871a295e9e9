"""The folder of results: every run ever done in it, and which of them belong together.

Rows belong together that are of one setting, one folder of data, and one state of the code. The journal's
Parquet files are each complete from the moment that they are there.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

import berth
from berth.disk import sync_tree
from berth.experiments.experiment import Setting, columns
from berth.files import write_bytes
from berth.files.document import held

_RUN = columns("experiment str, place str, code str, key str, parameters str")
"""What a task needs to do a run; parameters are JSON."""
TASKS = StructType([StructField("task", IntegerType()), StructField("variants", ArrayType(_RUN))])
RUNS = columns(
    "experiment str, quick bool, seed long, data str, code str, key str, parameters str, rows bytes, "
    "error str, seconds float, processor_seconds float"
)
"""`rows`: an Arrow table with the experiment's columns. `processor_seconds`: null where the process died."""
CLAIMS = columns("experiment str, claim str, paper str, ours str, verdict str, reason str")
FAILURES = columns("experiment str, key str, parameters str, error str, seconds float")
ROOMS = ("core", "evaluation", "exact", "files", "generators", "model", "policies", "simulate", "space")
"""What experiments compute with."""
CODE = (".py", ".cpp", ".hpp", ".so")
LIBRARIES = ("numpy", "scipy", "ortools")
NO_DATA = "none"
_SHOWN = 12
_FILE = "__filename"
_INDEX = [*(name for name in RUNS.fieldNames() if name != "rows"), _FILE]
Entry = dict[str, Any]
"""A run without its rows, and the file that it is in."""
RUNS_FOLDER = "runs"
UNFINISHED = "_temporary"
"""Where Spark writes what a task has not finished."""
ASIDE = ".aside-"
"""How what will replace something else begins."""


@dataclass(frozen=True)
class Identity:
    """What the rows of an experiment depend on.

    Attributes:
        quick: whether it is the small part of the runs.
        seed: the seed.
        data: a mark of the measured networks' files; `none` where there are none.
        code: a mark of the code and of the libraries that it computes with.
    """

    quick: bool
    seed: int
    data: str
    code: str

    def same_question(self, other: Identity) -> bool:
        """Whether both were asked for the same, by whichever code."""
        return (self.quick, self.seed, self.data) == (other.quick, other.seed, other.data)

    def described(self) -> str:
        """For people: `quick, seed 0, with measured networks`."""
        networks = "without measured networks" if self.data == NO_DATA else "with measured networks"
        return f"{'quick' if self.quick else 'full'}, seed {self.seed}, {networks}"


def identity_of(setting: Setting, place: str) -> Identity:
    """The identity of what an experiment gives now."""
    return Identity(setting.quick, setting.seed, data_mark(setting.data), code_mark(place))


@lru_cache
def data_mark(folder: Path | None) -> str:
    """A mark of all files of a folder: of their names and of what is in them."""
    if folder is None:
        return NO_DATA
    return _mark(folder, (file for file in folder.rglob("*") if file.is_file()))


@lru_cache
def code_mark(place: str) -> str:
    """A mark of an experiment's package and of all that it computes with."""
    home = Path(berth.__file__).parent
    experiments = home / "experiments"
    files = [file for room in ROOMS for file in (home / room).rglob("*") if file.suffix in CODE]
    files += [file for file in experiments.glob("*.py") if file.name != "registry.py"]
    package, dot, _ = place.removeprefix("berth.experiments.").partition(".")
    if dot and (experiments / package).is_dir():
        files += (experiments / package).rglob("*.py")
    libraries = [f"{name} {version(name)}" for name in LIBRARIES]
    return _mark(home, files, f"{place} {berth.__version__} {platform.python_version()} {libraries}")


def _mark(root: Path, files: Iterable[Path], more: str = "") -> str:
    total = sha256(more.encode())
    for file in sorted(set(files)):
        total.update(f"\n{file.relative_to(root)} ".encode())
        total.update(sha256(file.read_bytes()).digest())
    return total.hexdigest()[:_SHOWN]


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
        key = StructField("key", StringType(), nullable=False)
        wanted = to_arrow_schema(StructType([key, *schema.fields]))
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
    wanted = {"experiment": experiment, **asdict(identity)}
    filters = [(name, "==", value) for name, value in wanted.items()]
    found = pq.read_table(file, columns=["key", "rows", "error"], filters=filters).to_pylist()
    return [((file, row["key"]), row["rows"]) for row in found if row["error"] is None]


def _unpacked(key: str, content: bytes) -> pa.Table:
    table = pa.ipc.open_stream(content).read_all()
    return table.add_column(0, "key", pa.array([key] * table.num_rows, pa.string()))


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
        sync_tree(aside)
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
