"""Telemetry files: which there are, which can be read at all, and their records as DataFrames.

Every reader gives the same columns: the folder's fields with their right types (null where a record has
none), `fault` (why the record can't be read, null if it can), `file` and `record` (what it was, for the
quarantine).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.model import BadInput
from berth.model.suggest import did_you_mean
from berth.pipeline.feed import EXPECTED, FOLDERS, SPARK_TYPES, Field, Folder

FAULTY = "fault string, file string, record string"
_JSON_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt", "allowSingleQuotes": "false"}


@dataclass(frozen=True)
class Source:
    """A file of telemetry. `schema` is a Parquet file's; `broken` says why a file can't be read at all."""

    path: Path
    schema: pa.Schema | None = None
    broken: str | None = None


def telemetry_files(root: Path) -> dict[str, list[Path]]:
    """The files of each folder, sorted; as everywhere in Spark, names with `.` or `_` first are not data.

    Raises:
        BadInput: there is no such folder, or none of the four folders of telemetry in it.
    """
    if "://" in str(root):
        raise BadInput([f"{root}: only paths are read; mount it where the driver and all workers see it"])
    if not root.is_dir():
        raise BadInput([f"{root}: no such folder"])
    names = [folder.name for folder in FOLDERS]
    found = {name: list(_files_under(root / name)) for name in names if (root / name).is_dir()}
    if not found:
        there = sorted(item.name for item in root.iterdir() if item.is_dir())
        near = [did_you_mean(name, names) for name in there[:3]]
        hint = f"; there is {', '.join(near)}" if near else ""
        raise BadInput([f"{root}: none of the folders {', '.join(names)} in it{hint}"])
    return found


def ignored_entries(root: Path) -> list[str]:
    """What lies beside the folders of telemetry and is not read."""
    names = {folder.name for folder in FOLDERS}
    return sorted(item.name for item in root.iterdir() if item.name not in names and not _hidden(item.name))


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _files_under(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if not _hidden(name))
        yield from (Path(parent, name) for name in sorted(files) if not _hidden(name))


def look_into(paths: Iterable[Path]) -> list[Source]:
    """What each file is, from its first and last bytes alone."""
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(_look_into, paths))


def _look_into(path: Path) -> Source:
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        return Source(path, broken=f"file: {(error.strerror or str(error)).lower()}")
    if path.suffix.lower() in (".parquet", ".pq"):
        return _look_into_parquet(path)
    if not start.startswith(b"\x1f\x8b") and path.suffix.lower() == ".gz":
        return Source(path, broken="file: not compressed by gzip")
    if path.suffix.lower() not in _COMPRESSED and b"\0" in start:
        return Source(path, broken="file: neither JSON lines nor a Parquet file by its name (.parquet)")
    return Source(path)


_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate")


def _look_into_parquet(path: Path) -> Source:
    try:
        return Source(path, schema=pq.read_schema(path).remove_metadata())
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Source(path, broken=f"file: no readable Parquet file ({_without_path(first, path)})")


def _without_path(text: str, path: Path) -> str:
    return text.replace(str(path), path.name)


def find_broken(sources: list[Source]) -> list[Source]:
    """The sources again, with those marked that can't be read to their end; for when a job failed."""
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(_read_through, sources))


def _read_through(source: Source) -> Source:
    if source.broken is not None:
        return source
    try:
        if source.schema is not None:
            for _ in pq.ParquetFile(source.path).iter_batches():
                pass
        else:
            with pa.input_stream(str(source.path), compression="detect") as stream:
                while stream.read(2**22):
                    pass
    except (pa.ArrowException, OSError, EOFError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        return replace(source, broken=f"file: damaged ({_without_path(first, source.path)})")
    return source


def read_records(session: SparkSession, folder: Folder, root: Path, sources: list[Source]) -> DataFrame:
    """The records of a folder's readable files, whatever their formats."""
    good = [source for source in sources if source.broken is None]
    lines = [str(source.path) for source in good if source.schema is None]
    frames = [_read_lines(session, folder, root, lines)] if lines else []
    for schema in dict.fromkeys(source.schema for source in good if source.schema is not None):
        paths = [str(source.path) for source in good if source.schema == schema]
        frames.append(_read_parquet(session, folder, root, schema, paths))
    if not frames:
        fields = ", ".join(f"`{field.name}` {SPARK_TYPES[field.kind]}" for field in folder.fields)
        return session.createDataFrame([], f"{fields}, {FAULTY}")
    return reduce(DataFrame.unionByName, frames)


def broken_rows(session: SparkSession, folder: Folder, root: Path, sources: list[Source]) -> DataFrame:
    """Quarantine rows for the files that can't be read at all."""
    rows = [
        (folder.name, source.path.relative_to(root).as_posix(), None, source.broken)
        for source in sources
        if source.broken is not None
    ]
    return session.createDataFrame(rows, "folder string, file string, record string, reason string")


def _file(root: Path) -> Column:
    """A record's file, relative to the telemetry's folder."""
    # Spark gives file:/a/b%20c; what follows the root is decoded, and a plus sign there is a plus sign
    path = F.col("_metadata.file_path")
    inside = F.substring_index(path, f"{quote(str(root.resolve()))}/", -1)
    return F.coalesce(F.try_url_decode(F.replace(inside, F.lit("+"), F.lit("%2B"))), path)


def _read_lines(session: SparkSession, folder: Folder, root: Path, paths: list[str]) -> DataFrame:
    line = F.col("value")
    wanted = ", ".join(
        f"`{field.name}` {'string' if field.kind == 'time' else SPARK_TYPES[field.kind]}"
        for field in folder.fields
    )
    records = (
        session.read.text(paths)
        .select("value", "_metadata")
        .where(F.trim(line) != "")
        .withColumn("parsed", F.from_json(line, f"{wanted}, _corrupt string", _JSON_OPTIONS))
    )
    return records.select(
        *(_from_json_field(field) for field in folder.fields),
        _line_fault(folder).alias("fault"),
        _file(root).alias("file"),
        F.make_valid_utf8(line).alias("record"),
    )


def _from_json_field(field: Field) -> Column:
    value = F.col(f"parsed.`{field.name}`")
    return (time_from_text(value) if field.kind == "time" else value).alias(field.name)


def _line_fault(folder: Folder) -> Column:
    """Why a line is no record. Few lines have a fault, so what tells them apart may cost something."""
    line = F.col("value")
    # the parser stops behind the first object: what follows it would be lost without a word
    ends_with_object = F.instr(line, "}") == F.length(F.rtrim(line))
    one_object = F.size(F.from_json(F.concat(F.lit("["), line, F.lit("]")), "array<string>")) == 1
    corrupt = F.col("parsed._corrupt").isNotNull()
    readable = F.startswith(F.ltrim(line), F.lit("{")) & F.try_parse_json(line).isNotNull()
    mistyped = F.coalesce(
        *(
            F.when(
                F.col(f"parsed.`{field.name}`").isNull()
                & F.get_json_object(line, f"$.{field.name}").isNotNull(),
                f"{field.name}: {EXPECTED[field.kind]}",
            )
            for field in folder.fields
        )
    )
    time = folder.fields[0]
    text = F.col(f"parsed.`{time.name}`")
    return (
        F.when(corrupt & ~readable, "unreadable: no JSON object")
        .when(corrupt, F.coalesce(mistyped, F.lit("unreadable: no JSON object")))
        .when(
            ~ends_with_object & ~F.coalesce(one_object, F.lit(False)), "unreadable: more than one JSON object"
        )
        .when(text.isNotNull() & time_from_text(text).isNull(), f"{time.name}: {EXPECTED['time']}")
    )


def time_from_text(text: Column) -> Column:
    """Epoch milliseconds from digits or ISO 8601; without a zone it is UTC. Null: it is neither."""
    # Spark takes a bare time of day for one of today, so a date is asked for
    dated = F.substring(text, 5, 1) == "-"
    return F.coalesce(
        text.try_cast("bigint"),
        F.when(dated, F.unix_millis(text.try_cast("timestamp"))),
        text.try_cast("double").try_cast("bigint"),
        F.unix_millis(F.try_to_timestamp(text, F.lit("yyyyMMdd'T'HHmmss[.SSS][XXX][XX][X]"))),
    )


def _read_parquet(
    session: SparkSession, folder: Folder, root: Path, schema: pa.Schema, paths: list[str]
) -> DataFrame:
    readers = {field.name: _column_reader(field, schema) for field in folder.fields}
    mistyped = [
        F.when(F.col(f"`{field.name}`").isNotNull(), f"{field.name}: {EXPECTED[field.kind]}")
        for field in folder.fields
        if readers[field.name] is None and field.name in schema.names
    ]
    time = folder.fields[0]
    reader = readers[time.name]
    if reader is not None and pa.types.is_string(_plain(schema.field(time.name).type)):
        bad_time = F.col(f"`{time.name}`").isNotNull() & reader.isNull()
        mistyped.append(F.when(bad_time, f"{time.name}: {EXPECTED['time']}"))
    columns = [
        (reader if reader is not None else F.lit(None)).cast(SPARK_TYPES[field.kind]).alias(field.name)
        for field, reader in zip(folder.fields, readers.values(), strict=True)
    ]
    nothing = F.lit(None).cast("string")
    return session.read.parquet(*paths).select(
        *columns,
        (F.coalesce(*mistyped, nothing) if mistyped else nothing).alias("fault"),
        _file(root).alias("file"),
        F.to_json(F.struct("*")).alias("record"),
    )


def _plain(kind: pa.DataType) -> pa.DataType:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(kind) else kind


def _column_reader(field: Field, schema: pa.Schema) -> Column | None:
    """The field from a Parquet column; None where the file has no such column or one of another kind."""
    if schema.names.count(field.name) != 1:
        return None
    kind, column = _plain(schema.field(field.name).type), F.col(f"`{field.name}`")
    if field.kind == "time":
        return _time_reader(kind, column)
    fits = {
        "name": pa.types.is_string(kind),
        "flag": pa.types.is_boolean(kind),
        "number": pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind),
    }
    return column if fits[field.kind] else None


def _time_reader(kind: pa.DataType, column: Column) -> Column | None:
    if pa.types.is_timestamp(kind):
        # Spark has no nanoseconds: the session reads such a column as whole numbers
        nanoseconds = kind.unit == "ns"
        return F.floor(column / 1_000_000) if nanoseconds else F.unix_millis(column.cast("timestamp"))
    if pa.types.is_date(kind):
        return F.unix_millis(column.cast("timestamp"))
    if pa.types.is_integer(kind):
        return column.cast("bigint")
    if pa.types.is_floating(kind):
        return column.try_cast("bigint")
    return time_from_text(column) if pa.types.is_string(kind) else None
