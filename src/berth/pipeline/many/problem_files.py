"""Finding problems on the driver, by name, and reading them on the executors."""

from __future__ import annotations

import glob
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import BinaryType, MapType, StringType, StructField, StructType, VariantType

from berth.files import read_bytes
from berth.model import BadInput
from berth.pipeline.storage import Batches, Row, record_batches, rows_in
from berth.spark.failure import first_cause
from berth.spark.paths import spark_path

FILE_SUFFIXES = (".yaml", ".yml", ".json")
LINES_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIX = ".parquet"
_GLOB_SIGNS = "*?["

PEEKED = 1024
"""Bytes of a file that say what it is."""
BATCH_BYTES, LEAST_BYTES = 8 * 2**20, 32 * 2**10
"""Of contents that are handed over at once, and what a small one counts as."""

PROBLEMS = StructType(
    [
        # the file; of a table's row, the table and the row's name
        StructField("source", StringType(), nullable=False),
        StructField("name", StringType()),
        StructField("content", BinaryType()),
        StructField("mistake", StringType()),  # why there is no content
        StructField("digest", StringType(), nullable=False),
    ]
)

_FILES = StructType([StructField("source", StringType(), nullable=False)])
_READ = StructType(PROBLEMS.fields[:-1])
_LINE = StructType(
    [
        StructField("problem", StringType()),
        StructField("name", StringType()),
        StructField("id", StringType()),
    ]
)


@dataclass(frozen=True)
class Inputs:
    """Where problems are: files of one problem each, and tables with one in each row."""

    files: tuple[str, ...] = ()
    parquet: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    @staticmethod
    def of(parts: Sequence[Inputs]) -> Inputs:
        """All of several, each once."""
        return Inputs(
            tuple(dict.fromkeys(place for part in parts for place in part.files)),
            tuple(dict.fromkeys(place for part in parts for place in part.parquet)),
            tuple(dict.fromkeys(place for part in parts for place in part.lines)),
        )

    def __bool__(self) -> bool:
        return bool(self.files or self.parquet or self.lines)


def find_problems(arguments: Iterable[str]) -> Inputs:
    """What folders, globs, files and tables hold, by their names alone.

    Raises:
        BadInput: an argument that leads to nothing.
    """
    found: list[Inputs] = []
    mistakes: list[str] = []
    for argument in arguments:
        try:
            found.append(_found(argument))
        except BadInput as error:
            mistakes += error.mistakes
    if mistakes:
        raise BadInput(mistakes)
    inputs = Inputs.of(found)
    if inputs.files and not (inputs.parquet or inputs.lines) and all(map(_is_plan, inputs.files)):
        raise BadInput([f"{name}: this is a plan, not a problem" for name in inputs.files])
    return inputs


def _is_plan(file: str) -> bool:
    """Whether a file is a plan by its beginning; what can't be read is left to who reads it."""
    try:
        with open(file, "rb") as stream:
            return re.match(rb'\s*\{\s*"format":\s*"berth-plan/', stream.read(PEEKED)) is not None
    except OSError:
        return False


def _found(argument: str) -> Inputs:
    if "://" in argument:
        return _remote(argument)
    path = Path(argument)
    if path.is_dir():
        inputs = _inside(path)
        if not inputs:
            raise BadInput([f"{argument}: no problems there: no *.yaml, *.yml, *.json, *.jsonl or *.parquet"])
        return inputs
    if path.exists():
        return _single(path)
    if not any(sign in argument for sign in _GLOB_SIGNS):
        raise BadInput([f"{argument}: no such file or directory"])
    matches = [Path(match) for match in sorted(glob.glob(argument, recursive=True))]
    inputs = Inputs.of([_inside(match) if match.is_dir() else _single(match) for match in matches])
    if not inputs:
        raise BadInput([f"{argument}: nothing matches"])
    return inputs


def _single(path: Path) -> Inputs:
    place = str(path.resolve())
    if path.suffix.lower() == PARQUET_SUFFIX:
        return Inputs(parquet=(place,))
    if path.suffix.lower() in LINES_SUFFIXES:
        return Inputs(lines=(place,))
    return Inputs(files=(place,))


def _inside(folder: Path) -> Inputs:
    """A folder's problem files and tables, at any depth; a folder of Parquet files is one table."""
    files: list[str] = []
    lines: list[str] = []
    tables: set[str] = set()
    for path in sorted(folder.resolve().rglob("*")):
        hidden = any(part[0] in "._" for part in path.relative_to(folder.resolve()).parts)
        suffix = path.suffix.lower()
        if hidden or suffix not in (*FILE_SUFFIXES, *LINES_SUFFIXES, PARQUET_SUFFIX):
            continue
        if suffix == PARQUET_SUFFIX:
            # a Parquet "file" may be a folder itself; what is in it then belongs to it
            tables.add(str(path if path.is_dir() else path.parent))
        elif not path.is_dir():
            (lines if suffix in LINES_SUFFIXES else files).append(str(path))
    return Inputs(tuple(files), tuple(sorted(tables)), tuple(lines))


def _remote(address: str) -> Inputs:
    suffix = Path(address.rstrip("/")).suffix.lower()
    if suffix in LINES_SUFFIXES:
        return Inputs(lines=(address,))
    if suffix in FILE_SUFFIXES:
        raise BadInput(
            [f"{address}: problem files are read from folders that all machines see; make it a table"]
        )
    return Inputs(parquet=(address,))


def read_problems(session: SparkSession, inputs: Inputs, partitions: int) -> DataFrame:
    """The problems with the columns of `PROBLEMS`, each once; contents are read on the executors.

    Args:
        session: where.
        inputs: which.
        partitions: in how many parts those of tables are compared with each other.

    Raises:
        BadInput: a table that is none, or has no column `problem`.
    """
    tables = [_table(session, path) for path in inputs.parquet]
    tables += [_lines(session, path) for path in inputs.lines]
    parts = [_files(session, inputs.files)] if inputs.files else []
    if tables:
        rows = _with_digest(reduce(DataFrame.unionByName, tables))
        # a shuffle with this number of partitions, which also leaves large and small problems mixed
        parts.append(rows.repartition(partitions, "source", "digest").dropDuplicates(["source", "digest"]))
    return reduce(DataFrame.unionByName, parts)


def _with_digest(problems: DataFrame) -> DataFrame:
    """A problem is the same as long as its content is."""
    digest = F.sha2(F.coalesce("content", F.col("mistake").cast("binary")), 256)
    return problems.withColumn("digest", digest)


def count_problems(session: SparkSession, inputs: Inputs) -> int:
    """How many there are, without reading contents.

    Raises:
        BadInput: as `read_problems`.
    """
    tables = [_table(session, path) for path in inputs.parquet]
    tables += [_lines(session, path) for path in inputs.lines]
    return len(inputs.files) + sum(table.count() for table in tables)


def _files(session: SparkSession, files: Sequence[str]) -> DataFrame:
    # neighbours are often alike: mixed, every task gets its share of large and small ones
    mixed = random.Random(0).sample(files, len(files))
    names = session.createDataFrame(pa.table({"source": pa.array(mixed, pa.string())}), _FILES)
    return _with_digest(names.mapInArrow(_read_files, _READ))


def _read_files(batches: Batches) -> Iterator[pa.RecordBatch]:
    """A row for each file, with its content or with what is wrong with it."""
    rows = (_read_file(row["source"]) for row in rows_in(batches))
    return record_batches(rows, _READ, BATCH_BYTES, lambda row: LEAST_BYTES + len(row["content"] or b""))


def _read_file(source: str) -> Row:
    content, mistake = None, None
    try:
        content = read_bytes(source)
    except BadInput as error:
        mistake = "\n".join(error.mistakes)
    return {"source": source, "name": Path(source).stem, "content": content, "mistake": mistake}


def _parquet(session: SparkSession, path: str) -> DataFrame:
    reader = session.read
    if Path(path).suffix.lower() != PARQUET_SUFFIX:
        # other files may lie beside those of the table
        reader = reader.option("pathGlobFilter", f"*{PARQUET_SUFFIX}")
    return reader.parquet(spark_path(path))


def _table(session: SparkSession, path: str) -> DataFrame:
    try:
        table = _parquet(session, path)
    except (PySparkException, Py4JJavaError) as error:
        raise BadInput([f"{path}: can't be read: {first_cause(error)}"]) from None
    if "problem" not in table.columns:
        columns = ", ".join(table.columns) or "none"
        raise BadInput([f"{path}: no column 'problem'; its columns: {columns}"])
    name = next((F.col(column).cast("string") for column in ("name", "id") if column in table.columns), None)
    return _rows(table, path, _content(table), F.lit(None).cast("string") if name is None else name)


def _content(table: DataFrame) -> Column:
    """The problem's text, whichever way the column holds it."""
    kind = table.schema["problem"].dataType
    problem = F.col("problem")
    if isinstance(kind, (StructType, MapType, VariantType)):
        return F.to_json(problem).cast("binary")
    return problem if isinstance(kind, BinaryType) else problem.cast("string").cast("binary")


def _lines(session: SparkSession, path: str) -> DataFrame:
    """A line is an object with `problem`, or else a problem itself."""
    lines = session.read.text(spark_path(path)).where(F.trim("value") != "")
    row = lines.select("value", F.from_json("value", _LINE).alias("row"))
    return _rows(
        row, path, F.coalesce("row.problem", "value").cast("binary"), F.coalesce("row.name", "row.id")
    )


def _rows(table: DataFrame, path: str, content: Column, name: Column) -> DataFrame:
    return table.select(
        F.concat(F.lit(path), F.coalesce(F.concat(F.lit("#"), name), F.lit(""))).alias("source"),
        name.alias("name"),
        content.alias("content"),
        F.when(content.isNull(), F.lit(f"{path}: a row without a problem")).alias("mistake"),
    )
