"""Records from JSON lines, each line with what is wrong with it."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feed import EXPECTED, SPARK_TYPES, Field, Folder
from berth.pipeline.plain_lines import plain_pieces, plain_values
from berth.pipeline.times import time_from_text

_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt", "allowSingleQuotes": "false"}

_END = "berth: nothing follows"
"""An element behind a line in a list; it is the second one only if the line is one object."""


def read_lines(session: SparkSession, folder: Folder, paths: list[str]) -> DataFrame:
    """The records of files of JSON lines; blank lines are none."""
    line = F.col("_line")
    lines = session.read.text(paths).select(F.col("value").alias("_line"))
    lines = lines.where(F.startswith(line, F.lit("{")) | line.rlike(r"\S"))
    return records_of_lines(lines, folder, plain_pieces(line, folder))


def records_of_lines(lines: DataFrame, folder: Folder, pieces: Column) -> DataFrame:
    """The records of lines that were read from files.

    Args:
        lines: the column `_line`, none of them blank.
        folder: whose records they are.
        pieces: of the plain lines, from `plain_pieces`; the others go through the JSON parser.
    """
    rows = _with_parsed(_with_plain_values(lines, folder, pieces), folder)
    time = folder.fields[0].name
    values = {
        field.name: F.coalesce(f"_plain_{field.name}", f"_parsed.{field.name}") for field in folder.fields
    }
    rows = rows.select("*", values[time].alias("_time"))
    rows = rows.select("*", time_from_text(F.col("_time")).alias(time))
    return rows.select(
        *(F.col(time) if name == time else value.alias(name) for name, value in values.items()),
        _fault(folder).alias("fault"),
        # _metadata.file_path would be put into every row, also where nobody asks for it
        F.input_file_name().alias("path"),
        F.col("_line").alias("record"),
    )


def _with_plain_values(lines: DataFrame, folder: Folder, pieces: Column) -> DataFrame:
    rows = lines.select("_line", pieces.alias("_pieces"))
    values = plain_values(F.col("_pieces"), folder)
    return rows.select(
        "_line",
        *(value.alias(f"_plain_{name}") for name, value in values.items()),
        F.when(F.col("_pieces").isNull(), F.col("_line")).alias("_odd"),
    )


def _with_parsed(rows: DataFrame, folder: Folder) -> DataFrame:
    """What the JSON parser says of lines that are not plain."""
    wanted = ", ".join(
        f"`{field.name}` {'string' if field.kind == 'time' else SPARK_TYPES[field.kind]}"
        for field in folder.fields
    )
    rows = rows.select("*", F.when(~_ends_with_first_brace(F.col("_odd")), F.col("_odd")).alias("_long"))
    listed = F.concat(F.lit("["), F.col("_long"), F.lit(f',"{_END}"]'))
    # Spark compiles no code for this function: both calls in one step leave all others in compiled ones
    return rows.select(
        "*",
        F.from_json("_odd", f"{wanted}, _corrupt string", _OPTIONS).alias("_parsed"),
        F.from_json(listed, "array<string>").alias("_listed"),
    )


def _ends_with_first_brace(line: Column) -> Column:
    """Whether the first closing brace is the last character: then an object is all that can be there."""
    # as bytes: Spark looks for text in text ten times as slowly
    content = F.rtrim(line).cast("binary")
    before = F.substr(content, F.lit(1), F.octet_length(content) - 1)
    return F.endswith(content, F.lit(b"}")) & ~F.contains(before, F.lit(b"}"))


def _fault(folder: Folder) -> Column:
    """Why a line is no record. Few lines have a fault, so what tells faults apart may cost something."""
    line = F.col("_line")
    corrupt = F.col("_parsed._corrupt").isNotNull()
    readable = F.startswith(F.ltrim(line), F.lit("{")) & F.try_parse_json(line).isNotNull()
    no_object = F.lit("unreadable: no JSON object")
    time = folder.fields[0].name
    return (
        F.when(corrupt & ~readable, no_object)
        .when(corrupt, F.coalesce(*(_mistyped(field) for field in folder.fields), no_object))
        .when(F.col("_long").isNotNull() & ~_one_object(), "unreadable: more than one JSON object")
        .when(F.col("_time").isNotNull() & F.col(time).isNull(), f"{time}: {EXPECTED['time']}")
    )


def _mistyped(field: Field) -> Column:
    absent = F.col(f"_parsed.`{field.name}`").isNull()
    there = F.get_json_object("_line", f"$.{field.name}").isNotNull()
    return F.when(absent & there, f"{field.name}: {EXPECTED[field.kind]}")


def _one_object() -> Column:
    """Whether nothing follows the first object: the parser stops there, and the rest would be lost."""
    listed = F.col("_listed")
    return F.coalesce((F.size(listed) == 2) & (F.get(listed, 1) == _END), F.lit(False))
